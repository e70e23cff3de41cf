import { expect, test } from 'vitest';
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
