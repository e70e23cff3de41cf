import { expect, test } from 'vitest';
import { delayMs } from './attempts.ts';

test('the first attempts have no delay, then delays double up to 15 minutes', () => {
  const waits = Array.from({ length: 17 }, (_, at) => delayMs(at + 1, 5) / 1000);
  expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  expect(delayMs(1_000_000, 5)).toBe(900_000);
});
