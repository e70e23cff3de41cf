import { retryScheduleMs } from '@causeway/proto';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AttemptAnswer, decide, retryAfterMs } from './decide.ts';

const nowMs = Date.UTC(2026, 4, 1, 12, 0, 0);
const hourMs = 3_600_000;
const answered = (statusCode: number | null, retryAfter: string | null = null): AttemptAnswer => ({
  statusCode,
  errorClass: statusCode === null ? 'timeout' : statusCode < 300 ? null : 'status',
  retryAfter,
});
const after = (attempted: AttemptAnswer, attempt = 1, random = 0.5) =>
  decide(attempted, { attempt, scheduleMs: retryScheduleMs, nowMs, random });
const retryIn = (waitMs: number, gone = false) => ({
  outcome: 'retry',
  dueMs: nowMs + waitMs,
  gone,
  notBeforeMs: nowMs,
});

test('the waits are those of the contract: 5 s, 15 s, 45 s, 2 m, 6 m, 20 m, 1 h, 2 h, 4 h, 8 h', () => {
  const seconds = [5, 15, 45, 120, 360, 1200, 3600, 7200, 14_400, 28_800];
  expect(seconds.map((_, at) => after(answered(500), at + 1))).toEqual(
    seconds.map((wait) => retryIn(wait * 1000)),
  );
  expect(after(answered(500), 11)).toEqual({ outcome: 'failed', gone: false, notBeforeMs: nowMs });
});

test('a first attempt that was hardly read is repeated at once, counts for nothing, and no later one is', () => {
  const unread = { ...answered(null), wasUnread: true };
  expect(after(unread)).toEqual({ ...retryIn(0), isUncounted: true });
  expect(after(unread, 2)).toEqual(retryIn(15_000));
});

test('a 410 disables the subscription, even at the last attempt', () => {
  expect(after(answered(410))).toEqual(retryIn(5000, true));
  expect(after(answered(410), 11)).toEqual({ outcome: 'failed', gone: true, notBeforeMs: nowMs });
});

describe('Retry-After', () => {
  test.each([
    [429, '60', 60_000],
    [503, '60', 60_000],
    [503, ' 7 ', 7000],
    // Never earlier than the schedule.
    [429, '1', 5000],
    [429, '0', 5000],
    [429, 'Fri, 01 May 2026 12:01:00 GMT', 60_000],
    [429, 'Friday, 01-May-26 12:01:00 GMT', 60_000],
    [429, 'Fri May  1 12:01:00 2026', 60_000],
    [429, 'Fri, 01 May 2026 11:00:00 GMT', 5000],
    // At most eight hours.
    [503, '28800', 8 * hourMs],
    [503, '28801', 8 * hourMs],
    [503, '999999999999', 8 * hourMs],
    [503, 'Fri, 01 May 2099 12:01:00 GMT', 8 * hourMs],
    // What receivers send in their place.
    [429, '60.5', 60_500],
    [429, '60.0', 60_000],
    [429, '60, 60', 60_000],
    [429, '2026-05-01T12:01:00Z', 60_000],
    [429, '2026-05-01T14:01:00+02:00', 60_000],
    [429, 'Fri, 01 May 2026 14:01:00 +0200', 60_000],
    [429, 'Fri, 01 May 2026 07:01:00 -0500', 60_000],
    [429, `${nowMs / 1000 + 60}`, 60_000],
    [429, `${nowMs + 60_000}`, 60_000],
    [429, `${nowMs / 1000 - 60}`, 5000],
    // Invalid values.
    [429, '60, 61', 5000],
    [429, '2026-05-01', 5000],
    [429, '', 5000],
    [429, '-60', 5000],
    [429, '1e3', 5000],
    [429, 'soon', 5000],
    [429, '2099', 2_099_000],
    [429, null, 5000],
    // Other answers cannot ask for a wait.
    [500, '60', 5000],
    [404, '60', 5000],
    [301, '60', 5000],
  ] as const)('of a %s with %j', (status, header, waitMs) => {
    expect(after(answered(status, header))).toMatchObject({ outcome: 'retry', dueMs: nowMs + waitMs });
  });

  test.each([
    [429, '1', 1000],
    [503, '600', 600_000],
    [503, '3601', hourMs],
    [503, 'Fri, 01 May 2099 12:01:00 GMT', hourMs],
    [503, null, 0],
    [500, '60', 0],
  ] as const)('of a %s with %j delays the next probe, by an hour at most', (status, header, waitMs) => {
    for (const attempt of [1, 11])
      expect(after(answered(status, header), attempt)).toMatchObject({ notBeforeMs: nowMs + waitMs });
  });
});

