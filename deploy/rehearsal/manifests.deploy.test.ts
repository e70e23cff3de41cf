import { beforeAll, describe, expect, test } from 'vitest';
import { overlays, renderOverlays } from '../k8s/testing/manifests.ts';
import { type Kubectl, provideApiServer, startApiServer } from './testing/api-server.ts';

// A real API server checks the rendered manifests. It runs nothing and stores only what the checks need.

const programs = await provideApiServer();
const rendered = await renderOverlays();
if (typeof programs === 'string') process.stdout.write(`${programs}\n`);

describe.skipIf(typeof programs === 'string')('the API server', () => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    if (typeof programs !== 'string') kubectl = await startApiServer(programs);
    kubectl(
      ['apply', '--filename', '-'],
      JSON.stringify({ ...list, items: [namespace, ...customResources] }),
    );
    kubectl(['wait', '--for=condition=Established', 'customresourcedefinition', '--all', '--timeout=1m']);
  }, 600_000);

  const check = (items: readonly object[]): string =>
    kubectl(
      ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', '-'],
      JSON.stringify({ ...list, items }),
    );

  test.each(overlays)('accepts %s', (overlay) => {
    const accepted = check(rendered[overlay]).trim().split('\n');
    expect(accepted).toHaveLength(rendered[overlay].length);
  });

  test('refuses an unknown field, and a value that a schema cannot describe', () => {
    const [pod] = rendered['overlays/local/operator'];
    const withField = (field: object) => [{ ...pod!, spec: { ...pod!.spec, ...field } }];
    expect(() => check(withField({ terminationGracePeriod: 5 }))).toThrow(/unknown field/);
    expect(() => check(withField({ restartPolicy: 'Sometimes' }))).toThrow(/restartPolicy/);
  });
});

const list = { apiVersion: 'v1', kind: 'List' };
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'causeway' } };

/** They accept every field: `npm test` checks the manifests against the schemas of KEDA and the Prometheus operator. */
const customResources = [
  { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledObject', plural: 'scaledobjects' },
  { group: 'monitoring.coreos.com', version: 'v1', kind: 'PodMonitor', plural: 'podmonitors' },
  { group: 'monitoring.coreos.com', version: 'v1', kind: 'PrometheusRule', plural: 'prometheusrules' },
].map(({ group, version, kind, plural }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}));
