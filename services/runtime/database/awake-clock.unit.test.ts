import { expect, test } from 'vitest';
import { createAwakeClock } from './clock.ts';

test('counts the time between ticks, but little of the time for which the process stood still', () => {
  let elapsedMs = 5_000;
  const clock = createAwakeClock(100, () => elapsedMs);
  const after = (ms: number): number => {
    elapsedMs += ms;
    clock.tick();
    return clock.now();
  };
  expect(after(100)).toBe(100);
  expect(after(150)).toBe(250);
  expect(after(60_000)).toBe(450);
  expect(after(100)).toBe(550);
});
