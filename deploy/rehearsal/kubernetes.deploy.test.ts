import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { commandsOf } from '../testing/commands.ts';
import { openPlace, type Place } from './testing/kubernetes/place.ts';
import { provideKubernetes } from './testing/kubernetes/programs.ts';

// Walks the guides with kubectl on a real API server with its controllers and scheduler. The nodes are the test's own
// (kubernetes/kubelet.ts): no container runs. The tests build on each other.

const kubernetes = await provideKubernetes();
let place: Place;
beforeAll(async () => {
  if (typeof kubernetes !== 'string') place = await openPlace(kubernetes);
}, 600_000);

const rehearse = (name: string, walk: () => Promise<void>): void =>
  test(name, { timeout: 1_800_000 }, async (context) => {
    if (typeof kubernetes === 'string') return context.skip(kubernetes);
    await walk();
  });

const services = ['access', 'crm', 'dispatcher', 'gateway', 'webhooks'];
const namespace = '/namespaces/causeway';

interface Deployment {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status: { readonly availableReplicas?: number; readonly updatedReplicas?: number };
}

const deployments = () => place.api.list<Deployment>(`/apis/apps/v1${namespace}/deployments`);
const replicas = async () =>
  Object.fromEntries(
    (await deployments()).map(({ metadata, status }) => [metadata.name, status.availableReplicas ?? 0]),
  );

interface Autoscaler {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  };
}
/** Whether each autoscaler scales, and why. */
const autoscalers = async () => {
  const all = await place.api.list<Autoscaler>(`/apis/autoscaling/v2${namespace}/horizontalpodautoscalers`);
  return Object.fromEntries(
    all.map(({ metadata, status: { conditions = [] } }) => {
      const active = conditions.find(({ type }) => type === 'ScalingActive');
      return [metadata.name, active && `${active.status} ${active.reason}`];
    }),
  );
};
const active = 'True ValidMetricFound';
const pods = async (selector: string) =>
  (
    await place.api.list<{ metadata: { name: string } }>(`/api/v1${namespace}/pods?labelSelector=${selector}`)
  ).map(({ metadata }) => metadata.name);

/** Changes the tag of the images in a copied overlay. */
const retag = (overlay: string, from: string, to: string): void => {
  for (const part of ['', 'operator/']) {
    const file = join(place.deploy, 'k8s/overlays', overlay, `${part}kustomization.yaml`);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(`newTag: ${from}\n`);
    writeFileSync(file, text.replaceAll(`newTag: ${from}\n`, `newTag: ${to}\n`));
  }
};
const ready = `
  for name in $(kubectl --namespace causeway get deployment,statefulset --output name); do
    kubectl --namespace causeway rollout status "$name" --timeout=5m
  done
  kubectl --namespace causeway wait --for=condition=complete --timeout=5m job/migrate`;

rehearse(
  'the local overlay starts, is released again, and has the pod of the operator beside it',
  async () => {
    const release = `cd "$REPOSITORY" && ${commandsOf('README.md', 'Kubernetes')}`;
    await place.shell(release);
    await place.shell(ready);
    await expect.poll(autoscalers).toEqual({ crm: active, gateway: active, webhooks: active });

    retag('local', 'local', 'next');
    // The job of the first release is still there.
    await expect(place.shell('kubectl apply --kustomize local')).rejects.toThrow(/field is immutable/);
    await place.shell(release);
    await place.shell(ready);
    for (const { spec } of await deployments())
      expect(spec.template.spec.containers[0]?.image).toMatch(/:next$/);

    await place.shell('kubectl apply --kustomize local/operator');
    await place.shell('kubectl --namespace causeway wait --for=condition=ready pod/operator --timeout=60s');
    await place.shell('kubectl delete namespace causeway --timeout=5m');
  },
);

rehearse('production starts as the guide says: secrets, users of MySQL, the first release', async () => {
  await place.walk('README.md', 'Secrets');
  await place.shell('kubectl create namespace ingress && kubectl create namespace monitoring');
  await place.walk('README.md', 'Kubernetes', 1);
  const statements = await place.walk('README.md', 'Users of MySQL');
  expect(
    statements.match(/^CREATE USER causeway_\w+@'%' IDENTIFIED BY '[0-9a-f]{48}' REQUIRE SSL;$/gm),
  ).toHaveLength(6);
  await place.walk('README.md', 'Releases');
  await place.shell(ready);
  await expect.poll(autoscalers).toEqual({ crm: active, gateway: active, webhooks: active });
  for (const name of [...services.filter((one) => one !== 'dispatcher'), 'admin-ui'])
    await expect.poll(async () => (await replicas())[name]).toBeGreaterThanOrEqual(2);
  await place.walk('operations.md', "Why are company 17's webhooks late");
});

