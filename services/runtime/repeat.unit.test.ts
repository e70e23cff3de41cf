import { expect, onTestFinished, test, vi } from 'vitest';
import { eachAlone, eachTick, repeat } from './repeat.ts';

test('a wake ends the pause, and during a pass it makes the next one follow at once', async () => {
  let passes = 0;
  let end = (): void => {};
  const loop = repeat(
    () => {
      passes++;
      return new Promise((resolve) => (end = () => resolve(0)));
    },
    { pauseMs: 1e6, onError: () => {} },
  );
  end();
  await new Promise(setImmediate);
  expect(passes).toBe(1);
  loop.wake();
  await expect.poll(() => passes).toBe(2);
  loop.wake();
  end();
  await expect.poll(() => passes).toBe(3);
  end();
  await loop.stop();
});

test('an item that fails does not keep the others from their turn', async () => {
  const done: number[] = [];
  const work = eachAlone([1, 2, 3, 4], async (item) => {
    if (item % 2 === 1) throw new Error(`no ${item}`);
    done.push(item);
  });
  await expect(work).rejects.toThrow('no 1');
  expect(done).toEqual([2, 4]);
});

test('ticks of all callers share their moments, and no timer runs for less than what is asked for', async () => {
  vi.useFakeTimers();
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const wakes = () => timers.mock.calls.filter(([run]) => run.name === 'tick').length;
  const runs = new Map<string, number[]>();
  const start = (name: string, everyMs: number) => {
    runs.set(name, []);
    const stop = eachTick(() => runs.get(name)!.push(performance.now()), everyMs);
    onTestFinished(stop);
    return stop;
  };
  onTestFinished(() => void vi.useRealTimers());
  start('a', 250);
  await vi.advanceTimersByTimeAsync(60);
  start('b', 250);
  start('c', 1000);
  await vi.advanceTimersByTimeAsync(2000);
  expect(runs.get('b')).toEqual(runs.get('a')!.slice(-8));
  expect(runs.get('b')).toHaveLength(8);
  expect(runs.get('c')).toHaveLength(2);
  expect(runs.get('a')).toEqual(expect.arrayContaining(runs.get('c')!));
  const before = wakes();
  const stop = start('d', 50);
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs.get('d')!.length).toBeGreaterThanOrEqual(19);
  stop();
  const sooner = wakes();
  expect(sooner - before).toBeGreaterThanOrEqual(19);
  await vi.advanceTimersByTimeAsync(1000);
  expect(wakes() - sooner).toBeLessThanOrEqual(5);
  expect(runs.get('d')!.length).toBeLessThanOrEqual(20);
});

test('a clock that is set moves no tick', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let runs = 0;
  onTestFinished(eachTick(() => void runs++, 250));
  await vi.advanceTimersByTimeAsync(500);
  for (const hourMs of [3_600_000, -7_200_000]) {
    const before = runs;
    vi.setSystemTime(Date.now() + hourMs);
    await vi.advanceTimersByTimeAsync(250);
    expect(runs).toBe(before + 1);
  }
});
