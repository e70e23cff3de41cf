import { expect, onTestFinished, test, vi } from 'vitest';
import { eachAlone, repeat } from './repeat.ts';

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

test('the process wakes for the next work that is due, and for none once all have stopped', async () => {
  vi.useFakeTimers();
  vi.resetModules();
  const { eachTick } = await import('./repeat.ts');
  onTestFinished(() => void vi.useRealTimers());
  const wakesIn = (ms: number): number => {
    let wakes = 0;
    const endMs = performance.now() + ms;
    while (vi.getTimerCount() > 0 && performance.now() < endMs) {
      vi.advanceTimersToNextTimer();
      wakes++;
    }
    return wakes;
  };
  let seconds = 0;
  const stopSeconds = eachTick(() => seconds++, 1_000);
  expect(wakesIn(10_000)).toBeLessThanOrEqual(11);
  expect(seconds).toBeGreaterThanOrEqual(10);
  let ticks = 0;
  const stopTicks = eachTick(() => ticks++);
  expect(wakesIn(1_000)).toBeGreaterThanOrEqual(19);
  expect(ticks).toBeGreaterThanOrEqual(19);
  stopTicks();
  expect(wakesIn(10_000)).toBeLessThanOrEqual(12);
  stopSeconds();
  wakesIn(2_000);
  expect(vi.getTimerCount()).toBe(0);
});
