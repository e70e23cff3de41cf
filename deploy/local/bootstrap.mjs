// Runs every command, on the host's Node 20 or newer and without node_modules.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureClientTypes } from './toolchain/client-types.mjs';
import { ensurePackages } from './toolchain/packages.mjs';
import { onPath } from './toolchain/run.mjs';
import { giveUp, SetupError } from './toolchain/terminal.mjs';
import { ensureToolchain } from './toolchain/toolchain.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

try {
  const [entry, ...args] = process.argv.slice(2);
  if (entry === undefined)
    throw new SetupError('Usage: node deploy/local/bootstrap.mjs <entry.ts> [arguments]');
  requirePlatform();
  const cache = resolve(
    process.env.CAUSEWAY_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'causeway'),
  );
  await ensurePackages(root, cache);
  const { MYSQL_URL, NATS_URL } = process.env;
  // Tests kill and hang NATS servers, so they start their own even if NATS_URL is set.
  const external = { mysql: Boolean(MYSQL_URL), nats: Boolean(NATS_URL) && !/\btest\.ts$/.test(entry) };
  const toolchain = await ensureToolchain(root, cache, external);
  const { node } = JSON.parse(readFileSync(toolchain, 'utf8'));
  await ensureClientTypes(root, node);
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
