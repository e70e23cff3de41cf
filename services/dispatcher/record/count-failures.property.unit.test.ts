import { failuresUntilDisabled, failuresUntilProbing } from '@causeway/proto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CountedResult, countFailures, type FirstFailure } from './count-failures.ts';

const nowMs = 1_000_000_000;
const probeIntervalMs = 1000;
const clock = { nowMs, probeIntervalMs };

const failures = [500, 503, 404].map(
  (statusCode): FirstFailure => ({ sinceUtc: new Date(nowMs), statusCode, errorClass: 'status' }),
);
const result: fc.Arbitrary<CountedResult> = fc
  .record({
    succeeded: fc.oneof(
      { arbitrary: fc.constant(false), weight: 4 },
      { arbitrary: fc.constant(true), weight: 1 },
    ),
    probe: fc.boolean(),
    type: fc.constantFrom('client.created', 'lead.created', 'invoice.created'),
    failure: fc.constantFrom(...failures),
    counts: fc.oneof(
      { arbitrary: fc.constant(true), weight: 5 },
      { arbitrary: fc.constant(false), weight: 1 },
    ),
    waitMs: fc.nat(8 * 3_600_000),
    askedMs: fc.oneof(fc.constant(0), fc.nat(3_600_000)),
  })
  .map(({ waitMs, askedMs, ...rest }) => ({
    ...rest,
    failure: rest.succeeded ? null : rest.failure,
    retryMs: rest.succeeded ? null : nowMs + waitMs,
    notBeforeMs: rest.succeeded ? 0 : nowMs + askedMs,
  }));
const results = fc.array(result, { maxLength: 40 });
const before = fc.record({
  failures: fc.nat(failuresUntilDisabled - 1),
  failedAttempts: fc.nat(1_000),
  nextMs: fc.option(fc.integer({ min: nowMs - 60_000, max: nowMs + 3_600_000 })),
  probeMs: fc.option(fc.integer({ min: nowMs - 60_000, max: nowMs + 3_600_000 })),
  types: fc.constant([]),
  first: fc.constant(null),
});

test('failures are counted since the last success, beyond the fifth only for probes', () => {
  fc.assert(
    fc.property(before, results, (row, ended) => {
      // The contract taken literally: look back from the end for the last success that counts.
      const counted = ended.filter(({ counts }) => counts);
      const lastSuccess = counted.findLastIndex(({ succeeded }) => succeeded);
      let model = lastSuccess === -1 ? row.failures : 0;
      for (const { probe } of counted.slice(lastSuccess + 1))
        if (model < failuresUntilProbing || probe) model += 1;
      const after = countFailures(row, ended, clock);
      expect(after.failures).toBe(Math.min(model, failuresUntilDisabled));
      const failedSince = counted.length - lastSuccess - 1;
      expect(after.failedAttempts).toBe(lastSuccess === -1 ? row.failedAttempts + failedSince : failedSince);
      const failed = counted.slice(lastSuccess + 1);
      expect(new Set(after.types)).toEqual(new Set(failed.map(({ type }) => type)));
      expect(after.types.at(-1)).toBe(failed.at(-1)?.type);
      const ofFailing = ended.slice(ended.findLastIndex(({ succeeded }) => succeeded) + 1);
      expect(after.first).toBe(ofFailing.find(({ counts }) => counts)?.failure ?? null);
      expect(after.isDisabling && after.failures < failuresUntilDisabled).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('only probes disable a subscription, and only at the twentieth failure', () => {
  fc.assert(
    fc.property(before, results, (row, ended) => {
      const counted = countFailures(row, ended, clock);
      const probes = ended.filter(({ probe, counts, succeeded }) => probe && counts && !succeeded).length;
      if (counted.isDisabling) {
        expect(counted.failures).toBe(failuresUntilDisabled);
        expect(probes).toBeGreaterThanOrEqual(
          failuresUntilDisabled - Math.max(row.failures, failuresUntilProbing),
        );
      }
      // Counting at once or one by one gives the same number.
      const oneByOne = ended.reduce<Parameters<typeof countFailures>[0]>(
        (at, one) => countFailures(at, [one], clock),
        row,
      );
      if (counted.failures < failuresUntilDisabled) expect(oneByOne.failures).toBe(counted.failures);
    }),
    { numRuns: 1000 },
  );
});

test('a queue with a retry is due no later than the earliest retry, or a probe interval from now', () => {
  fc.assert(
    fc.property(before, results, (row, ended) => {
      const counted = countFailures(row, ended, clock);
      const earliest = Math.min(...ended.flatMap(({ retryMs }) => retryMs ?? []));
      if (earliest === Number.POSITIVE_INFINITY) return;
      expect(counted.nextMs).not.toBeNull();
      // While it fails, the earliest retry waits for the next probe.
      if (counted.failures < failuresUntilProbing)
        expect(counted.nextMs!).toBeLessThanOrEqual(Math.max(earliest, nowMs));
    }),
    { numRuns: 1000 },
  );
});

test('a failing subscription is probed when its back-off and every Retry-After have ended, and no later', () => {
  const failing = before.map((row) => ({ ...row, failures: failuresUntilProbing + (row.failures % 15) }));
  fc.assert(
    fc.property(failing, results, (row, ended) => {
      const counted = countFailures(row, ended, clock);
      if (counted.failures < failuresUntilProbing || !ended.some(({ probe }) => probe)) return;
      const waitMs = Math.min(probeIntervalMs * 2 ** (counted.failures - failuresUntilProbing), 60_000);
      const asked = ended.map(({ notBeforeMs }) => notBeforeMs);
      expect(counted.nextMs).toBe(Math.max(nowMs + waitMs, ...asked));
      expect(counted.probeMs).toBe(counted.nextMs);
    }),
    { numRuns: 500 },
  );
});
