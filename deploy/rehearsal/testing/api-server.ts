import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readEnv } from '@causeway/runtime';
import { cleanUp, startProgram } from '@causeway/runtime/testing';
import { temporary } from '../../data/testing/cluster.ts';
import { freePorts } from '../../local/ports.ts';
import { providePrograms } from '../../local/toolchain/provide.mjs';
import { onPath } from '../../local/toolchain/run.mjs';
import type { Program } from '../../local/toolchain.ts';

export type Kubectl = (args: readonly string[], input?: string) => string;

export const provideApiServer = async (): Promise<ApiServerPrograms | string> => {
  const env = readEnv();
  const cache = dirname(env.CAUSEWAY_TOOLCHAIN ?? '');
  const file = env.KUBE_APISERVER ?? join(cache, `kube-apiserver-${release}-${process.arch}`);
  if (!existsSync(file)) {
    const go = onPath('go');
    if (env.KUBE_APISERVER || go === null) return 'KUBE_APISERVER names no program, and Go cannot build one';
    try {
      build(go, file);
    } catch (error) {
      return `Go could not build Kubernetes ${release}: ${(error as Error).message.slice(0, 2_000)}`;
    }
  }
  try {
    const { etcd, kubectl } = await providePrograms(cache, {
      etcd: 'etcd-server',
      kubectl: 'kubernetes-client',
    });
    return { apiServer: { command: file, args: [] }, etcd, kubectl };
  } catch (error) {
    return `etcd and kubectl: ${(error as Error).message}`;
  }
};

/** Starts etcd and an API server on the loopback, without controllers or nodes; they end with the test file. */
export const startApiServer = async ({ apiServer, etcd, kubectl }: ApiServerPrograms): Promise<Kubectl> => {
  const folder = temporary('kubernetes');
  const at = (name: string): string => join(folder, name);
  const [etcdPort, peerPort, port] = (await freePorts(3)) as [number, number, number];
  const start = async (
    name: string,
    { command, args }: Program,
    more: readonly string[],
    isReady: () => boolean | Promise<boolean>,
  ): Promise<void> => {
    const log = openSync(at(`${name}.log`), 'w');
    const { end, isRunning } = startProgram(command, [...args, ...more], { stdio: ['ignore', log, log] });
    cleanUp(async () => void (await end('SIGKILL')));
    for (const endMs = Date.now() + startMs; ; await sleep(200)) {
      if (await isReady()) return;
      if (isRunning() && Date.now() < endMs) continue;
      throw new Error(`${name} does not start:\n${readFileSync(at(`${name}.log`), 'utf8').slice(-2_000)}`);
    }
  };

  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  await start(
    'etcd',
    etcd,
    [
      ...['--data-dir', at('etcd'), '--unsafe-no-fsync'],
      ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `default=${peerUrl}`],
    ],
    () =>
      fetch(`${etcdUrl}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
  );

  const token = randomBytes(24).toString('hex');
  writeFileSync(at('tokens.csv'), `${token},administrator,administrator,system:masters\n`, { mode: 0o600 });
  execFileSync('openssl', ['genrsa', '-out', at('accounts.key'), '2048'], { stdio: 'pipe' });
  // The server makes its certificate when it starts.
  const authority = at('certificates/apiserver.crt');
  const server = ['--server', `https://127.0.0.1:${port}`, '--token', token];
  const ask: Kubectl = (args, input = '') =>
    execFileSync(
      kubectl.command,
      [...kubectl.args, ...server, '--certificate-authority', authority, ...args],
      { encoding: 'utf8', input, stdio: 'pipe', env: { HOME: folder, PATH: '/usr/bin:/bin' } },
    );
  await start(
    'kube-apiserver',
    apiServer,
    [
      `--etcd-servers=${etcdUrl}`,
      ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', `--secure-port=${port}`],
      // The address of the loopback may not be an endpoint.
      '--endpoint-reconciler-type=none',
      // A controller would create the accounts of the namespaces.
      '--disable-admission-plugins=ServiceAccount',
      `--cert-dir=${at('certificates')}`,
      `--token-auth-file=${at('tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${at('accounts.key')}`,
      `--service-account-signing-key-file=${at('accounts.key')}`,
    ],
    () => {
      try {
        return existsSync(authority) && ask(['get', '--raw', '/readyz']) === 'ok';
      } catch {
        return false;
      }
    },
  );
  return ask;
};

/** Builds the API server in a module of its own, because Kubernetes replaces its other modules by its folders. */
const build = (go: string, file: string): void => {
  mkdirSync(dirname(file), { recursive: true });
  const work = mkdtempSync(join(dirname(file), 'kubernetes-build-'));
  const run = (...args: readonly string[]): string =>
    execFileSync('nice', ['-n', '19', go, ...args], {
      cwd: work,
      encoding: 'utf8',
      env: { ...readEnv(), GOFLAGS: '-mod=mod -buildvcs=false', GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  try {
    const { GoMod } = JSON.parse(run('mod', 'download', '-json', `k8s.io/kubernetes@v${release}`)) as {
      GoMod: string;
    };
    const own = readFileSync(GoMod, 'utf8');
    const staged = [...own.matchAll(/^\s*(\S+) => \.\/staging\//gm)].map((match) => match[1]!);
    const replaced = staged.map((name) => `\t${name} => ${name} v0${release.slice(1)}\n`);
    writeFileSync(
      join(work, 'go.mod'),
      `module kubernetes\n\n${/^go .*$/m.exec(own)?.[0]}\n\n${/^godebug .*$/m.exec(own)?.[0] ?? ''}\n\n` +
        `require k8s.io/kubernetes v${release}\n\nreplace (\n${replaced.join('')})\n`,
    );
    const [major, minor] = release.split('.');
    const stamps = { gitVersion: `v${release}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
    const flags = Object.entries(stamps).map(
      ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
    );
    const program = 'k8s.io/kubernetes/cmd/kube-apiserver';
    run('build', '-p', '2', '-ldflags', `-s -w ${flags.join(' ')}`, '-o', file, program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};

/** The release to build. Its other modules have the same version with a 0 in front. */
const release = '1.37.2';
const startMs = 180_000;

interface ApiServerPrograms {
  readonly apiServer: Program;
  readonly etcd: Program;
  readonly kubectl: Program;
}
