import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { temporary } from '../../../data/testing/cluster.ts';
import type { Api } from './api.ts';

/**
 * Serves the metrics API (metrics.k8s.io) in place of a metrics server: each container of a running pod uses half of the
 * CPU that it requests. Without it no autoscaler is active.
 */
export const startMetricsServer = async (api: Api): Promise<void> => {
  const folder = temporary('metrics-server');
  const [keyFile, certFile] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=metrics', '-keyout', keyFile, '-out', certFile],
    ],
    { stdio: 'pipe' },
  );
  const server = createServer(
    { key: readFileSync(keyFile), cert: readFileSync(certFile) },
    async ({ url = '' }, response) => {
      const body = await answer(api, new URL(url, 'https://metrics')).catch((error) => ({
        error: String(error),
      }));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  await api.create('/api/v1/namespaces/kube-system/services', {
    metadata: { name: 'metrics' },
    spec: { type: 'ExternalName', externalName: '127.0.0.1' },
  });
  await api.create('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      service: { namespace: 'kube-system', name: 'metrics', port },
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
};

const answer = async (api: Api, { pathname, searchParams }: URL): Promise<object> => {
  const group = '/apis/metrics.k8s.io/v1beta1';
  const apiVersion = 'metrics.k8s.io/v1beta1';
  if (pathname === group) {
    const pods = {
      name: 'pods',
      singularName: '',
      namespaced: true,
      kind: 'PodMetrics',
      verbs: ['get', 'list'],
    };
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources: [pods] };
  }
  const namespace = /\/namespaces\/([^/]+)\/pods$/.exec(pathname)?.[1];
  const selector = encodeURIComponent(searchParams.get('labelSelector') ?? '');
  const running = namespace
    ? (await api.list<Pod>(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`)).filter(
        ({ status }) => status.phase === 'Running',
      )
    : [];
  const timestamp = new Date().toISOString();
  return {
    kind: 'PodMetricsList',
    apiVersion,
    metadata: {},
    items: running.map(({ metadata: { name, labels }, spec }) => ({
      metadata: { name, namespace, labels },
      timestamp,
      window: '0s',
      containers: spec.containers.map((container) => ({
        name: container.name,
        usage: { cpu: halfOf(container.resources?.requests?.cpu), memory: '64Mi' },
      })),
    })),
  };
};

const halfOf = (cpu = '100m'): string =>
  `${(cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000) / 2}m`;

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: object };
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly resources?: { readonly requests?: { readonly cpu?: string } };
    }[];
  };
  readonly status: { readonly phase: string };
}
