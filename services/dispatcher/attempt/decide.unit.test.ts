import { retryScheduleMs } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { type AttemptAnswer, decide } from './decide.ts';

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
