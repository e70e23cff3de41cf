import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { countStreak, type StreakResult } from './streak.ts';

const nowMs = 1_000_000_000;
const probeIntervalMs = 1000;
const clock = { nowMs, probeIntervalMs };

const result: fc.Arbitrary<StreakResult> = fc
  .record({
    succeeded: fc.oneof(
      { arbitrary: fc.constant(false), weight: 4 },
      { arbitrary: fc.constant(true), weight: 1 },
    ),
    probe: fc.boolean(),
    counts: fc.oneof(
      { arbitrary: fc.constant(true), weight: 5 },
      { arbitrary: fc.constant(false), weight: 1 },
    ),
    waitMs: fc.nat(8 * 3_600_000),
  })
  .map(({ waitMs, ...rest }) => ({ ...rest, retryMs: rest.succeeded ? null : nowMs + waitMs }));
const results = fc.array(result, { maxLength: 40 });
const before = fc.record({
  failures: fc.nat(failuresUntilDisabled - 1),
  failedAttempts: fc.nat(1_000),
  nextMs: fc.option(fc.integer({ min: nowMs - 60_000, max: nowMs + 3_600_000 })),
});

test('failures are those in a row since the last success, past the fifth by probes alone', () => {
  fc.assert(
    fc.property(before, results, (row, ended) => {
      // The contract read literally: look back from the end for the last success that counts.
      const counted = ended.filter(({ counts }) => counts);
      const lastSuccess = counted.findLastIndex(({ succeeded }) => succeeded);
      let model = lastSuccess === -1 ? row.failures : 0;
      for (const { probe } of counted.slice(lastSuccess + 1))
        if (model < failuresUntilProbing || probe) model += 1;
      const streak = countStreak(row, ended, clock);
      expect(streak.failures).toBe(Math.min(model, failuresUntilDisabled));
      const failedSince = counted.length - lastSuccess - 1;
      expect(streak.failedAttempts).toBe(lastSuccess === -1 ? row.failedAttempts + failedSince : failedSince);
      expect(streak.isOver && streak.failures < failuresUntilDisabled).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('only probes switch off, and only at the twentieth failure', () => {
  fc.assert(
    fc.property(before, results, (row, ended) => {
      const streak = countStreak(row, ended, clock);
      const probes = ended.filter(({ probe, counts, succeeded }) => probe && counts && !succeeded).length;
      if (streak.isOver) {
        expect(streak.failures).toBe(failuresUntilDisabled);
        expect(probes).toBeGreaterThanOrEqual(
          failuresUntilDisabled - Math.max(row.failures, failuresUntilProbing),
        );
      }
      // Counted in one go or one after the other, it is the same number.
      const oneByOne = ended.reduce<Parameters<typeof countStreak>[0]>(
        (at, one) => countStreak(at, [one], clock),
        row,
      );
      if (streak.failures < failuresUntilDisabled) expect(oneByOne.failures).toBe(streak.failures);
    }),
    { numRuns: 1000 },
  );
});

test('a queue that has something to be tried again is looked after, no later than the earliest or a probe from now', () => {
  fc.assert(
    fc.property(before, results, (row, ended) => {
      const streak = countStreak(row, ended, clock);
      const earliest = Math.min(...ended.flatMap(({ retryMs }) => retryMs ?? []));
      if (earliest === Number.POSITIVE_INFINITY) return;
      expect(streak.nextMs).not.toBeNull();
      // While it fails a guard may stand before the earliest; it is never further than a lease away.
      if (streak.failures < failuresUntilProbing)
        expect(streak.nextMs!).toBeLessThanOrEqual(Math.max(earliest, nowMs));
    }),
    { numRuns: 1000 },
  );
});

test('a failing subscription is probed no sooner than the interval after its last probe', () => {
  const failing = before.map((row) => ({ ...row, failures: failuresUntilProbing + (row.failures % 15) }));
  fc.assert(
    fc.property(failing, results, (row, ended) => {
      const streak = countStreak(row, ended, clock);
      if (streak.failures < failuresUntilProbing || !ended.some(({ probe }) => probe)) return;
      expect(streak.nextMs).toBe(nowMs + probeIntervalMs);
    }),
    { numRuns: 500 },
  );
});