rehearse('a restore stops every service, and starts each again with its autoscaler', async () => {
  await place.walk('data/README.md', '1. Stop the services');
  const off = await replicas();
  for (const name of [...services, 'servers']) expect(off[name]).toBe(0);
  expect(await pods('causeway.io/sort=service')).toEqual([]);
  expect(await pods('app.kubernetes.io/name=nats')).toHaveLength(3);

  // The manifests alone leave what an autoscaler scales at 0.
  await place.shell('kubectl apply --kustomize overlay');
  await expect
    .poll(autoscalers)
    .toMatchObject({ crm: 'False ScalingDisabled', gateway: 'False ScalingDisabled' });

  await place.walk('data/README.md', '5. Start the services');
  await place.shell(ready);
  await expect.poll(autoscalers).toEqual({ crm: active, gateway: active, webhooks: active });
  const on = await replicas();
  for (const name of services) expect(on[name]).toBeGreaterThanOrEqual(2);
  expect(on.servers).toBe(1);
});

rehearse('passwords and keys are replaced by rollouts', async () => {
  const keyOf = (secret: string, key: string) =>
    place.shell(
      `kubectl --namespace causeway get secret ${secret} --output 'go-template={{index .data "${key}" | base64decode}}'`,
    );
  const hashes = async () =>
    Object.fromEntries(
      (await deployments()).map(({ metadata, spec }) => [metadata.name, JSON.stringify(spec.template)]),
    );

  const second = await keyOf('nats-users', 'crm-next');
  const first = await keyOf('nats-users', 'crm');
  const before = await hashes();
  await place.walk('operations.md', 'Rotate the passwords of NATS');
  expect(await keyOf('nats-users', 'crm-next')).not.toBe(second);
  expect(await keyOf('nats-users', 'crm')).toBe(first);
  const file = join(place.deploy, 'k8s/overlays/overlay/kustomization.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('components:\n', 'components:\n  - ../../components/nats-next\n'));
  await place.shell('kubectl apply --kustomize overlay');
  await place.shell(ready);
  const after = await hashes();
  for (const name of services) {
    expect(after[name]).not.toBe(before[name]);
    expect(after[name]).toContain(`"${name}-next"`);
  }

  const mysql = await keyOf('mysql-users', 'crm');
  await place.walk('operations.md', 'Rotate the passwords of MySQL');
  expect(await keyOf('mysql-users', 'crm')).not.toBe(mysql);

  const ring = await keyOf('webhooks-keys', 'ring');
  await place.walk('operations.md', 'Rotate a key of a key ring');
  expect(await keyOf('webhooks-keys', 'ring')).toMatch(/^first:.{44},second:.{44}$/);
  expect(await keyOf('webhooks-keys', 'ring')).toContain(ring);
  await place.shell(ready);
});

rehearse('a NATS server is replaced, and the volumes of all grow', async () => {
  const claims = async () =>
    Object.fromEntries(
      (
        await place.api.list<{
          metadata: { name: string; uid: string };
          spec: { resources: { requests: { storage: string } } };
        }>(`/api/v1${namespace}/persistentvolumeclaims`)
      ).map(({ metadata, spec }) => [
        metadata.name,
        { uid: metadata.uid, size: spec.resources.requests.storage },
      ]),
    );
  const before = await claims();
  await place.walk('operations.md', 'Replace a NATS server');
  const replaced = await claims();
  expect(replaced['data-nats-1']?.uid).not.toBe(before['data-nats-1']?.uid);
  expect(replaced['data-nats-0']).toEqual(before['data-nats-0']);

  // The patch that the text asks for.
  const file = join(place.deploy, 'k8s/overlays/overlay/kustomization.yaml');
  const grow = [
    { op: 'replace', path: '/spec/volumeClaimTemplates/0/spec/resources/requests/storage', value: '20Gi' },
  ];
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(
      'patches:\n',
      `patches:\n  - target: { kind: StatefulSet, name: nats }\n    patch: '${JSON.stringify(grow)}'\n`,
    ),
  );
  await place.walk('operations.md', 'Grow a volume of NATS');
  await place.shell(ready);
  const grown = await claims();
  for (const at of [0, 1, 2]) {
    expect(grown[`data-nats-${at}`]?.size).toBe('20Gi');
    expect(grown[`data-nats-${at}`]?.uid).toBe(replaced[`data-nats-${at}`]?.uid);
  }
});

rehearse('a release follows another and is rolled back, and MySQL gets another host', async () => {
  const tags = async () =>
    new Set((await deployments()).map(({ spec }) => spec.template.spec.containers[0]?.image.split(':')[1]));
  retag('overlay', '0.1.0', '0.2.0');
  await place.walk('README.md', 'Releases');
  await place.shell(ready);
  expect(await tags()).toEqual(new Set(['0.2.0']));
  retag('overlay', '0.2.0', '0.1.0');
  await place.walk('operations.md', 'Roll back a release');
  expect(await tags()).toEqual(new Set(['0.1.0']));

  await place.walk('operations.md', 'Replace the MySQL primary');
  await place.shell(ready);
  expect(
    await place.shell(
      "kubectl --namespace causeway get secret mysql --output 'go-template={{.data.host | base64decode}}'",
    ),
  ).toBe('mysql-2.example.com');
});
