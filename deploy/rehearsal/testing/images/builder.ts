import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { root } from '../../../data/testing/cluster.ts';
import { unpackDebian } from '../../../local/toolchain/debian.mjs';
import { rebind } from '../../../local/toolchain/elf.mjs';
import { packagedNode } from '../../../local/toolchain/node.mjs';
import { providePrograms } from '../../../local/toolchain/provide.mjs';
import { onPath, run } from '../../../local/toolchain/run.mjs';

/** Builds images with buildah, in a store of its own. */
export interface Builder {
  /** Builds an image from a Dockerfile of `deploy/docker`. @returns the folder with its files */
  build(dockerfile: string, image: string): Promise<string>;
}

/**
 * The bases of the Dockerfiles are stood in for by Debian packages, this machine's Node and its npm, under the same names: no
 * registry of images is asked.
 * @throws with buildah's output if this machine cannot build images
 */
export const openBuilder = async (): Promise<Builder> => {
  // Too large for memory.
  const folder = mkdtempSync(join(tmpdir(), 'causeway-images-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const cache = dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? '');
  const { buildah } = await providePrograms(cache, { buildah: ['buildah', 'netavark'] });
  const { command, settings } = independent(buildah, folder);
  const policy = join(folder, 'policy.json');
  writeFileSync(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  const registries = join(folder, 'registries.conf');
  writeFileSync(registries, 'unqualified-search-registries = ["docker.io"]\n');
  const store = [
    '--storage-driver',
    'vfs',
    '--root',
    join(folder, 'store'),
    '--runroot',
    join(folder, 'run'),
  ];
  const env = {
    ...readEnv(),
    ...settings,
    BUILDAH_ISOLATION: 'chroot',
    CONTAINERS_REGISTRIES_CONF: registries,
  };
  // Buildah would raise the limits, which a sandbox may forbid.
  const files = (await run('bash', ['-c', 'echo $(ulimit -Sn):$(ulimit -Hn)'])).trim();
  const processes = (await run('bash', ['-c', 'echo $(ulimit -Su):$(ulimit -Hu)'])).trim();
  const ask = async (...args: readonly string[]): Promise<string> => {
    try {
      return await run(command, [...store, ...args], { env });
    } catch (error) {
      const { output, message } = error as Error & { output?: string };
      throw new Error(`buildah ${args[0]}: ${(output ?? message).slice(-2_000)}`);
    }
  };
  const make = (context: string, dockerfile: string, image: string, ...more: readonly string[]) =>
    ask(
      ...['build', '--signature-policy', policy, '--pull=never', '--layers=false'],
      ...['--ulimit', `nofile=${files}`, '--ulimit', `nproc=${processes}`],
      ...[...more, '--file', dockerfile, '--tag', image, context],
    );

  const bases = {
    node: 'docker.io/library/node:24-trixie-slim',
    nginx: 'docker.io/nginxinc/nginx-unprivileged:1.30-alpine-slim',
  };
  for (const [name, image] of Object.entries(bases)) {
    const dockerfile = join(folder, `${name}.Dockerfile`);
    writeFileSync(
      dockerfile,
      `FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nENV NODE_EXTRA_CA_CERTS=${authorities}\n`,
    );
    await make(await baseTree(cache, name as keyof typeof packages), dockerfile, image);
  }
  return {
    build: async (dockerfile, image) => {
      const file = join(root, 'deploy/docker', dockerfile);
      await make(root, file, image, '--ignorefile', `${file}.dockerignore`);
      const container = (await ask('from', '--pull=never', '--signature-policy', policy, image)).trim();
      return (await ask('mount', container)).trim();
    },
  };
};

/** Buildah starts itself again, so it must run without the loader of its packages on the command line. */
const independent = (
  program: { readonly command: string; readonly args: readonly string[] },
  folder: string,
) => {
  const [, lib, file] = program.args;
  if (lib === undefined || file === undefined) return { command: program.command, settings: {} };
  const command = join(folder, 'buildah');
  writeFileSync(
    command,
    rebind(readFileSync(file), { loader: program.command, folder: lib, inherited: true }),
  );
  chmodSync(command, 0o755);
  const config = join(folder, 'containers.conf');
  const helpers = resolve(lib, '../podman');
  writeFileSync(
    config,
    `[engine]\nhelper_binaries_dir = ["${helpers}"]\n[network]\nnetwork_backend = "netavark"\n`,
  );
  return { command, settings: { CONTAINERS_CONF: config } };
};

const common = ['base-files', 'dash', 'coreutils', 'findutils', 'util-linux'];
const packages = { node: [...common, 'libc6', 'libstdc++6', 'libgcc-s1'], nginx: [...common, 'nginx-light'] };
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** The files of a base image, unpacked once. */
const baseTree = async (cache: string, name: keyof typeof packages): Promise<string> => {
  const tree = join(cache, `base-image-${name}-1`);
  if (existsSync(tree)) return tree;
  const fresh = `${tree}.fresh`;
  await unpackDebian({ packages: packages[name], target: fresh, work: `${tree}.downloads` });
  const at = (path: string): string => join(fresh, path);
  writeFileSync(
    at('etc/passwd'),
    'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/:/bin/sh\nnginx:x:101:101::/:/bin/sh\n',
  );
  writeFileSync(at('etc/group'), 'root:x:0:\nnode:x:1000:\nnginx:x:101:\n');
  if (name === 'node') {
    const npm = onPath('npm');
    if (npm === null) throw new Error('npm is not on PATH');
    mkdirSync(at('usr/local/bin'), { recursive: true });
    mkdirSync(at('usr/local/lib/node_modules'), { recursive: true });
    cpSync(existsSync(packagedNode(root)) ? packagedNode(root) : process.execPath, at('usr/local/bin/node'));
    cpSync(resolve(realpathSync(npm), '../..'), at('usr/local/lib/node_modules/npm'), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', at('usr/local/bin/npm'));
    mkdirSync(at('etc/ssl/certs'), { recursive: true });
    if (existsSync(authorities)) cpSync(authorities, at(authorities), { dereference: true });
  }
  rmSync(tree, { recursive: true, force: true });
  renameSync(fresh, tree);
  return tree;
};
