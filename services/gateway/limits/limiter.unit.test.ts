import { companyAt, type KeyEntry } from '@causeway/proto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Counts,
  companySlot,
  countTakes,
  createCounts,
  keySlot,
  memberSlot,
  mergeTotals,
  type Totals,
  toTotals,
} from './counts.ts';
import { countedIn, keyLimits, limitHeaders, windowEndSeconds, windowOf } from './limiter.ts';
import type { LogWriter } from './log-writer.ts';
import { claimOwnership, LogsSilentError } from './owner.ts';
import type { Quorum } from './quorum.ts';

const limits = { read: 60, write: 100, admin: 200, lookup: undefined, companyFactor: 20, portal: 1200 };
const key: KeyEntry = { version: 1, id: 5, companyId: 7, scopes: ['admin'], active: true };
const ownLimit = (...[bucket, of, company, defaults]: Parameters<typeof keyLimits>) =>
  keyLimits(bucket, of, company, defaults).own.limit;

test('lookups are counted as reads unless the configuration, the company or the key gives them a limit', () => {
  expect(countedIn('lookup', key, undefined, limits)).toBe('read');
  expect(countedIn('lookup', key, { version: 1, limits: { read: 5 } }, limits)).toBe('read');
  expect(countedIn('lookup', key, undefined, { ...limits, lookup: 200 })).toBe('lookup');
  expect(countedIn('lookup', key, { version: 1, limits: { lookup: 5 } }, limits)).toBe('lookup');
  expect(countedIn('lookup', { ...key, limits: { lookup: 5 } }, undefined, limits)).toBe('lookup');
});

test('RATE_LIMIT_LOOKUP is overridden by the company, and that by the key', () => {
  const company = { version: 1, limits: { lookup: 10 } };
  const configured = { ...limits, lookup: 200 };
  expect(ownLimit('lookup', key, undefined, configured)).toBe(200);
  expect(ownLimit('lookup', key, company, configured)).toBe(10);
  expect(ownLimit('lookup', { ...key, limits: { lookup: 3 } }, company, configured)).toBe(3);
  expect(keyLimits('lookup', { ...key, limits: { lookup: 3 } }, undefined, limits).company!.limit).toBe(60);
});

test("a company's ceiling is a multiple of its own limit or the configured one, never of a key's", () => {
  expect(keyLimits('read', { ...key, limits: { read: 5000 } }, undefined, limits)).toEqual({
    own: { name: 'read', slot: keySlot(5, 'read'), limit: 5000 },
    company: { name: 'company-read', slot: companySlot(7, 'read'), limit: 1200 },
  });
  const company = { version: 1, limits: { read: 10 } };
  expect(keyLimits('read', key, company, limits).company!.limit).toBe(200);
});

test('a temporary limit holds until its end, for keys without a limit of their own and for the ceiling', () => {
  const untilMs = 1_000_000;
  const company = { version: 1, limits: { read: 10 }, temporary: { untilMs, limits: { read: 700 } } };
  const at = (nowMs: number) => companyAt(company, nowMs);
  expect(keyLimits('read', key, at(untilMs - 1), limits)).toMatchObject({
    own: { limit: 700, untilMs },
    company: { limit: 14_000 },
  });
  const own = keyLimits('read', { ...key, limits: { read: 5 } }, at(untilMs - 1), limits).own;
  expect([own.limit, own.untilMs]).toEqual([5, undefined]);
  const after = keyLimits('read', key, at(untilMs), limits);
  expect([after.own.limit, after.own.untilMs, after.company!.limit]).toEqual([10, undefined, 200]);
});

/** Logs that make an owner, and then take an append and never answer. */
const silentQuorum: Quorum = {
  findOwner: (done) => done(null),
  claim: (_, done) => {
    const writer: LogWriter = { append: () => {}, release: () => {}, lost: () => false, stop: () => {} };
    queueMicrotask(() => done(writer));
  },
};

test('Requests beyond ten thousand fail at once while no log answers', async () => {
  const owner = await claimOwnership(silentQuorum, () => ({ close: async () => {} }));
  const count = () => owner.count(1, [7, 60, 1, 0], 500);
  const outcomes = { refused: 0, waiting: 0 };
  void count().catch(() => {});
  // The first is on its way to the logs.
  await new Promise(setImmediate);
  for (let n = 0; n < 10_100; n++) {
    const settled = await Promise.race([
      count().catch((error: unknown) => error),
      new Promise((resolve) => queueMicrotask(() => queueMicrotask(() => resolve(undefined)))),
    ]);
    if (settled === undefined) outcomes.waiting++;
    else if (settled instanceof LogsSilentError) outcomes.refused++;
  }
  expect(outcomes).toEqual({ refused: 100, waiting: 10_000 });
});

