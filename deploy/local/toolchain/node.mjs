import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machines } from './debian.mjs';
import { rebind } from './elf.mjs';
import { run } from './run.mjs';
import { SetupError, step } from './terminal.mjs';

/** TypeScript runs from source from this version on; uWebSockets.js is linked against this C library. */
const minimumNodeMajor = 24;
const minimumGlibc = [2, 38];

export const packagedNode = (root) => join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

export async function glibcVersion() {
  const text = await run('getconf', ['GNU_LIBC_VERSION']).catch(() => '');
  const match = /^glibc (\d+)\.(\d+)/.exec(text);
  if (match) return [Number(match[1]), Number(match[2])];
  throw new SetupError(
    'The local cluster needs a Linux with the GNU C library (Debian, Ubuntu, Fedora …), and this one has another: ' +
      'run it in a Debian container or virtual machine.',
  );
}

export const isNewEnough = ([major, minor]) =>
  major > minimumGlibc[0] || (major === minimumGlibc[0] && minor >= minimumGlibc[1]);

/** The running Node if it is new enough, otherwise the packaged one. */
export function baseNode(root) {
  if (Number(process.versions.node.split('.')[0]) >= minimumNodeMajor) {
    return { file: process.execPath, version: process.versions.node };
  }
  const file = packagedNode(root);
  if (existsSync(file)) {
    return { file, version: JSON.parse(readFileSync(join(file, '../../package.json'), 'utf8')).version };
  }
  throw new SetupError(
    `The npm package with Node ${minimumNodeMajor} for linux-${process.arch} is not installed: install Node ` +
      `${minimumNodeMajor} or newer, or delete node_modules and run the command again.`,
  );
}

/** A copy of a Node that uses a newer C library of its own. */
export async function patchedNode({ source, target, libraries }) {
  const node = join(target, 'node');
  if (existsSync(node)) return node;
  const { triplet, loader } = machines[process.arch];
  const lib = join(libraries, 'usr/lib', triplet);
  const fresh = `${target}.partial`;
  await step('preparing Node', async () => {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
    const program = rebind(readFileSync(source), { loader: join(lib, loader), folder: lib });
    writeFileSync(join(fresh, 'node'), program, { mode: 0o755 });
    await run(join(fresh, 'node'), ['--version']);
    rmSync(target, { recursive: true, force: true });
    renameSync(fresh, target);
  });
  return node;
}
