import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { type KeepOptions, keep, type Run } from './supervisor.ts';

const delays = { firstMs: 20, lastMs: 80, healthyMs: 10_000 };

const shell = async (command: string): Promise<Run> => {
  const child = spawn('sh', ['-c', `exec ${command}`], { stdio: 'ignore' });
  const exited = once(child, 'exit').then(([code, signal]) => signal ?? `code ${code}`);
  await once(child, 'spawn');
  return {
    pid: child.pid as number,
    ready: Promise.resolve(null),
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
};

const supervise = (launch: KeepOptions['launch']) => {
  const lines: string[] = [];
  const changed = vi.fn();
  const kept = keep({ name: 'part', launch, changed, say: (line) => lines.push(line), delays });
  return { kept, lines, changed };
};

test('a program that is killed restarts under another process id and logs one line', async () => {
  const { kept, lines, changed } = supervise(() => shell('sleep 600'));
  await kept.ready;
  const first = kept.pid() as number;
  changed.mockClear();
  process.kill(first, 'SIGKILL');
  await expect.poll(() => changed).toHaveBeenCalled();
  expect(kept.pid()).not.toBe(first);
  expect(() => process.kill(kept.pid() as number, 0)).not.toThrow();
  expect(lines).toEqual(['part ended (SIGKILL); restarting in 20 ms']);
  await kept.stop();
});

test('the pause before a restart doubles up to its limit', async () => {
  let runs = 0;
  const { kept, lines } = supervise(() => shell(runs++ === 0 ? 'sleep 0.1' : 'false'));
  await kept.ready;
  await expect.poll(() => lines.length).toBeGreaterThanOrEqual(5);
  await kept.stop();
  expect(lines.slice(0, 5).map((line) => line.match(/in (\d+) ms/)?.[1])).toEqual([
    '20',
    '40',
    '80',
    '80',
    '80',
  ]);
});

test('a restart runs the program at once, even during the delay after it ended by itself', async () => {
  let runs = 0;
  const launch = () => shell(++runs === 2 ? 'false' : 'sleep 600');
  const slow = { firstMs: 60_000, lastMs: 60_000, healthyMs: 60_000 };
  const lines: string[] = [];
  const kept = keep({
    name: 'part',
    launch,
    changed: () => {},
    say: (line) => lines.push(line),
    delays: slow,
  });
  await kept.ready;
  const first = kept.pid();
  await kept.restart();
  await expect.poll(() => lines).toEqual(['part ended (code 1); restarting in 60000 ms']);
  await kept.restart();
  await expect.poll(() => runs).toBe(3);
  expect(kept.pid()).not.toBe(first);
  await kept.stop();
});

test('a stopped program stays stopped, even if it is stopped during the pause before a restart', async () => {
  let runs = 0;
  const { kept } = supervise(() => {
    runs++;
    return shell('sleep 0.05');
  });
  await kept.ready;
  await new Promise((done) => setTimeout(done, 60));
  await kept.stop();
  const runsAtStop = runs;
  // Several times the pause before a restart.
  await new Promise((done) => setTimeout(done, 200));
  expect(runs).toBe(runsAtStop);
});

test('a first run that ends before it is ready fails, and is not retried', async () => {
  let runs = 0;
  const { kept, lines } = supervise(async () => {
    runs++;
    const run = await shell('false');
    return { ...run, ready: run.exited.then((how) => Promise.reject(new Error(`ended (${how})`))) };
  });
  await expect(kept.ready).rejects.toThrow('ended (code 1)');
  await kept.stop();
  expect({ runs, lines }).toEqual({ runs: 1, lines: [] });
});