describe('counts', () => {
  const window = fc.integer({ min: 29_000_000, max: 29_000_003 });
  const taken = fc.array(fc.tuple(window, fc.nat(5)), { maxLength: 60 });
  const counted = (takes: readonly (readonly [number, number])[]): Counts => {
    const counts = createCounts();
    for (const [minute, slot] of takes) bump(counts, minute, slot);
    return counts;
  };
  /** Without a limit and without a company. @returns its position. */
  const bump = (counts: Counts, minute: number, slot: number): number =>
    countTakes(counts, createCounts(), minute, [slot, Number.MAX_SAFE_INTEGER, 1, 0])[0]!;
  const plain = (counts: Counts) =>
    [...counts]
      .flatMap(([minute, slots]) => [...slots].map(([slot, count]) => `${minute} ${slot} ${count}`))
      .toSorted();

  test('are numbered from one for each slot and window', () => {
    fc.assert(
      fc.property(taken, (takes) => {
        const counts = createCounts();
        const model = new Map<string, number>();
        for (const [minute, slot] of takes) {
          const expected = (model.get(`${minute} ${slot}`) ?? 0) + 1;
          model.set(`${minute} ${slot}`, expected);
          expect(bump(counts, minute, slot)).toBe(expected);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('are the same after totals in any order, read any number of times', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(taken, fc.boolean()), { maxLength: 6 }), fc.nat(), (parts, seed) => {
        const soFar: (readonly [number, number])[] = [];
        const written: Totals[] = [];
        for (const [takes, isWhole] of parts) {
          soFar.push(...takes);
          const changed = createCounts();
          const before = counted(soFar.slice(0, soFar.length - takes.length));
          for (const [minute, slot] of takes)
            countTakes(before, changed, minute, [slot, Number.MAX_SAFE_INTEGER, 1, 0]);
          written.push(JSON.parse(JSON.stringify(toTotals(isWhole ? before : changed))) as Totals);
        }
        const replayed = createCounts();
        const again = written.toSorted(
          (a, b) =>
            ((JSON.stringify(a).length * (seed + 7)) % 13) - ((JSON.stringify(b).length * (seed + 7)) % 13),
        );
        for (const totals of [...again, ...written]) mergeTotals(replayed, totals);
        expect(plain(replayed)).toEqual(plain(counted(soFar)));
      }),
      { numRuns: 200 },
    );
  });

  test('batched requests get the positions that they would get one by one', () => {
    const request = fc.record({ key: fc.nat(2), requests: fc.integer({ min: 1, max: 5 }) });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 20 }), fc.integer({ min: 1, max: 8 }), (requests, limit) => {
        const [together, alone] = [createCounts(), createCounts()];
        for (const { key, requests: n } of requests) {
          const ask = (counts: Counts, times: number) =>
            countTakes(counts, createCounts(), 1, [keySlot(key + 1, 'read'), limit, times, -8]);
          const [own, company] = ask(together, n) as [number, number];
          for (let after = 0; after < n; after++)
            expect(ask(alone, 1)).toEqual([
              own + after,
              company > 0 && own + after <= limit ? company + after : 0,
            ]);
        }
        expect(plain(together)).toEqual(plain(alone));
      }),
      { numRuns: 200 },
    );
  });

  test('the totals for the log are exactly those of what was counted', () => {
    const group = fc.tuple(fc.integer({ min: 4, max: 9 }), fc.nat(5), fc.integer({ min: 1, max: 9 }));
    fc.assert(
      fc.property(fc.array(group, { maxLength: 20 }), (groups) => {
        const [counts, changed] = [createCounts(), createCounts()];
        for (const [slot, limit, n] of groups) countTakes(counts, changed, 1, [slot, limit, n, -8]);
        expect(plain(changed)).toEqual(plain(counts));
      }),
      { numRuns: 200 },
    );
  });

  test('have a slot of their own for every bucket of a key and of a company, and every member', () => {
    const id = fc.integer({ min: 1, max: 2 ** 40 });
    const bucket = fc.constantFrom('read', 'write', 'admin', 'lookup' as const);
    const counter = fc.oneof(
      fc.tuple(fc.constant('key'), id, bucket),
      fc.tuple(fc.constant('company'), id, bucket),
      fc.tuple(fc.constant('member'), id, fc.constant('read' as const)),
    );
    type Counter = typeof counter extends fc.Arbitrary<infer One> ? One : never;
    const slot = ([kind, of, name]: Counter): number =>
      kind === 'key' ? keySlot(of, name) : kind === 'company' ? companySlot(of, name) : memberSlot(of);
    fc.assert(
      fc.property(counter, counter, (one, other) => {
        expect(slot(one)).not.toBe(0); // Which means "none".
        expect(slot(one) === slot(other)).toBe(one.join() === other.join());
      }),
      { numRuns: 300 },
    );
  });
});

test('a window is a minute: every time is in one, and before its end', () => {
  fc.assert(
    fc.property(fc.nat(4e12), (timeMs) => {
      const window = windowOf(timeMs);
      expect(windowEndSeconds(window) * 1000 - timeMs).toBeGreaterThan(0);
      expect(windowEndSeconds(window) * 1000 - timeMs).toBeLessThanOrEqual(60_000);
      expect(windowOf(windowEndSeconds(window) * 1000)).toBe(window + 1);
    }),
    { numRuns: 300 },
  );
});

test('the headers never report more than is left, nor less than zero', () => {
  const amount = fc.nat(2_000_000);
  fc.assert(
    fc.property(amount, amount, fc.nat(4e12), (limit, used, nowMs) => {
      const resetSeconds = windowEndSeconds(windowOf(nowMs));
      const verdict = { admitted: used <= limit, name: 'read' as const, limit, used, resetSeconds };
      const headers = Object.fromEntries(limitHeaders(verdict, nowMs));
      const remaining = Number(headers['X-RateLimit-Remaining']);
      expect(remaining).toBe(Math.max(0, limit - used));
      const [, left, seconds] = /^"read";r=(\d+);t=(\d+)$/.exec(headers.RateLimit!)!;
      expect(Number(left)).toBe(remaining);
      expect(Number(seconds) >= 1 && Number(seconds) <= 60).toBe(true);
    }),
    { numRuns: 300 },
  );
});
