import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { cleanUp } from './testing/cleanup.ts';
import { compileCache } from './testing/compile-cache.ts';
import { startProgram } from './testing/program.ts';

const start = async (stdout: 'ignore' | number) => {
  const { child, end } = startProgram(process.execPath, [join(import.meta.dirname, 'testing/idle-main.ts')], {
    env: compileCache,
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  });
  cleanUp(async () => void (await end('SIGKILL')));
  const { metricsUrl } = await new Promise<{ readonly metricsUrl: string }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { metricsUrl: string }));
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
  });
  return {
    metrics: async () => (await fetch(`${metricsUrl}/metrics`)).text(),
    readyz: async () => (await fetch(`${metricsUrl}/readyz`)).status,
    signal: (name: 'SIGUSR2' | 'SIGWINCH' = 'SIGUSR2') => child.kill(name),
    stop: () => end('SIGTERM'),
  };
};

test('every readiness check is a metric', async () => {
  const process = await start('ignore');
  expect(await process.metrics()).toContain('process_ready{check="NATS"} 1\n');
  expect(await process.metrics()).toContain('process_ready{check="started"} 1\n');
  process.signal();
  await expect.poll(() => process.metrics()).toContain('process_ready{check="NATS"} 0\n');
  expect(await process.metrics()).toContain('process_ready{check="started"} 1\n');
  expect(await process.readyz()).toBe(503);
});

test('a log on a full disk loses lines, which are counted, and ends no process', async () => {
  const process = await start(openSync('/dev/full', 'w'));
  // Longer than the logger waits before it writes.
  await sleep(700);
  process.signal();
  await expect.poll(() => process.metrics()).toMatch(/^log_lines_lost_total [1-9]\d\d+$/m);
  expect(await process.stop()).toBe(0);
});

test('what throws outside of any call is counted, and ends no process', async () => {
  const process = await start('ignore');
  expect(await process.metrics()).toContain('process_unexpected_errors_total 0\n');
  process.signal('SIGWINCH');
  await expect.poll(() => process.metrics()).toContain('process_unexpected_errors_total 3\n');
  expect(await process.readyz()).toBe(200);
  expect(await process.stop()).toBe(0);
});
