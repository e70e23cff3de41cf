import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

/** Committed, so that manifests can be applied directly. */
export const ruleFile = new URL('../k8s/components/prometheus-operator/rules.yaml', import.meta.url);

export const renderRule = (): string => {
  const rules: unknown = parse(readFileSync(new URL('./rules.yaml', import.meta.url), 'utf8'));
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'causeway' },
    spec: rules,
  };
  return `# Generated from deploy/monitoring/rules.yaml by npm run generate. Do not edit.\n${stringify(resource, { lineWidth: 0 })}`;
};
