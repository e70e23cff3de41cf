import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CountError } from './counter.ts';
import {
  applyDeltas,
  bump,
  type Counts,
  createCounts,
  type Deltas,
  partitionOf,
  slotOf,
  toDeltas,
} from './counts.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { FencedError, type LimitLog } from './log.ts';
import { claimPartition, MovedError, type Partition } from './partition.ts';
import { limitHeaders } from './policy.ts';
import { windowEndSeconds, windowOf } from './window.ts';

describe('counts', () => {
  const window = fc.integer({ min: 29_000_000, max: 29_000_003 });
  const taken = fc.array(fc.tuple(window, fc.nat(5)), { maxLength: 60 });
  const counted = (takes: readonly (readonly [number, number])[]): Counts => {
    const counts = createCounts();
    for (const [minute, slot] of takes) bump(counts, minute, slot);
    return counts;
  };
  const plain = (counts: Counts) =>
    [...counts]
      .flatMap(([minute, slots]) => [...slots].map(([slot, count]) => `${minute} ${slot} ${count}`))
      .toSorted();

  test('number the requests of a slot in a window from one', () => {
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

  test('are the same after any number of logs and snapshots, in the form in which they are written', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(taken, fc.boolean()), { maxLength: 6 }), (parts) => {
        const replayed = createCounts();
        const whole = counted(parts.flatMap(([takes]) => takes));
        const soFar: (readonly [number, number])[] = [];
        for (const [takes, isSnapshot] of parts) {
          soFar.push(...takes);
          const entry = isSnapshot
            ? { counts: toDeltas(counted(soFar)), snapshot: true as const }
            : { counts: toDeltas(counted(takes)) };
          applyDeltas(replayed, JSON.parse(JSON.stringify(entry)) as { counts: Deltas; snapshot?: true });
        }
        expect(plain(replayed)).toEqual(plain(whole));
      }),
      { numRuns: 200 },
    );
  });

  test('have a slot of its own for every key and bucket, and one partition for all of a key', () => {
    const key = fc.nat(2 ** 40);
    const bucket = fc.constantFrom('read', 'write', 'admin', 'lookup' as const);
    fc.assert(
      fc.property(
        key,
        bucket,
        key,
        bucket,
        fc.integer({ min: 1, max: 64 }),
        (a, one, b, other, partitions) => {
          expect(slotOf(a, one) === slotOf(b, other)).toBe(a === b && one === other);
          const partition = partitionOf(slotOf(a, one), partitions);
          expect(partitionOf(slotOf(a, other), partitions)).toBe(partition);
          expect(partition >= 0 && partition < partitions).toBe(true);
        },
      ),
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

test('the headers never tell of more than is left, nor of less than nothing', () => {
  const amount = fc.nat(2_000_000);
  fc.assert(
    fc.property(amount, amount, fc.nat(4e12), (limit, used, nowMs) => {
      const resetSeconds = windowEndSeconds(windowOf(nowMs));
      const verdict = { admitted: used <= limit, limit, used, resetSeconds };
      const headers = Object.fromEntries(limitHeaders('read', verdict, nowMs));
      const remaining = Number(headers['X-RateLimit-Remaining']);
      expect(remaining).toBe(Math.max(0, limit - used));
      const [, left, seconds] = /^"read";r=(\d+);t=(\d+)$/.exec(headers.RateLimit!)!;
      expect(Number(left)).toBe(remaining);
      expect(Number(seconds) >= 1 && Number(seconds) <= 60).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/**
 * The partition logs as the server keeps them, in memory: a message follows only the one it names. What the
 * network may do is decided by the run: an answer that is lost leaves its message stored.
 */
const memoryLog = (loses: () => boolean): LimitLog => {
  let sequence = 0;
  let last = 0;
  let epoch: string | null = null;
  let entries: { counts: Deltas; snapshot?: true }[] = [];
  return {
    tail: async () => ({ sequence: last, epoch }),
    replay: async () => {
      const counts = createCounts();
      for (const entry of entries) applyDeltas(counts, entry);
      return { tail: { sequence: last, epoch }, counts };
    },
    append: async (_, entry, expected) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (expected !== last) throw new FencedError('moved on');
      sequence += 1;
      last = sequence;
      epoch = entry.epoch;
      const stored = JSON.parse(JSON.stringify(entry)) as (typeof entries)[number];
      entries = stored.snapshot ? [stored] : [...entries, stored];
      await new Promise((resolve) => setImmediate(resolve));
      if (loses()) throw new Error('no answer');
      return sequence;
    },
  };
};

/** A step of a run: somebody takes requests, somebody claims the partition, the owner lets go, all settles, time goes on. */
type Step =
  | { readonly kind: 'take'; readonly gateway: number; readonly count: number; readonly limit: number }
  | { readonly kind: 'claim' | 'release'; readonly gateway: number }
  | { readonly kind: 'settle' | 'minute' };
const gateway = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      gateway,
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

interface Taken {
  readonly window: number;
  readonly limit: number;
  readonly used: number;
  readonly admitted: boolean;
}

/** Gateways that each believe what they last heard of the owner; whoever finds none claims the partition. */
const run = async (steps: readonly Step[], losses: readonly boolean[]) => {
  let nowMs = Date.now();
  let lost = 0;
  const log = memoryLog(() => losses[lost++ % losses.length] ?? false);
  const owners: (Partition | undefined)[] = [];
  let owner: Partition | undefined;
  const claim = async (at: number): Promise<void> => {
    const claimed = await claimPartition(log, 0, () => ({ close: async () => {} })).catch(() => undefined);
    if (claimed) {
      owner = claimed;
      owners[at] = claimed;
    }
  };
  const limiters: Limiter[] = [0, 1, 2].map((at) =>
    createLimiter(
      {
        // What `createCounter` does without a network: a batch that was not counted is sent to the next owner.
        count: async (window, slot) => {
          for (let tries = 0; tries < 4; tries++) {
            const asked = owners[at] ?? owner;
            if (!asked) {
              await claim(at);
              continue;
            }
            try {
              return (await asked.count(window, [slot]))[0]!;
            } catch (error) {
              if (owner === asked) owner = undefined;
              owners[at] = undefined;
              if (!(error instanceof MovedError)) throw new CountError('unknown', { cause: error });
            }
          }
          throw new CountError('no owner');
        },
        warm: async () => {},
        drain: async () => {},
      },
      () => nowMs,
    ),
  );
  const taken: Taken[] = [];
  let unknown = 0;
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
        Promise.resolve(limiters[one.gateway]!.take(7, 'read', one.limit)).then(
          ({ used, admitted }) => void taken.push({ window, limit: one.limit, used, admitted }),
          (error: unknown) => {
            expect(error).toBeInstanceOf(CountError);
            unknown++;
          },
        ),
      );
    }
  }
  await Promise.all(all);
  return { taken, unknown, asked };
};

describe('whatever gateways take, claim and let go of, in whatever order', () => {
  const steps = fc.array(step, { minLength: 3, maxLength: 25 });

  test('nobody is let in beyond a limit, and no position is given out twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        async (order, losses) => {
          const { taken, unknown, asked } = await run(order, [...losses, false]);
          expect(taken.length + unknown).toBe(asked);
          for (const [, inWindow] of Map.groupBy(taken, ({ window }) => window)) {
            const admitted = inWindow.filter((one) => one.admitted);
            expect(new Set(admitted.map(({ used }) => used)).size).toBe(admitted.length);
            for (const { used, limit } of admitted) expect(used).toBeLessThanOrEqual(limit);
            for (const limit of [3, 5, 8])
              expect(admitted.filter((one) => one.limit === limit).length).toBeLessThanOrEqual(limit);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('nobody is refused below the limit while every answer arrives', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (order) => {
        const { taken, unknown } = await run(order, [false]);
        for (const { used, limit, admitted } of taken) if (!admitted) expect(used).toBeGreaterThan(limit);
        if (unknown > 0) return;
        for (const [, inWindow] of Map.groupBy(taken, ({ window }) => window)) {
          // Of one limit alone, exactly so many get in as it allows.
          const [first] = inWindow;
          if (!inWindow.every(({ limit }) => limit === first!.limit)) continue;
          const admitted = inWindow.filter((one) => one.admitted).length;
          expect(admitted).toBe(Math.min(inWindow.length, first!.limit));
        }
      }),
      { numRuns: 150 },
    );
  });
});
