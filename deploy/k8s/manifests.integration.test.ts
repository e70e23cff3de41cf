import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { join } from 'node:path';
import { deliveryPorts } from '@causeway/deliveries';
import { eventConsumer, eventStream, services } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { addressProblem } from '../../services/deliveries/addresses.ts';
import { readers, variablesOf } from '../settings/testing/readers.ts';
import {
  type Container,
  environmentOf,
  type Manifest,
  type Overlay,
  ofKind,
  overlays,
  ownPods,
  type PodTemplate,
  podsOf,
  processOf,
  renderOverlays,
  secret,
  selects,
} from './testing/manifests.ts';

const rendered = await renderOverlays();
const production = rendered['overlays/production'];
const ownImage = (pods: readonly PodTemplate[]) =>
  pods.map(({ spec }) => spec.containers[0]!.image).find((image) => image.includes('causeway/services'));
const rulesText = readFileSync(join(import.meta.dirname, '../monitoring/rules.yaml'), 'utf8');
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

describe.each(overlays)('%s', (overlay) => {
  const manifests = rendered[overlay];
  const pods = podsOf(manifests);
  const containers = pods.flatMap(({ owner, spec }) =>
    spec.containers.map((container) => ({ title: `${owner.kind} ${owner.metadata.name}`, container, spec })),
  );

  test.each(containers)(
    '$title may not become root, write to its image or use the cluster',
    ({ container, spec }) => {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    },
  );

  test.each(containers)('$title requests resources and limits its memory', ({ container }) => {
    expect(container.resources?.requests).toHaveProperty('cpu');
    expect(container.resources?.requests).toHaveProperty('memory');
    expect(container.resources?.limits).toHaveProperty('memory');
  });

  test.each(containers)('$title defines each variable before its use', ({ container }) => {
    const left = Object.entries(environmentOf(container, secret)).filter(([, value]) => value.includes('$('));
    expect(left).toEqual([]);
  });

  test.each(containers)(
    '$title takes every secret and setting from a source that exists or is in the guide',
    ({ container, spec }) => {
      const keysOf = (name: string): readonly string[] => {
        const made = manifests.find(
          ({ kind, metadata }) => /Secret|ConfigMap/.test(kind) && metadata.name === name,
        );
        if (made) return Object.keys(made.data ?? {});
        // The operator's pod runs beside its overlay.
        const beside = rendered[overlay.replace('/operator', '') as typeof overlay].find(
          ({ kind, metadata }) => /Secret|ConfigMap/.test(kind) && metadata.name === name,
        );
        if (beside) return Object.keys(beside.data ?? {});
        if (overlay.startsWith('overlays/local')) return [];
        const row = readme.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? '';
        return [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
      };
      for (const { valueFrom } of container.env ?? []) {
        if (valueFrom?.secretKeyRef)
          expect(keysOf(valueFrom.secretKeyRef.name)).toContain(valueFrom.secretKeyRef.key);
      }
      for (const { configMap, secret: mounted } of spec.volumes ?? []) {
        if (configMap) expect(keysOf(configMap.name)).not.toEqual([]);
        if (mounted) expect(keysOf(mounted.secretName)).toContain(mounted.items?.[0]?.key ?? 'tls.key');
      }
    },
  );
});

describe.each(['overlays/local', 'overlays/production'] as const)('%s', (overlay) => {
  const manifests = rendered[overlay];
  const pods = podsOf(manifests);

  test('runs every service, and the migrations', () => {
    const found = ownPods(manifests).map(processOf).sort();
    expect(found).toEqual([...services, 'agents', 'dispatcher', 'gateway', 'migrate'].sort());
  });

  describe.each(ownPods(manifests).map((pod) => ({ name: processOf(pod), pod })))(
    '$name',
    ({ name, pod }) => {
      const [container] = pod.spec.containers as [Container];
      const env = environmentOf(container, secret);
      const read = readers[name]!;

      test('has valid settings', () => {
        expect(() => read(env)).not.toThrow();
      });

      test('uses each of its variables, directly or to build another one', () => {
        const texts = (container.env ?? []).map(({ value = '' }) => value);
        const strangers = Object.keys(env).filter(
          (variable) =>
            !variablesOf(read).has(variable) && !texts.some((text) => text.includes(`$(${variable})`)),
        );
        expect(strangers).toEqual([]);
      });

      test('has a stop timeout longer than its drain', () => {
        if (name === 'migrate') return expect(container.lifecycle).toBeUndefined();
        const drainS = Number(env.DRAIN_TIMEOUT_MS) / 1000;
        const leavesS = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
        expect(leavesS).toBeGreaterThanOrEqual(5);
        expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(leavesS + drainS);
      });

      test('has its probes on the port that answers them', () => {
        if (name === 'migrate') return expect(container.livenessProbe).toBeUndefined();
        const metrics = container.ports?.find((port) => port.name === 'metrics');
        expect(String(metrics?.containerPort)).toBe(env.METRICS_PORT);
        const asked = { port: 'metrics', path: '/healthz' };
        expect(container.startupProbe?.httpGet).toEqual(asked);
        expect(container.livenessProbe?.httpGet).toEqual(asked);
        expect(container.readinessProbe?.httpGet).toEqual({ ...asked, path: '/readyz' });
      });
    },
  );

  test('every selector matches its pods', () => {
    const targets = manifests.flatMap(({ kind, metadata, spec }) => {
      const title = `${kind} ${metadata.name}`;
      if (kind === 'Service') return [{ title, selector: { matchLabels: spec.selector } }];
      if (kind === 'PodDisruptionBudget' || kind === 'PodMonitor')
        return [{ title, selector: spec.selector }];
      if (kind === 'NetworkPolicy') return [{ title, selector: spec.podSelector }];
      if (/Deployment|StatefulSet/.test(kind)) return [{ title, selector: spec.selector }];
      return [];
    });
    const idle = targets.filter(({ selector }) => !pods.some(({ labels }) => selects(selector, labels)));
    expect(idle.map(({ title }) => title)).toEqual([]);
  });

  test('every reference to a workload names an existing one', () => {
    const names = new Set(pods.map(({ owner }) => owner.metadata.name));
    const pointers = manifests
      .filter(({ spec }) => spec?.scaleTargetRef)
      .map(({ spec }) => spec.scaleTargetRef.name);
    expect(pointers.length).toBeGreaterThan(1);
    expect(pointers.filter((name) => !names.has(name))).toEqual([]);
  });

  test('every long-running workload has a disruption budget', () => {
    const kept = pods.filter(
      ({ owner }) => /Deployment|StatefulSet/.test(owner.kind) && owner.metadata.name !== 'mysql',
    );
    const budgets = ofKind(manifests, 'PodDisruptionBudget');
    const without = kept.filter(({ labels }) => !budgets.some(({ spec }) => selects(spec.selector, labels)));
    expect(without.map(({ owner }) => owner.metadata.name)).toEqual([]);
  });

  test('named ports exist in the pods', () => {
    const named = ofKind(manifests, 'Service').flatMap(({ metadata, spec }) =>
      spec.ports.map(({ targetPort, port }: { targetPort: string; port: number }) => ({
        name: `${metadata.name} ${targetPort}`,
        found: pods
          .filter(({ labels }) => selects({ matchLabels: spec.selector }, labels))
          .flatMap((pod) => pod.spec.containers.flatMap(({ ports = [] }) => ports))
          .some((open) => open.name === targetPort && open.containerPort === port),
      })),
    );
    expect(named.filter(({ found }) => !found)).toEqual([]);
  });

  test('the ingress routes to existing services', () => {
    const [ingress] = ofKind(manifests, 'Ingress');
    const paths = ingress!.spec.rules[0].http.paths as {
      path: string;
      backend: { service: { name: string } };
    }[];
    const led = Object.fromEntries(paths.map(({ path, backend }) => [path, backend.service.name]));
    expect(led).toEqual({
      '/api': 'gateway',
      '/portal': 'gateway',
      '/docs': 'gateway',
      '/mcp': 'gateway',
      '/llms.txt': 'gateway',
      '/.well-known/api-catalog': 'gateway',
    });
    const present = ofKind(manifests, 'Service').map(({ metadata }) => metadata.name);
    expect(present).toEqual(expect.arrayContaining(Object.values(led)));
  });

  test('every process connects to NATS over TLS, with the certificate authority but without its key', () => {
    for (const { owner, spec } of [...ownPods(manifests), ...podsOf(rendered[`${overlay}/operator`])]) {
      const [container] = spec.containers as [Container];
      const { NATS_URL = '', NATS_CA_FILE = '' } = environmentOf(container, secret);
      if (/^(migrate|agents)$/.test(owner.metadata.name)) continue;
      expect(NATS_URL.split(',').map((url) => new URL(url).protocol)).toEqual(['tls:', 'tls:', 'tls:']);
      const [mounted] = (spec.volumes ?? []).filter(({ name }) => name === 'nats-ca');
      expect(mounted?.secret?.items).toEqual([{ key: 'ca.crt', path: 'ca.crt' }]);
      expect(NATS_CA_FILE).toBe('/etc/causeway/nats/ca.crt');
    }
  });

  test('streams have as many copies as there are servers', () => {
    const [nats] = manifests.filter(
      ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'nats',
    );
    expect(nats!.spec.replicas).toBe(3);
    const copies = ownPods(manifests).flatMap(
      ({ spec }) => environmentOf(spec.containers[0]!, secret).NATS_REPLICAS ?? [],
    );
    expect(copies).toEqual(['3', '3', '3']);
  });
});

describe('the network of production', () => {
  const policies = ofKind(production, 'NetworkPolicy');
  const pods = podsOf(production);
  interface Peer {
    readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  }
  const waysOut = ({ labels }: PodTemplate): readonly Peer[] =>
    policies
      .filter(({ spec }) => spec.policyTypes.includes('Egress') && selects(spec.podSelector, labels))
      .flatMap(({ spec }) =>
        (spec.egress ?? []).flatMap(
          (rule: { to?: Peer[] }) => rule.to ?? [{ ipBlock: { cidr: '0.0.0.0/0' } }],
        ),
      );
  const listOf = (prefixes: readonly string[]): BlockList => {
    const list = new BlockList();
    for (const prefix of prefixes) {
      const [address = '', bits] = prefix.split('/');
      list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
    }
    return list;
  };
  const reaches = (pod: PodTemplate, address: string): boolean =>
    waysOut(pod).some(({ ipBlock }) => {
      if (!ipBlock) return false;
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      return (
        listOf([ipBlock.cidr]).check(address, family) && !listOf(ipBlock.except ?? []).check(address, family)
      );
    });
  const reaching = (address: string): string[] =>
    pods.filter((pod) => reaches(pod, address)).map(({ owner }) => owner.metadata.name);

  test('all traffic that no policy allows is denied', () => {
    const [closed] = policies.filter(({ metadata }) => metadata.name === 'nothing-by-default');
    expect(closed?.spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  test.each(['93.184.215.14', '1.1.1.1', '2606:4700:4700::1111'])(
    'only dispatchers reach %s of the internet',
    (address) => {
      expect(reaching(address)).toEqual(['dispatcher']);
    },
  );

  test.each([
    ...[
      '169.254.169.254',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd20:ce::254',
    ],
    ...['127.0.0.1', '10.0.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '0.0.0.0', '224.0.0.1'],
    ...['255.255.255.255', '::1', 'fe80::1', 'fc00::1', '2002:a9fe:a9fe::', '64:ff9b::a9fe:a9fe', '3fff::1'],
  ])('no pod reaches %s, and the dispatcher itself would refuse it', (address) => {
    expect(reaching(address)).toEqual([]);
    expect(addressProblem(address)).toBeDefined();
  });

  test('the policy allows deliveries to exactly the ports that the dispatcher allows', () => {
    const [policy] = policies.filter(({ metadata }) => metadata.name === 'deliveries');
    const ports = policy?.spec.egress.flatMap((rule: { ports?: unknown[] }) => rule.ports ?? ['any']);
    const allowed = [...deliveryPorts(undefined, { allowHttp: false, allowPrivate: false })];
    expect(ports).toEqual(allowed.map((port) => ({ protocol: 'TCP', port })));
  });

  test('only pods that are configured with a host name may query DNS', () => {
    const [policy] = policies.filter(({ metadata }) => metadata.name === 'names');
    const may = pods
      .filter(({ labels }) => selects(policy!.spec.podSelector, labels))
      .map(({ owner }) => owner.metadata.name);
    const told = pods
      .filter(
        ({ owner, spec }) =>
          // NATS servers find each other by name.
          owner.metadata.name === 'nats' ||
          spec.containers.some(({ env = [] }) =>
            env.some(({ name }) => /^(NATS_URL|INTERFACE_URL|MYSQL_HOST)$/.test(name)),
          ),
      )
      .map(({ owner }) => owner.metadata.name);
    expect(may.sort()).toEqual(told.sort());
    const [operator] = podsOf(rendered['overlays/production/operator']);
    expect(selects(policy!.spec.podSelector, operator!.labels)).toBe(true);
  });

  test('only gateways reach agents, and only agents the port on which gateways believe an address', () => {
    const sources = (name: string, port: string): string[] =>
      policies
        .filter(({ spec }) => selects(spec.podSelector, { 'app.kubernetes.io/name': name }))
        .flatMap(({ spec }) => spec.ingress ?? [])
        .filter(({ ports }) => ports.some((open: { port: string }) => open.port === port))
        .flatMap(({ from }) => from.map((peer: { podSelector?: object }) => peer.podSelector));
    const only = (name: string) => [{ matchLabels: { 'app.kubernetes.io/name': name } }];
    expect(sources('agents', 'http')).toEqual(only('gateway'));
    expect(sources('gateway', 'agents')).toEqual(only('agents'));
    const nats = policies.find(({ metadata }) => metadata.name === 'to-nats');
    expect(selects(nats!.spec.podSelector, { 'app.kubernetes.io/name': 'agents' })).toBe(false);
  });

  test('only pods that have the password of MySQL reach it', () => {
    const [policy] = policies.filter(({ metadata }) => metadata.name === 'to-mysql');
    const may = pods
      .filter(({ labels }) => selects(policy!.spec.podSelector, labels))
      .map(({ owner }) => owner.metadata.name);
    const has = pods
      .filter(({ spec }) =>
        spec.containers.some(({ env = [] }) => env.some(({ name }) => name === 'MYSQL_HOST')),
      )
      .map(({ owner }) => owner.metadata.name);
    expect(may.sort()).toEqual(has.sort());
    expect(may).not.toContain('gateway');
  });
});

describe('scaling in production', () => {
  test.each(['gateway', 'agents', 'crm', 'webhooks'])(
    '%s scales with its CPU use, from more than one replica',
    (name) => {
      const [scaler] = ofKind(production, 'HorizontalPodAutoscaler').filter(
        ({ metadata }) => metadata.name === name,
      );
      expect(scaler?.spec.minReplicas).toBeGreaterThan(1);
      const [deployment] = ofKind(production, 'Deployment').filter(({ metadata }) => metadata.name === name);
      // Otherwise each release would reset it.
      expect(deployment?.spec).not.toHaveProperty('replicas');
    },
  );

  test('dispatchers scale with the queue that they pull from', () => {
    const [scaled] = ofKind(production, 'ScaledObject');
    const trigger = scaled?.spec.triggers.find(({ type }: { type: string }) => type === 'nats-jetstream');
    expect(trigger.metadata).toMatchObject({ stream: eventStream, consumer: eventConsumer, account: '$G' });
    const [host, port] = trigger.metadata.natsServerMonitoringEndpoint.split(':');
    const [nats] = ofKind(production, 'Service').filter(({ metadata }) => metadata.name === 'nats');
    expect(host).toBe(`${nats!.metadata.name}.${nats!.metadata.namespace}.svc.cluster.local`);
    expect(nats!.spec.ports).toContainEqual(expect.objectContaining({ port: Number(port), name: 'monitor' }));
    expect(scaled?.spec.minReplicaCount).toBeGreaterThan(1);
  });

  test('workloads with a fixed number of replicas have more than one', () => {
    const fixed = ofKind(production, 'Deployment').filter(({ spec }) => 'replicas' in spec);
    expect(fixed.map(({ metadata, spec }) => [metadata.name, spec.replicas])).toEqual([
      ['access', 2],
      // Nothing waits for it.
      ['servers', 1],
    ]);
  });
});

test("the operator's pod runs the image of its overlay, which has the version of the packages", () => {
  const imageOf = (overlay: Overlay) => ownImage(podsOf(rendered[overlay]));
  expect(imageOf('overlays/local/operator')).toBe(imageOf('overlays/local'));
  expect(imageOf('overlays/production/operator')).toBe(imageOf('overlays/production'));
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(imageOf('overlays/production')).toMatch(new RegExp(`:${version}$`));
  for (const tag of [version, 'local']) expect(readme).toContain(`--tag causeway/services:${tag} `);
});

test("Prometheus's operator and Grafana's sidecar find what is for them", () => {
  for (const kind of ['PodMonitor', 'PrometheusRule'])
    for (const { metadata } of ofKind(production, kind))
      expect(metadata.labels).toMatchObject({ release: 'kube-prometheus-stack' });
  const [dashboard] = ofKind(production, 'ConfigMap').filter(({ data }) => data?.['causeway.json']);
  expect(dashboard?.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  // Prometheus's operator makes a pod's job of the monitor's namespace and name; the rules know our processes by this job.
  const [{ metadata }] = ofKind(production, 'PodMonitor') as [Manifest];
  expect(`${metadata.namespace}/${metadata.name}`).toMatch(/^(.+\/)?causeway$/);
  expect(rulesText).toContain('job=~"(.+/)?causeway"');
});

test.each([
  ['overlays/production', ''],
  ['overlays/rotating', '-next'],
] as const)('in %s, services connect to NATS as their users with the ending "%s"', (overlay, ending) => {
  for (const pod of ownPods(rendered[overlay]).filter((one) => !/^(migrate|agents)$/.test(processOf(one)))) {
    const [container] = pod.spec.containers as [Container];
    const user = `${processOf(pod)}${ending}`;
    const { NATS_URL = '' } = environmentOf(container, secret);
    expect(new URL(NATS_URL.split(',')[0]!).username).toBe(user);
    const password = container.env?.find(({ name }) => name === 'NATS_PASSWORD');
    expect(password?.valueFrom?.secretKeyRef).toEqual({ name: 'nats-users', key: user });
  }
});
