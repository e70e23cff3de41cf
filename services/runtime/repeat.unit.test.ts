import { expect, test } from 'vitest';
import { repeat } from './repeat.ts';

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
