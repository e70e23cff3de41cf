import { identityMetrics } from '@causeway/identity';
import { createMetrics, runtimeMetrics, scrape } from '@causeway/runtime';
import { accessMetrics } from '../../../services/access/metrics.ts';
import { agentsMetrics } from '../../../services/agents/metrics.ts';
import { crmMetrics } from '../../../services/crm/metrics.ts';
import { dispatcherMetrics } from '../../../services/dispatcher/metrics.ts';
import { gatewayMetrics } from '../../../services/gateway/metrics.ts';

export const declaredMetrics = [
  runtimeMetrics,
  identityMetrics,
  accessMetrics,
  crmMetrics,
  agentsMetrics,
  dispatcherMetrics,
  gatewayMetrics,
].flatMap((room) => Object.values(room));

const added = ['job', 'service', 'instance'];

export const knownSeries = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const known = new Map<string, readonly string[]>([['up', added]]);
  for (const { name, type, labels } of declaredMetrics) {
    const endings = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    const own = type === 'histogram' ? ['le'] : labels;
    for (const ending of endings) known.set(`${name}${ending}`, [...added, ...own]);
  }
  const { registry } = createMetrics();
  await scrape(registry);
  for (const { name } of await registry.getMetricsAsJSON()) known.set(name, added);
  return known;
};
