import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { isDiskFull, run } from './run.mjs';
import { SetupError, step } from './terminal.mjs';

/** Makes node_modules match package-lock.json, by npm's own record of the installation. */
export async function ensurePackages(root, cache) {
  if (installed(root)) return;
  await withLock(
    join(cache, 'locks', `packages-${Buffer.from(root).toString('base64url').slice(-120)}`),
    async () => {
      if (installed(root)) return;
      await step('installing packages', () => install(root));
    },
  );
}

function installed(root) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const have = JSON.parse(readFileSync(record, 'utf8')).packages;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(want).every(
    ([path, { version, optional }]) =>
      !path.startsWith('node_modules/') ||
      (path in have ? have[path].version === version : optional === true),
  );
}

async function install(root) {
  // `npm ci` would delete a node_modules in use.
  const verb = existsSync(join(root, 'node_modules', '.package-lock.json'))
    ? ['install', '--no-save']
    : ['ci'];
  // The host's Node may be older than the packages require.
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--include=dev', '--include=optional'];
  const [command, first] = npm();
  try {
    await run(command, [...first, ...verb, ...flags], { cwd: root });
  } catch (error) {
    const way = isDiskFull(error.output)
      ? `The disk is full: free about 500 MiB in ${root} and run the command again.`
      : 'npm could not install the packages (its output is above); fix the cause and run the command again.';
    throw new SetupError(way, { cause: error.output ?? error.message });
  }
}

function npm() {
  const running = process.env.npm_execpath;
  if (running?.endsWith('npm-cli.js') && existsSync(running)) return [process.execPath, [running]];
  const beside = join(dirname(process.execPath), 'npm');
  return [existsSync(beside) ? beside : 'npm', []];
}
