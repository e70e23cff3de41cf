import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CountError } from './counter.ts';
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
import {
  createLimiter,
  type Limiter,
  type Limits,
  limitHeaders,
  type Verdict,
  windowEndSeconds,
  windowOf,
} from './limiter.ts';
import { claimOwnership, MovedError, type Owner } from './owner.ts';
import { createQuorum, type Quorum } from './quorum.ts';
import { emptyStore, simulatedLog } from './testing/simulated-log.ts';

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

/** With the rules of the server. The run decides which answers are lost; their operations are done. */
const memoryLogs = (loses: () => boolean): Quorum => {
  const stores = [emptyStore(), emptyStore(), emptyStore()];
  const logs = stores.map((store, log) =>
    simulatedLog(
      log,
      () => store,
      ({ run, answer }) =>
        setImmediate(() => {
          const result = run();
          const lost = loses();
          setImmediate(() => answer(lost ? undefined : result));
        }),
    ),
  );
  let stored = 0;
  return createQuorum({
    logs,
    newStore: () => `store${++stored}`,
    after: (ms, then) => void setTimeout(then, ms / 50),
  });
};

type Step =
  | {
      readonly kind: 'take';
      readonly gateway: number;
      readonly key: number;
      readonly count: number;
      readonly limit: number;
    }
  | { readonly kind: 'claim' | 'release'; readonly gateway: number }
  | { readonly kind: 'settle' | 'minute' };
const gateway = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      gateway,
      key: fc.constantFrom(7, 8, 9),
      count: fc.integer({ min: 1, max: 6 }),
      limit: fc.constantFrom(3, 5, 8),
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({ kind: fc.constantFrom('claim' as const, 'release' as const), gateway }),
    weight: 2,
  },
  {
    arbitrary: fc.record({ kind: fc.constantFrom('settle' as const, 'settle' as const, 'minute' as const) }),
    weight: 2,
  },
);

interface Taken extends Verdict {
  readonly window: number;
  readonly key: number;
  readonly keyLimit: number;
}

const ceiling = 12;
const limitsOf = (key: number, limit: number): Limits => ({
  own: { name: 'read', slot: keySlot(key, 'read'), limit },
  company: { name: 'company-read', slot: companySlot(1, 'read'), limit: ceiling },
});

/** Each gateway knows the owner it last heard of; a gateway that finds none claims the counts. */
const run = async (steps: readonly Step[], losses: readonly boolean[]) => {
  let nowMs = Date.now();
  let lost = 0;
  const quorum = memoryLogs(() => losses[lost++ % losses.length] ?? false);
  const owners: (Owner | undefined)[] = [];
  let owner: Owner | undefined;
  const claim = async (at: number): Promise<void> => {
    const claimed = await claimOwnership(quorum, () => ({ close: async () => {} })).catch(() => undefined);
    if (claimed) {
      owner = claimed;
      owners[at] = claimed;
    }
  };
  const limiters: Limiter[] = [0, 1, 2].map((at) =>
    createLimiter(
      {
        // Acts like `createCounter` without a network: a batch that was not counted is sent to the next owner.
        count: async ({ window, slot, limit, companySlot: companys }) => {
          for (let tries = 0; tries < 4; tries++) {
            const asked = owners[at] ?? owner;
            if (!asked) {
              await claim(at);
              continue;
            }
            try {
              const [own, company] = await asked.count(window, [slot, limit, 1, companys], 60_000);
              return { own: own!, company: company! };
            } catch (error) {
              if (owner === asked) owner = undefined;
              owners[at] = undefined;
              expect(error).toBeInstanceOf(MovedError);
              // If the owner was fenced off meanwhile, the request may be in a log and is counted again.
              recounted++;
            }
          }
          throw new CountError('no owner');
        },
        read: async () => [],
        warm: async () => {},
        drain: async () => {},
      },
      () => nowMs,
    ),
  );
  const taken: Taken[] = [];
  let unknown = 0;
  let recounted = 0;
  let asked = 0;
  const all: Promise<void>[] = [];
  for (const one of steps) {
    if (one.kind === 'minute') nowMs += 60_000;
    if (one.kind === 'settle') await Promise.all(all);
    if (one.kind === 'claim') all.push(claim(one.gateway));
    if (one.kind === 'release') all.push(owners[one.gateway]?.release() ?? Promise.resolve());
    if (one.kind !== 'take') continue;
    for (let at = 0; at < one.count; at++) {
      const window = windowOf(nowMs);
      asked++;
      all.push(
        limiters[one.gateway]!.take(limitsOf(one.key, one.limit)).then(
          (verdict) => void taken.push({ ...verdict, window, key: one.key, keyLimit: one.limit }),
          (error: unknown) => {
            expect(error).toBeInstanceOf(CountError);
            unknown++;
          },
        ),
      );
    }
  }
  await Promise.all(all);
  return { taken, unknown, recounted, asked };
};

describe('gateways that count, claim and release in any order', () => {
  const steps = fc.array(step, { minLength: 3, maxLength: 25 });

  test('admit no request beyond a limit, and assign no position twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        async (order, losses) => {
          const { taken, unknown, asked } = await run(order, [...losses, false]);
          expect(taken.length + unknown).toBe(asked);
          for (const [, inWindow] of Map.groupBy(taken, ({ window }) => window)) {
            expect(inWindow.filter((one) => one.admitted).length).toBeLessThanOrEqual(ceiling);
            for (const [, ofKey] of Map.groupBy(inWindow, ({ key }) => key)) {
              const admitted = ofKey.filter((one) => one.admitted);
              expect(new Set(admitted.map(({ used }) => used)).size).toBe(admitted.length);
              for (const { used, keyLimit } of admitted) expect(used).toBeLessThanOrEqual(keyLimit);
              for (const limit of [3, 5, 8])
                expect(admitted.filter((one) => one.keyLimit === limit).length).toBeLessThanOrEqual(limit);
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('report exact usage while every answer arrives, to refused requests too', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(3, 5, 8), async (order, limit) => {
        const ofOneLimit = order.map((one) => (one.kind === 'take' ? { ...one, limit } : one));
        const { taken, unknown, recounted } = await run(ofOneLimit, [false]);
        for (const { used, limit: reached, admitted } of taken)
          if (!admitted) expect(used).toBeGreaterThan(reached);
        if (unknown + recounted > 0) return;
        const upTo = (last: number, first = 1) =>
          Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
        const positions = (some: readonly Taken[]) => some.map(({ used }) => used).toSorted((a, b) => a - b);
        for (const [, inWindow] of Map.groupBy(taken, ({ window }) => window)) {
          let within = 0;
          for (const [, ofKey] of Map.groupBy(inWindow, ({ key }) => key)) {
            within += Math.min(ofKey.length, limit);
            const refused = ofKey.filter(({ name, admitted }) => name === 'read' && !admitted);
            expect(positions(refused)).toEqual(upTo(ofKey.length, limit + 1));
          }
          expect(inWindow.filter((one) => one.admitted)).toHaveLength(Math.min(within, ceiling));
          const byCompany = inWindow.filter(({ name }) => name === 'company-read');
          expect(positions(byCompany)).toEqual(upTo(within, ceiling + 1));
        }
      }),
      { numRuns: 150 },
    );
  });
});
