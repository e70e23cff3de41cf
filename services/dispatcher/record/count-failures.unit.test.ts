import { expect, test } from 'vitest';
import { type CountedResult, countFailures } from './count-failures.ts';

const nowMs = 1_000_000;
const count = (failures: number, results: readonly CountedResult[], nextMs: number | null = null) =>
  countFailures({ failures, failedAttempts: failures, nextMs }, results, { nowMs, probeIntervalMs: 1_000 });
const success: CountedResult = { succeeded: true, probe: false, counts: true, retryMs: null };
const failure: CountedResult = { succeeded: false, probe: false, counts: true, retryMs: nowMs + 5_000 };
const probe: CountedResult = { ...failure, probe: true };

test('consecutive failures add up, and a success resets them', () => {
  expect(count(0, [failure, failure]).failures).toBe(2);
  expect(count(4, [success]).failures).toBe(0);
  expect(count(3, [failure, success, failure]).failures).toBe(1);
});

test('a burst counts no further than five, however many attempts were under way', () => {
  expect(count(0, Array(200).fill(failure)).failures).toBe(5);
  expect(count(5, Array(200).fill(failure)).failures).toBe(5);
  expect(count(11, Array(200).fill(failure)).failures).toBe(11);
  expect(count(0, Array(200).fill(failure)).failedAttempts).toBe(200);
});

test('fifteen more probes disable the subscription, fourteen do not', () => {
  let failures = count(0, Array(64).fill(failure)).failures;
  for (let made = 1; made <= 15; made++) {
    const result = count(failures, [probe]);
    expect(result.isDisabling).toBe(made === 15);
    failures = result.failures;
  }
  expect(failures).toBe(20);
});

test('replays, and attempts of deliveries that another dispatcher has leased, do not count', () => {
  expect(count(4, [{ ...failure, counts: false }]).failures).toBe(4);
  expect(count(4, [{ ...success, counts: false }]).failures).toBe(4);
});

test('a retry makes its queue due no later than the retry', () => {
  expect(count(0, [failure]).nextMs).toBe(nowMs + 5_000);
  expect(count(0, [failure], nowMs + 9_000).nextMs).toBe(nowMs + 5_000);
  expect(count(0, [failure], nowMs + 2_000).nextMs).toBe(nowMs + 2_000);
  expect(count(0, [success], nowMs + 2_000).nextMs).toBe(nowMs + 2_000);
});

test('a subscription that begins to fail, or was just probed, is probed after the interval', () => {
  expect(count(4, [failure], nowMs).nextMs).toBe(nowMs + 1_000);
  expect(count(7, [probe], nowMs + 30_000).nextMs).toBe(nowMs + 1_000);
  expect(count(7, [{ ...probe, counts: false }], nowMs + 30_000).nextMs).toBe(nowMs + 1_000);
});

test('attempts that were under way when it began to fail do not change the lease of a probe', () => {
  expect(count(6, [failure], nowMs + 30_000).nextMs).toBe(nowMs + 30_000);
  // But a due time beyond a lease belongs to a retry.
  expect(count(6, [failure], nowMs + 3_600_000).nextMs).toBe(nowMs + 5_000);
  expect(count(6, [failure], null).nextMs).toBe(nowMs + 5_000);
});

test('a successful probe makes the queue due at once', () => {
  expect(count(12, [{ ...probe, succeeded: true, retryMs: null }], nowMs + 30_000)).toEqual({
    failures: 0,
    failedAttempts: 0,
    nextMs: nowMs,
    isDisabling: false,
  });
});
