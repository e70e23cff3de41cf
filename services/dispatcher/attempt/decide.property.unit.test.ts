import { retryScheduleMs } from '@causeway/proto';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AttemptAnswer, decide, retryAfterMs } from './decide.ts';

const hourMs = 3_600_000;
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
      expect(decide(succeeded, { attempt, scheduleMs: retryScheduleMs, nowMs: now, random: chance })).toEqual(
        {
          outcome: 'succeeded',
        },
      );
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
