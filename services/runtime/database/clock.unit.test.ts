import { describe, expect, test } from 'vitest';
import { createAwakeClock, createServerClock } from './clock.ts';

/** A server whose clock can be set, and a process whose own clock is off by a minute and a half. */
const worldOf = () => {
  const world = { trueMs: 1_000_000, serverIsAheadMs: 0, answersAfterMs: 0, away: false };
  const clock = createServerClock({
    ask: async () => {
      if (world.away) throw new Error('away');
      const answer = world.trueMs + world.serverIsAheadMs;
      world.trueMs += world.answersAfterMs;
      return answer;
    },
    elapsedMs: () => world.trueMs - 7,
    ownMs: () => world.trueMs - 90_000,
  });
  return { world, clock };
};

test('before the first answer, the time is that of the process', () => {
  const { clock } = worldOf();
  expect(clock.now().getTime()).toBe(910_000);
  expect(clock.offsetMs()).toBe(0);
});

test('after it, the time is that of the server, and continues by itself', async () => {
  const { world, clock } = worldOf();
  await clock.measure();
  expect(clock.now().getTime()).toBe(1_000_000);
  expect(clock.offsetMs()).toBe(90_000);
  world.trueMs += 1_234;
  expect(clock.now().getTime()).toBe(1_001_234);
});

test('a slow answer changes nothing that it does not contradict', async () => {
  const { world, clock } = worldOf();
  await clock.measure();
  world.answersAfterMs = 800;
  await clock.measure();
  expect(clock.now().getTime()).toBe(world.trueMs);
});

test('the error of the first answer is at most half of its duration', async () => {
  const { world, clock } = worldOf();
  world.answersAfterMs = 800;
  await clock.measure();
  expect(Math.abs(clock.now().getTime() - world.trueMs)).toBeLessThanOrEqual(400);
  world.answersAfterMs = 2;
  await clock.measure();
  expect(Math.abs(clock.now().getTime() - world.trueMs)).toBeLessThanOrEqual(2);
});

test('a server whose clock was set is followed, and an unreachable one changes nothing', async () => {
  const { world, clock } = worldOf();
  await clock.measure();
  world.serverIsAheadMs = -5_000;
  await clock.measure();
  expect(clock.now().getTime()).toBe(world.trueMs - 5_000);
  world.away = true;
  await expect(clock.measure()).rejects.toThrow('away');
  world.trueMs += 10;
  expect(clock.now().getTime()).toBe(world.trueMs - 5_000);
});

test('silence lasts from the latest answer on, however often the server is asked in vain', async () => {
  const { world, clock } = worldOf();
  world.trueMs += 400;
  expect(clock.silentMs()).toBe(400);
  await clock.measure();
  expect(clock.silentMs()).toBe(0);
  world.away = true;
  world.trueMs += 300;
  await expect(clock.measure()).rejects.toThrow('away');
  expect(clock.silentMs()).toBe(300);
});

describe('A clock of awake time', () => {
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
});
