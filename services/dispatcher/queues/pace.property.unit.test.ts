import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GrantLog, grantOf, slackMs, withGrant } from './pace.ts';

const looks = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 5_000 }),
    wanted: fc.integer({ min: 0, max: 2_000 }),
    /** Of the slack: how late the attempts begin. */
    late: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 120 },
);
const paces = fc.record({ limit: fc.integer({ min: 1, max: 1_000 }), seconds: fc.constantFrom(1, 60) });

test('no window has more attempts than the pace, however late in their slack they begin', () => {
  fc.assert(
    fc.property(paces, looks, (pace, all) => {
      let nowMs = 1_800_000_000_000;
      let log: GrantLog = [];
      const starts: { readonly atMs: number; readonly count: number }[] = [];
      for (const { afterMs, wanted, late } of all) {
        nowMs += afterMs;
        const count = Math.min(wanted, grantOf(log, pace, nowMs).count);
        if (count === 0) continue;
        log = withGrant(log, pace, nowMs, count);
        starts.push({ atMs: nowMs + late * slackMs(pace), count });
      }
      for (const { atMs } of starts) {
        const within = starts.filter((one) => one.atMs >= atMs && one.atMs < atMs + pace.seconds * 1_000);
        expect(within.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(pace.limit);
      }
      expect(log.length).toBeLessThanOrEqual(125);
    }),
  );
});

test('what is refused is granted at the time that it names', () => {
  fc.assert(
    fc.property(paces, looks, (pace, all) => {
      let nowMs = 1_800_000_000_000;
      let log: GrantLog = [];
      for (const { afterMs, wanted } of all) {
        nowMs += afterMs;
        const { count, nextMs } = grantOf(log, pace, nowMs);
        if (count === 0) {
          expect(nextMs).toBeGreaterThan(nowMs);
          expect(grantOf(log, pace, Math.ceil(nextMs)).count).toBeGreaterThan(0);
        } else if (wanted > 0) log = withGrant(log, pace, nowMs, Math.min(wanted, count));
      }
    }),
  );
});

test('a pace per minute is spread over it', () => {
  const pace = { limit: 600, seconds: 60 };
  expect(grantOf([], pace, 0).count).toBe(10);
  expect(grantOf([], { limit: 6, seconds: 60 }, 0).count).toBe(1);
  expect(
    grantOf(withGrant([], { limit: 6, seconds: 60 }, 600_000, 1), { limit: 6, seconds: 60 }, 600_001).nextMs,
  ).toBe(610_000);
});

test('a clock that goes back holds attempts up for two windows at most', () => {
  fc.assert(
    fc.property(paces, looks, fc.integer({ min: 1, max: 7_200_000 }), (pace, all, backMs) => {
      let nowMs = 1_800_000_000_000;
      let log: GrantLog = [];
      for (const { afterMs } of all) {
        nowMs += afterMs;
        const { count } = grantOf(log, pace, nowMs);
        if (count > 0) log = withGrant(log, pace, nowMs, count);
      }
      nowMs -= backMs;
      const lastMs = nowMs + 2 * pace.seconds * 1_000 + slackMs(pace) + pace.seconds * 10;
      let granted = 0;
      while (granted === 0 && nowMs <= lastMs) {
        const { count, nextMs } = grantOf(log, pace, nowMs);
        granted = count;
        nowMs = Math.max(nowMs + 1, Math.ceil(nextMs));
      }
      expect(granted).toBeGreaterThan(0);
    }),
  );
});