describe('For any answer', () => {
  const nowMs = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2040, 0) });
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const status = fc.oneof(fc.constantFrom(null, 410, 429, 500, 503), fc.integer({ min: 100, max: 599 }));
  const seconds = fc.oneof(fc.nat(40_000), fc.nat(2 ** 31 - 1)).map(String);
  const header = fc.oneof(
    fc.constant(null),
    seconds,
    fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.string({ unit: unicode, maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'0123456789 :,MonJaGT+-.e'), maxLength: 30 }),
  );
  const failed = fc.record({
    statusCode: status,
    errorClass: fc.constantFrom('status', 'timeout', 'dns'),
    retryAfter: header,
  });

  describe('after a failure', () => {
    test('there are as many retries as the schedule has waits, whatever the receiver answers', () => {
      const schedule = fc.array(fc.nat(72 * hourMs), { maxLength: 50 });
      fc.assert(
        fc.property(failed, schedule, nowMs, random, (attempted, scheduleMs, now, chance) => {
          let attempt = 1;
          while (decide(attempted, { attempt, scheduleMs, nowMs: now, random: chance }).outcome === 'retry')
            attempt++;
          expect(attempt).toBe(scheduleMs.length + 1);
        }),
        { numRuns: 200 },
      );
    });

    test('the next attempt is within a tenth of its wait, or later if a 429 or 503 asks, by at most eight hours', () => {
      const attempt = fc.integer({ min: 1, max: retryScheduleMs.length });
      fc.assert(
        fc.property(failed, attempt, nowMs, random, (attempted, which, now, chance) => {
          const decision = decide(attempted, {
            attempt: which,
            scheduleMs: retryScheduleMs,
            nowMs: now,
            random: chance,
          });
          if (decision.outcome !== 'retry') throw new Error('not tried again');
          const waitMs = decision.dueMs - now;
          const plannedMs = retryScheduleMs[which - 1]!;
          expect(Number.isSafeInteger(decision.dueMs)).toBe(true);
          expect(waitMs).toBeGreaterThanOrEqual(plannedMs * 0.9);
          const asks = attempted.statusCode === 429 || attempted.statusCode === 503;
          const longestMs = plannedMs * 1.1 + 0.5;
          expect(waitMs).toBeLessThanOrEqual(asks ? Math.max(longestMs, 8 * hourMs) : longestMs);
          expect(decision.gone).toBe(attempted.statusCode === 410);
        }),
        { numRuns: 1000 },
      );
    });

    test('a longer Retry-After never makes the wait shorter, nor does a larger chance', () => {
      const attempt = fc.integer({ min: 1, max: retryScheduleMs.length });
      const pair = (value: fc.Arbitrary<number>) =>
        fc.tuple(value, value).map((two) => two.toSorted((a, b) => a - b));
      fc.assert(
        fc.property(
          pair(fc.nat(100_000)),
          pair(random),
          attempt,
          nowMs,
          ([short, long], [low, high], which, now) => {
            const dueMs = (retryAfter: number | undefined, chance: number | undefined): number => {
              const decision = decide(
                { statusCode: 503, errorClass: 'status', retryAfter: String(retryAfter) },
                { attempt: which, scheduleMs: retryScheduleMs, nowMs: now, random: chance! },
              );
              return decision.outcome === 'retry' ? decision.dueMs : Number.NaN;
            };
            expect(dueMs(long, low)).toBeGreaterThanOrEqual(dueMs(short, low));
            expect(dueMs(short, high)).toBeGreaterThanOrEqual(dueMs(short, low));
          },
        ),
        { numRuns: 300 },
      );
    });
  });

  test('a success stays a success, whatever else the answer says', () => {
    fc.assert(
      fc.property(failed, fc.nat(60), nowMs, random, (attempted, attempt, now, chance) => {
        const succeeded: AttemptAnswer = { ...attempted, errorClass: null };
        expect(
          decide(succeeded, { attempt, scheduleMs: retryScheduleMs, nowMs: now, random: chance }),
        ).toEqual({
          outcome: 'succeeded',
        });
      }),
      { numRuns: 100 },
    );
  });

  describe('Retry-After', () => {
    test('with any text gives a wait or none, never a past time or NaN', () => {
      fc.assert(
        fc.property(header, nowMs, (text, now) => {
          const waitMs = retryAfterMs(text, now);
          if (waitMs === undefined) return;
          expect(Number.isSafeInteger(waitMs)).toBe(true);
          expect(waitMs).toBeGreaterThanOrEqual(0);
        }),
        { numRuns: 1000 },
      );
    });
  });
});
