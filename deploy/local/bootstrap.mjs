// Runs every command, on the host's Node 20 or newer and without node_modules.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './toolchain/lock.mjs';
import { isDiskFull, onPath, run } from './toolchain/run.mjs';
import { giveUp, SetupError, step } from './toolchain/terminal.mjs';
import { ensurePrograms, ensureToolchain } from './toolchain/toolchain.mjs';

/** What needs no packages of tests and tools: a third of all. */
const runs = new Set(['deploy/local/start.ts', 'deploy/local/stop.ts', 'services/access/cli/main.ts']);
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

try {
  const [entry, ...args] = process.argv.slice(2);
  if (entry === undefined)
    throw new SetupError('Usage: node deploy/local/bootstrap.mjs <entry.ts> [arguments]');
  requirePlatform();
  const cache = resolve(
    process.env.CAUSEWAY_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'causeway'),
  );
  const { MYSQL_URL, NATS_URL } = process.env;
  // Tests kill and hang NATS servers, so they start their own even if NATS_URL is set.
  const external = { mysql: Boolean(MYSQL_URL), nats: Boolean(NATS_URL) && !/\btest\.ts$/.test(entry) };
  const withoutTools = runs.has(entry);
  if (!installed(root, withoutTools))
    await Promise.all([ensurePackages(root, cache, withoutTools), ensurePrograms(cache, external)]);
  const toolchain = await ensureToolchain(root, cache, external);
  const { node } = JSON.parse(readFileSync(toolchain, 'utf8'));
  if (!withoutTools || installed(root, false)) await ensureClientTypes(root, node);
  handOver({ toolchain, node, cache, entry: resolve(root, entry), args });
} catch (error) {
  giveUp(error);
}

function requirePlatform() {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    throw new SetupError(
      `The local cluster runs on Linux (x64 or arm64), and this is ${process.platform} ${process.arch}: ` +
        'run it in a Debian container or virtual machine.',
    );
  }
  for (const program of ['setpriv', 'flock']) {
    if (onPath(program) === null) {
      throw new SetupError(`The program \`${program}\` is missing: install the package util-linux.`);
    }
  }
}

function handOver({ toolchain, node, cache, entry, args }) {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', node, entry, ...args], {
    stdio: 'inherit',
    env: {
      // Node creates the folder. A process of a service starts on half the processor time when its modules are in it.
      NODE_COMPILE_CACHE: join(cache, 'compiled'),
      ...process.env,
      CAUSEWAY_TOOLCHAIN: toolchain,
    },
  });
  // The terminal sends Ctrl-C to the entry too; a signal to this process alone is forwarded.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', giveUp);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

/**
 * Writes the types of the TypeScript client when a file of `proto/` is newer. Only the compiler and editors read them: Node leaves
 * types out, so nothing that runs needs the file. If `proto/` is being edited and does not load, the former types stay.
 */
async function ensureClientTypes(root, node) {
  const proto = join(root, 'proto');
  const file = join(proto, 'client/interface.generated.ts');
  const writtenMs = existsSync(file) ? statSync(file).mtimeMs : 0;
  const isNewer = (name) =>
    name.endsWith('.ts') && !name.includes('node_modules') && statSync(join(proto, name)).mtimeMs > writtenMs;
  if (!readdirSync(proto, { recursive: true }).some(isNewer)) return;
  await run(node, ['proto/openapi/write.ts', '--client-types'], { cwd: root }).catch((error) =>
    process.stderr.write(
      `${error.output ?? error.message}\nThe types of proto/client could not be written.\n`,
    ),
  );
}

/** Makes node_modules match package-lock.json, by npm's own record of the installation. */
async function ensurePackages(root, cache, withoutTools) {
  await withLock(
    join(cache, 'locks', `packages-${Buffer.from(root).toString('base64url').slice(-120)}`),
    async () => {
      if (installed(root, withoutTools)) return;
      await step('installing packages', () => install(root, withoutTools));
    },
  );
}

function installed(root, withoutTools) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const have = JSON.parse(readFileSync(record, 'utf8')).packages;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(want).every(
    ([path, { version, optional, dev, devOptional }]) =>
      !path.startsWith('node_modules/') ||
      (withoutTools && (dev || devOptional) && !(path in have)) ||
      (path in have ? have[path].version === version : optional === true),
  );
}

async function install(root, withoutTools) {
  // `npm ci` would delete a node_modules in use.
  const isFirst = !existsSync(join(root, 'node_modules', '.package-lock.json'));
  const verb = isFirst ? ['ci'] : ['install', '--no-save'];
  // The host's Node may be older than the packages require.
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--include=optional'];
  const tools = withoutTools && isFirst ? '--omit=dev' : '--include=dev';
  const [command, first] = npm();
  try {
    await run(command, [...first, ...verb, ...flags, tools], { cwd: root });
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
