import { expect, test } from 'vitest';
import { type CountedResult, countFailures } from './count-failures.ts';

const nowMs = 1_000_000;
const count = (
  failures: number,
  results: readonly CountedResult[],
  nextMs: number | null = null,
  probeMs: number | null = null,
) =>
  countFailures({ failures, failedAttempts: failures, nextMs, probeMs }, results, {
    nowMs,
    probeIntervalMs: 1_000,
  });
const success: CountedResult = { succeeded: true, probe: false, counts: true, retryMs: null, notBeforeMs: 0 };
const failure: CountedResult = { ...success, succeeded: false, retryMs: nowMs + 5_000 };
const probe: CountedResult = { ...failure, probe: true };

test('fifteen more probes disable the subscription, fourteen do not', () => {
  let failures = count(0, Array(64).fill(failure)).failures;
  for (let made = 1; made <= 15; made++) {
    const result = count(failures, [probe]);
    expect(result.isDisabling).toBe(made === 15);
    failures = result.failures;
  }
  expect(failures).toBe(20);
});

test('a retry makes its queue due no later than the retry', () => {
  expect(count(0, [failure]).nextMs).toBe(nowMs + 5_000);
  expect(count(0, [failure], nowMs + 9_000).nextMs).toBe(nowMs + 5_000);
  expect(count(0, [failure], nowMs + 2_000).nextMs).toBe(nowMs + 2_000);
  expect(count(0, [success], nowMs + 2_000).nextMs).toBe(nowMs + 2_000);
});

test('each failed probe doubles the wait for the next, up to a minute: the twentieth failure comes after ten minutes', () => {
  const waits: number[] = [];
  const burst = count(4, [failure], nowMs);
  waits.push(burst.probeMs! - nowMs);
  for (let failures = burst.failures; ; ) {
    const result = count(failures, [probe], nowMs + 30_000, nowMs + 30_000);
    if (result.isDisabling) break;
    expect(result.nextMs).toBe(result.probeMs);
    waits.push(result.probeMs! - nowMs);
    failures = result.failures;
  }
  const minute = 60_000;
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, ...Array(9).fill(minute)]);
  expect(waits.reduce((sum, wait) => sum + wait)).toBe(603_000);
});

test('a probe that does not count waits as long as the one before it', () => {
  expect(count(7, [{ ...probe, counts: false }], nowMs + 30_000).nextMs).toBe(nowMs + 4_000);
});

test('a Retry-After moves the next probe, and never to an earlier time', () => {
  const asking = { notBeforeMs: nowMs + 600_000 };
  expect(count(4, [{ ...failure, ...asking }, failure]).nextMs).toBe(nowMs + 600_000);
  expect(count(7, [{ ...probe, ...asking }], nowMs + 30_000, nowMs + 30_000).nextMs).toBe(nowMs + 600_000);
  expect(count(7, [{ ...probe, notBeforeMs: nowMs + 50 }]).nextMs).toBe(nowMs + 8_000);
  // Of an attempt that was under way when it began to fail.
  const late = count(6, [{ ...failure, ...asking }], nowMs + 2_000, nowMs + 2_000);
  expect([late.nextMs, late.probeMs]).toEqual([nowMs + 600_000, nowMs + 600_000]);
  // Below five failures the retries alone decide.
  expect(count(2, [{ ...failure, ...asking }]).nextMs).toBe(nowMs + 5_000);
});

test('attempts that were under way when it began to fail change neither the lease of a probe nor the back-off', () => {
  expect(count(6, [failure], nowMs + 30_000, nowMs + 30_000).nextMs).toBe(nowMs + 30_000);
  expect(count(6, [failure], nowMs + 3_600_000, nowMs + 3_600_000).nextMs).toBe(nowMs + 3_600_000);
  // But without a probe under way or a back-off, its next due time belongs to a retry.
  expect(count(6, [failure], nowMs + 3_600_000, nowMs).nextMs).toBe(nowMs + 5_000);
  expect(count(6, [failure], null, nowMs + 8_000).nextMs).toBe(nowMs + 8_000);
  expect(count(6, [failure], null).nextMs).toBe(nowMs + 5_000);
});

test('a successful probe makes the queue due at once', () => {
  expect(count(12, [{ ...probe, succeeded: true, retryMs: null }], nowMs + 30_000)).toEqual({
    failures: 0,
    failedAttempts: 0,
    nextMs: nowMs,
    probeMs: null,
    isDisabling: false,
  });
});
