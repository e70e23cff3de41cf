import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { freePort } from '../../deploy/local/ports.ts';
import { readMachineCpu } from './cpu.ts';
import { type BenchContext, makeHome } from './driver.ts';
import { describeMachine, median, publish, seconds, type Table, withRange } from './report.ts';

const root = resolve(import.meta.dirname, '../..');

/** Measures `npm start` to its last line: once from a fresh clone without any cache, then again and again. */
export const benchStart = async ({ say, options, onEnd, toolchain, env }: BenchContext): Promise<void> => {
  const home = makeHome(onEnd);
  const tree = join(home, 'clone');
  execFileSync('git', ['clone', '--quiet', root, tree]);
  const caches = {
    HOME: join(home, 'home'),
    XDG_CACHE_HOME: join(home, 'cache'),
    npm_config_cache: join(home, 'npm'),
  };
  const bare = {
    ...{ ...env, ...caches, STACK_HOME: join(home, 'stack') },
    ...{ CAUSEWAY_TOOLCHAIN: undefined, NODE_COMPILE_CACHE: undefined, CAUSEWAY_CACHE: undefined },
  };
  const port = String(await freePort());
  const run = (script: string, ...args: string[]) => command(tree, bare, script, args);
  onEnd(async () => void (await run('stop').catch(() => undefined)));
  const starts: Start[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const start = await run('start', '--detach', '--port', port);
    starts.push(start);
    say(
      `${round === 0 ? 'fresh clone' : `round ${round}`}: ${seconds(start.ms)}, CPU ${seconds(start.cpuMs)}`,
    );
    await run('stop');
  }
  const [cold, ...warm] = starts as [Start, ...Start[]];
  publish(
    'start',
    options,
    howMeasured(options),
    [
      await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
      table([
        ['fresh clone, no caches', [cold]],
        ['again', warm],
      ]),
    ],
    [
      ['npm start, fresh clone, no caches', seconds(cold.ms), '≤ 22 s'],
      ['npm start again', seconds(median(warm.map(({ ms }) => ms))), '≤ 2.5 s'],
    ],
  );
};

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

const command = async (
  cwd: string,
  env: NodeJS.ProcessEnv,
  script: string,
  args: readonly string[],
): Promise<Start> => {
  const [startedMs, cpu] = [performance.now(), readMachineCpu()];
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`npm run ${script} ended with ${code}: ${said.slice(-2000)}`);
  return { ms: performance.now() - startedMs, cpuMs: (readMachineCpu() - cpu) * 1000 };
};

const table = (rows: readonly (readonly [string, readonly Start[]])[]): Table => ({
  title: '`npm start -- --detach`, to its end',
  columns: ['', 'time', 'CPU of the machine'],
  rows: rows.map(([name, starts]) => [
    name,
    withRange(
      starts.map(({ ms }) => ms),
      seconds,
    ),
    withRange(
      starts.map(({ cpuMs }) => cpuMs),
      seconds,
    ),
  ]),
});

const howMeasured = ({ rounds }: BenchContext['options']): string => `
The first start installs packages and programs from their registries, and builds portal and bundle. Then ${rounds} starts of the same cluster.
`;
