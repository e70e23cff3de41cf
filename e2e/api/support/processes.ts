import { until } from '@causeway/runtime/testing/until';
import type { StackProcess } from '../../../deploy/local/home.ts';
import type { World } from './open.ts';

/** The cluster's processes of one kind: `gateway`, `crm`, `nats`. */
export const processesOf = ({ stack }: World, kind: string): readonly StackProcess[] =>
  stack().processes.filter(({ name }) => name === kind || name.startsWith(`${kind}-`));

/** @throws if the cluster has fewer processes of this kind: the test would prove nothing. */
export const atLeast = (world: World, kind: string, count: number): readonly StackProcess[] => {
  const found = processesOf(world, kind);
  if (found.length < count)
    throw new Error(`the cluster has ${found.length} processes of ${kind}, this test needs ${count}`);
  return found;
};

export const pidOf = (world: World, name: string): number => {
  const pid = world.stack().processes.find((process) => process.name === name)?.pid;
  if (!pid) throw new Error(`${name} is not running`);
  return pid;
};

/** Sends a signal to a process by its name. @returns the process id it had. */
export const signal = (world: World, name: string, signalName: NodeJS.Signals): number => {
  const pid = pidOf(world, name);
  process.kill(pid, signalName);
  return pid;
};

/**
 * Kills these processes, and again whenever the supervisor has restarted them, until `seen` is true: the effect of
 * their absence may take longer than a restart.
 * @returns the process IDs that were killed.
 */
export const keepAway = async (
  world: World,
  names: readonly string[],
  seen: () => boolean | Promise<boolean>,
): Promise<readonly number[]> => {
  const gone: number[] = [];
  await until(
    `the effect of the absence of ${names.join(' and ')}`,
    () => {
      for (const { name, pid } of world.stack().processes) {
        if (!names.includes(name) || pid === null || gone.includes(pid)) continue;
        process.kill(pid, 'SIGKILL');
        gone.push(pid);
      }
      return seen();
    },
    { everyMs: 10 },
  );
  return gone;
};

/** Resolves when every process runs with an ID that is not in `gone`, and is ready. */
export const allReady = (world: World, gone: readonly number[] = []): Promise<boolean> =>
  until(
    'every process is ready',
    async () => {
      for (const { name, pid, metricsUrl } of world.stack().processes) {
        if (pid === null || gone.includes(pid)) return false;
        if (name === 'mysql') continue;
        if (metricsUrl === null) return false;
        const ready = await fetch(`${metricsUrl}/${/^nats(-\d+)?$/.test(name) ? 'healthz' : 'readyz'}`)
          .then((response) => response.ok)
          .catch(() => false);
        if (!ready) return false;
      }
      return true;
    },
    { timeoutMs: 90_000, everyMs: 100 },
  );

/** The sum of a metric's samples in one process; `match` narrows by what its labels contain. */
export const metric = async ({ metricsUrl }: StackProcess, name: string, match = ''): Promise<number> => {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(match))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
};

/** The sum of a metric over all processes of a kind. */
export const sumOf = async (world: World, kind: string, name: string, match = ''): Promise<number> => {
  const values = await Promise.all(processesOf(world, kind).map((one) => metric(one, name, match)));
  return values.reduce((sum, value) => sum + value, 0);
};
