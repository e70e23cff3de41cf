import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

/** Where the alert rules lie for Prometheus's operator; the file is kept, so that manifests can be applied as is. */
export const ruleFile = new URL('../../k8s/components/prometheus-operator/rules.yaml', import.meta.url);

/** The rules of `rules.yaml` in the form that the operator takes. */
export const renderRule = (): string => {
  const rules: unknown = parse(readFileSync(new URL('../rules.yaml', import.meta.url), 'utf8'));
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'causeway' },
    spec: rules,
  };
  return `# Written from deploy/monitoring/rules.yaml by deploy/monitoring/operator/main.ts; change it there.\n${stringify(resource, { lineWidth: 0 })}`;
};
