import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { atTurnEnd, type BatchOptions, createBatch } from './batch.ts';
import { noMetrics } from './metrics.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('what waits for the end of a turn is called in one step, before what the first of it causes', async () => {
  const seen: string[] = [];
  for (const name of ['one', 'two'])
    atTurnEnd(() => {
      seen.push(name);
      queueMicrotask(() => seen.push(`after ${name}`));
      atTurnEnd(() => seen.push(`joined by ${name}`));
    });
  const step = ['one', 'two', 'joined by one', 'joined by two', 'after one', 'after two'];
  await new Promise(setImmediate);
  expect(seen).toEqual(step);
  atTurnEnd(() => seen.push('next turn'));
  await new Promise(setImmediate);
  expect(seen).toEqual([...step, 'next turn']);
});

const open = (options: Partial<BatchOptions<number>> = {}) => {
  const flushed: number[][] = [];
  const underWay: (() => void)[] = [];
  const batch = createBatch<number>({
    name: 'test',
    metrics: noMetrics,
    when: queueMicrotask,
    maxItems: 100,
    flush: (items) => {
      flushed.push([...items]);
      return new Promise<void>((resolve) => underWay.push(resolve));
    },
    ...options,
  });
  const add = (...items: number[]): boolean[] => items.map(batch.add);
  const endOne = async (): Promise<void> => {
    underWay.shift()!();
    await settle();
  };
  return { batch, add, flushed, endOne };
};

const atOnce = (due: () => void): void => due();

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await undefined;
};

test.each([
  ['throws', false],
  ['rejects', true],
])('a flush that %s fails its own items, never who adds, and stops no other flush', async (_, later) => {
  const flushed: number[][] = [];
  const failed: [readonly number[], string][] = [];
  const { batch, add } = open({
    when: atOnce,
    onFailed: (items, error) => failed.push([items, (error as Error).message]),
    flush: (items) => {
      const error = new Error('one');
      if (items.includes(1) && later) return Promise.reject(error);
      if (items.includes(1)) throw error;
      flushed.push([...items]);
    },
  });
  expect(add(1)).toEqual([true]);
  await settle();
  add(2);
  await settle();
  expect(failed).toEqual([[[1], 'one']]);
  expect(flushed).toEqual([[2]]);
  expect(batch.underWay()).toBe(0);
});

test('what throws at the end of a turn is reported, and the rest of the turn is done', async () => {
  const seen: string[] = [];
  const reported = new Promise((resolve) => {
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => {
      for (const one of others) process.on('uncaughtException', one);
      resolve(error.message);
    });
  });
  atTurnEnd(() => {
    throw new Error('first');
  });
  atTurnEnd(() => seen.push('second'));
  expect(await reported).toBe('first');
  expect(seen).toEqual(['second']);
});

test('no item is lost, doubled or out of order, bounds hold and a drain waits, whatever happens', async () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('add' as const), items: fc.integer({ min: 1, max: 12 }) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(60) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('allow' as const), items: fc.nat(8) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom('due' as const, 'flush' as const, 'take back' as const) }),
    },
  );
  const bounds = fc.record({
    maxItems: fc.integer({ min: 1, max: 8 }),
    maxBytes: fc.integer({ min: 1, max: 60 }),
    maxWaiting: fc.integer({ min: 1, max: 30 }),
    maxFlushes: fc.integer({ min: 1, max: 3 }),
    overlapAfterMs: fc.constantFrom(0, 25),
    mayOverlap: fc.func(fc.boolean()),
  });
  await fc.assert(
    fc.asyncProperty(
      bounds,
      fc.boolean(),
      fc.array(step, { maxLength: 60 }),
      async ({ maxBytes, ...bound }, sync, steps) => {
        const flushed: number[] = [];
        const running: (() => void)[] = [];
        const due: (() => void)[] = [];
        let accepted: number[] = [];
        let last = 0;
        let allowed = 8;
        const batch = createBatch<number>({
          name: 'model',
          metrics: noMetrics,
          ...bound,
          when: (callback) => void due.push(callback),
          bytes: { max: () => maxBytes, of: (item) => item % 20 },
          allowed: () => allowed,
          flush: (items) => {
            expect(items.length).toBeGreaterThan(0);
            expect(items.length).toBeLessThanOrEqual(Math.min(bound.maxItems, allowed));
            const bytes = items.reduce((sum, item) => sum + (item % 20), 0);
            expect(items.length === 1 || bytes <= maxBytes).toBe(true);
            flushed.push(...items);
            if (sync) return;
            return new Promise<void>((resolve) => {
              running.push(resolve);
              expect(running.length).toBeLessThanOrEqual(bound.maxFlushes);
            });
          },
        });
        for (const one of steps) {
          if (one.do === 'add')
            for (let count = 0; count < one.items; count++) {
              const full = batch.waiting() >= bound.maxWaiting;
              expect(batch.add(++last)).toBe(!full);
              if (!full) accepted.push(last);
            }
          else if (one.do === 'end') running.splice(one.which, 1)[0]?.();
          else if (one.do === 'pass') vi.advanceTimersByTime(one.ms);
          else if (one.do === 'allow') {
            allowed = one.items;
            batch.flush();
          } else if (one.do === 'flush') batch.flush();
          else if (one.do === 'due') due.shift()?.();
          else {
            const back = batch.takeBack();
            expect([...flushed, ...back]).toEqual(accepted);
            accepted = accepted.slice(0, accepted.length - back.length);
          }
          await settle();
          expect(due.length).toBeLessThanOrEqual(1);
          expect(batch.waiting()).toBeLessThanOrEqual(bound.maxWaiting);
          expect(flushed).toEqual(accepted.slice(0, flushed.length));
          expect(flushed.length + batch.waiting()).toBe(accepted.length);
          // A flush is scheduled for the waiting items, unless it is not allowed.
          if (batch.waiting() > 0 && running.length + due.length === 0) expect(allowed).toBe(0);
        }
        allowed = 8;
        const drained = vi.fn();
        void batch.drain().then(drained);
        await settle();
        while (running.length > 0) {
          expect(drained).not.toHaveBeenCalled();
          running.shift()!();
          await settle();
        }
        expect(drained).toHaveBeenCalled();
        expect(flushed).toEqual(accepted);
        expect(batch.underWay()).toBe(0);
      },
    ),
    { numRuns: 500 },
  );
});
