import { expect, test } from 'vitest';
import { countStreak, type StreakResult } from './streak.ts';

const nowMs = 1_000_000;
const count = (failures: number, results: readonly StreakResult[], nextMs: number | null = null) =>
  countStreak({ failures, failedAttempts: failures, nextMs }, results, { nowMs, probeIntervalMs: 1_000 });
const success: StreakResult = { succeeded: true, probe: false, counts: true, retryMs: null };
const failure: StreakResult = { succeeded: false, probe: false, counts: true, retryMs: nowMs + 5_000 };
const probe: StreakResult = { ...failure, probe: true };

test('failures in a row add up, and a success begins anew', () => {
  expect(count(0, [failure, failure]).failures).toBe(2);
  expect(count(4, [success]).failures).toBe(0);
  expect(count(3, [failure, success, failure]).failures).toBe(1);
});

test('a burst counts no further than five, whatever was under way', () => {
  expect(count(0, Array(200).fill(failure)).failures).toBe(5);
  expect(count(5, Array(200).fill(failure)).failures).toBe(5);
  expect(count(11, Array(200).fill(failure)).failures).toBe(11);
  expect(count(0, Array(200).fill(failure)).failedAttempts).toBe(200);
});

test('fifteen probes more switch the subscription off, fourteen do not', () => {
  let failures = count(0, Array(64).fill(failure)).failures;
  for (let made = 1; made <= 15; made++) {
    const streak = count(failures, [probe]);
    expect(streak.isOver).toBe(made === 15);
    failures = streak.failures;
  }
  expect(failures).toBe(20);
});

test('replays, and attempts whose delivery was another’s, count nothing', () => {
  expect(count(4, [{ ...failure, counts: false }]).failures).toBe(4);
  expect(count(4, [{ ...success, counts: false }]).failures).toBe(4);
});

test('a retry makes its queue due no later than itself', () => {
  expect(count(0, [failure]).nextMs).toBe(nowMs + 5_000);
  expect(count(0, [failure], nowMs + 9_000).nextMs).toBe(nowMs + 5_000);
  expect(count(0, [failure], nowMs + 2_000).nextMs).toBe(nowMs + 2_000);
  expect(count(0, [success], nowMs + 2_000).nextMs).toBe(nowMs + 2_000);
});

test('who begins to fail is probed after the interval, and so is who was just probed', () => {
  expect(count(4, [failure], nowMs).nextMs).toBe(nowMs + 1_000);
  expect(count(7, [probe], nowMs + 30_000).nextMs).toBe(nowMs + 1_000);
  expect(count(7, [{ ...probe, counts: false }], nowMs + 30_000).nextMs).toBe(nowMs + 1_000);
});

test('what was under way when it began to fail leaves the guard of a probe alone', () => {
  expect(count(6, [failure], nowMs + 30_000).nextMs).toBe(nowMs + 30_000);
  // But a time further away than a guard is a retry's.
  expect(count(6, [failure], nowMs + 3_600_000).nextMs).toBe(nowMs + 5_000);
  expect(count(6, [failure], null).nextMs).toBe(nowMs + 5_000);
});

test('a probe that succeeds opens the queue at once', () => {
  expect(count(12, [{ ...probe, succeeded: true, retryMs: null }], nowMs + 30_000)).toEqual({
    failures: 0,
    failedAttempts: 0,
    nextMs: nowMs,
    isOver: false,
  });
});
