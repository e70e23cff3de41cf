import { identityMetrics } from '@causeway/identity';
import { createMetrics, runtimeMetrics } from '@causeway/runtime';
import { crmMetrics } from '../../../services/crm/metrics.ts';
import { dispatcherMetrics } from '../../../services/dispatcher/metrics.ts';
import { gatewayMetrics } from '../../../services/gateway/metrics.ts';
import { webhooksMetrics } from '../../../services/webhooks/metrics.ts';
import { serversMetrics } from '../servers/watch.ts';

/** Every metric that the processes declare. */
export const declaredMetrics = [
  runtimeMetrics,
  identityMetrics,
  crmMetrics,
  dispatcherMetrics,
  gatewayMetrics,
  webhooksMetrics,
  serversMetrics,
].flatMap((room) => Object.values(room));

/** What Prometheus adds to every series. */
const added = ['job', 'service', 'instance'];

/** Every series that the processes can have, by the name that Prometheus knows it by, with its labels. */
export const knownSeries = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
  const known = new Map<string, readonly string[]>([['up', added]]);
  for (const { name, type, labels } of declaredMetrics) {
    const endings = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    const own = type === 'histogram' ? ['le'] : labels;
    for (const ending of endings) known.set(`${name}${ending}`, [...added, ...own]);
  }
  const { registry } = createMetrics({ defaults: true });
  for (const { name } of await registry.getMetricsAsJSON()) known.set(name, added);
  return known;
};
