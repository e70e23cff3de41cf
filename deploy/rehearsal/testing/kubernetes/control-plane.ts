import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp, startProgram } from '@causeway/runtime/testing';
import { stringify } from 'yaml';
import { temporary } from '../../../data/testing/cluster.ts';
import { freePorts } from '../../../local/ports.ts';
import type { Program } from '../../../local/toolchain.ts';
import { type Api, openApi } from './api.ts';
import type { KubernetesPrograms } from './programs.ts';

/** A control plane of Kubernetes on the loopback, without nodes. */
export interface ControlPlane {
  readonly api: Api;
  /** For `kubectl`, as an administrator. */
  readonly kubeconfig: string;
}

/** Starts etcd, the API server, the controllers and the scheduler; they end with the test file. */
export const startControlPlane = async (programs: KubernetesPrograms): Promise<ControlPlane> => {
  const folder = temporary('kubernetes');
  const at = (name: string): string => join(folder, name);
  const [etcdPort, peerPort, port] = (await freePorts(3)) as [number, number, number];
  const start = (name: string, { command, args }: Program, more: readonly string[]) => {
    const log = openSync(at(`${name}.log`), 'w');
    const { end, isRunning } = startProgram(command, [...args, ...more], { stdio: ['ignore', log, log] });
    cleanUp(async () => void (await end('SIGKILL')));
    return async (isReady: () => Promise<boolean>): Promise<void> => {
      for (const endMs = Date.now() + startMs; ; await sleep(200)) {
        if (await isReady().catch(() => false)) return;
        if (isRunning() && Date.now() < endMs) continue;
        throw new Error(`${name} does not start:\n${readFileSync(at(`${name}.log`), 'utf8').slice(-2_000)}`);
      }
    };
  };

  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  const etcd = start('etcd', programs.etcd, [
    ...['--data-dir', at('etcd'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', `default=${peerUrl}`],
  ]);
  await etcd(async () => (await fetch(`${etcdUrl}/health`)).ok);

  const token = randomBytes(24).toString('hex');
  writeFileSync(at('tokens.csv'), `${token},administrator,administrator,system:masters\n`, { mode: 0o600 });
  execFileSync('openssl', ['genrsa', '-out', at('accounts.key'), '2048'], { stdio: 'pipe' });
  const apiServer = start('kube-apiserver', programs['kube-apiserver'], [
    `--etcd-servers=${etcdUrl}`,
    ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', `--secure-port=${port}`],
    // The address of the loopback may not be an endpoint.
    '--endpoint-reconciler-type=none',
    `--cert-dir=${at('certificates')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${at('accounts.key')}`,
    `--service-account-signing-key-file=${at('accounts.key')}`,
  ]);
  const url = `https://127.0.0.1:${port}`;
  // The server makes its certificate when it starts.
  const authority = at('certificates/apiserver.crt');
  let api: Api | undefined;
  await apiServer(async () => {
    api ??= openApi({ url, token, authority: readFileSync(authority, 'utf8') });
    const asked = [
      '/readyz',
      ...['kube-system', 'kube-node-lease'].map((name) => `/api/v1/namespaces/${name}`),
    ];
    const answers = await Promise.all(asked.map((path) => api!.ask('GET', path)));
    return answers.every(({ status }) => status === 200);
  });

  const kubeconfig = at('kubeconfig');
  const named = (kind: string, value: object) => [{ name: 'test', [kind]: value }];
  writeFileSync(
    kubeconfig,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: named('cluster', { server: url, 'certificate-authority': authority }),
      users: named('user', { token }),
      contexts: named('context', { cluster: 'test', user: 'test' }),
      'current-context': 'test',
    }),
    { mode: 0o600 },
  );
  start('kube-controller-manager', programs['kube-controller-manager'], [
    `--kubeconfig=${kubeconfig}`,
    `--service-account-private-key-file=${at('accounts.key')}`,
    `--root-ca-file=${authority}`,
    ...['--leader-elect=false', '--secure-port=0'],
    // The default is 15 s; a test waits for it.
    '--horizontal-pod-autoscaler-sync-period=2s',
  ]);
  start('kube-scheduler', programs['kube-scheduler'], [
    `--kubeconfig=${kubeconfig}`,
    ...['--leader-elect=false', '--secure-port=0'],
  ]);
  return { api: api!, kubeconfig };
};

const startMs = 180_000;
