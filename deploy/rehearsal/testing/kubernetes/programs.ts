import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { providePrograms } from '../../../local/toolchain/provide.mjs';
import { onPath } from '../../../local/toolchain/run.mjs';
import type { Program } from '../../../local/toolchain.ts';

/** The release whose programs are built. Its other modules have the same version with a 0 in front. */
const release = '1.37.2';
const programs = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

export type KubernetesPrograms = Readonly<Record<(typeof programs)[number] | 'etcd' | 'kubectl', Program>>;

/**
 * Provides the control plane of Kubernetes: from the folder `KUBERNETES_BIN`, or built from its Go module into the
 * cache, once; that takes about half an hour of processor time. etcd and kubectl are Debian's.
 * @returns the reason if this machine cannot.
 */
export const provideKubernetes = async (): Promise<KubernetesPrograms | string> => {
  const env = readEnv();
  const cache = dirname(env.CAUSEWAY_TOOLCHAIN ?? '');
  const folder = env.KUBERNETES_BIN ?? join(cache, `kubernetes-${release}-${process.arch}`);
  if (!programs.every((name) => existsSync(join(folder, name)))) {
    if (env.KUBERNETES_BIN) return `KUBERNETES_BIN (${folder}) lacks one of ${programs.join(', ')}`;
    const go = onPath('go');
    if (go === null)
      return `neither KUBERNETES_BIN names a folder with ${programs.join(', ')}, nor is Go on PATH to build them`;
    try {
      build(go, folder, cache);
    } catch (error) {
      return `Go could not build Kubernetes ${release}: ${(error as Error).message.slice(0, 2_000)}`;
    }
  }
  const built = Object.fromEntries(
    programs.map((name) => [name, { command: join(folder, name), args: [] as readonly string[] }]),
  );
  try {
    const others = await providePrograms(cache, { etcd: 'etcd-server', kubectl: 'kubernetes-client' });
    return { ...built, ...others } as KubernetesPrograms;
  } catch (error) {
    return `etcd and kubectl: ${(error as Error).message}`;
  }
};

/** Builds in a module of its own: Kubernetes replaces its other modules by folders of its repository. */
const build = (go: string, folder: string, cache: string): void => {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'kubernetes-build-'));
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
    const target = `${folder}.partial`;
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
    const packages = programs.map((name) => `k8s.io/kubernetes/cmd/${name}`);
    run('build', '-p', '2', '-ldflags', `-s -w ${flags.join(' ')}`, '-o', `${target}/`, ...packages);
    rmSync(folder, { recursive: true, force: true });
    renameSync(target, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
};
