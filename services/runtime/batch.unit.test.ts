import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { after, atTurnEnd, type BatchOptions, createBatch } from './batch.ts';
import { createMetrics, noMetrics } from './metrics.ts';

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

describe('a batch becomes due', () => {
  test('at the end of the tick', async () => {
    const { add, flushed } = open();
    add(1, 2, 3);
    expect(flushed).toEqual([]);
    await settle();
    expect(flushed).toEqual([[1, 2, 3]]);
  });

  test('after some time, counted from its first item', () => {
    const { add, flushed } = open({ when: after(50) });
    add(1);
    vi.advanceTimersByTime(40);
    add(2);
    vi.advanceTimersByTime(9);
    expect(flushed).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(flushed).toEqual([[1, 2]]);
  });

  test('when the previous flush has ended', async () => {
    const onFlushed = vi.fn();
    const { batch, add, flushed, endOne } = open({ when: atOnce, onFlushed });
    add(1, 2, 3);
    expect(flushed).toEqual([[1]]);
    expect([batch.waiting(), batch.underWay()]).toEqual([2, 1]);
    expect(onFlushed).not.toHaveBeenCalled();
    await endOne();
    expect(flushed).toEqual([[1], [2, 3]]);
    expect(onFlushed).toHaveBeenCalledOnce();
  });

  test('when it is full, before its time', () => {
    const { add, flushed } = open({ when: after(50), maxItems: 2 });
    add(1, 2, 3);
    expect(flushed).toEqual([[1, 2]]);
  });

  test('when told to flush', () => {
    const { batch, add, flushed } = open({ when: after(50) });
    add(1);
    batch.flush();
    expect(flushed).toEqual([[1]]);
  });
});

test('what is added during a flush waits for its own time', async () => {
  const { add, flushed, endOne } = open({ when: after(50) });
  add(1);
  vi.advanceTimersByTime(50);
  add(2);
  await endOne();
  expect(flushed).toEqual([[1]]);
  vi.advanceTimersByTime(50);
  expect(flushed).toEqual([[1], [2]]);
});

test('a second flush starts beside a slow one, and no third', () => {
  const { add, flushed } = open({ when: atOnce, maxFlushes: 2, overlapAfterMs: 50 });
  add(1, 2);
  vi.advanceTimersByTime(49);
  expect(flushed).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  expect(flushed).toEqual([[1], [2]]);
  add(3);
  vi.advanceTimersByTime(500);
  expect(flushed).toHaveLength(2);
});

test('a second flush starts at once when it is full and may', () => {
  const mayOverlap = (next: readonly number[]) => !next.includes(2);
  const { add, flushed } = open({ when: atOnce, maxItems: 3, maxFlushes: 2, overlapAfterMs: 50, mayOverlap });
  add(1, 3, 4);
  expect(flushed).toEqual([[1]]);
  add(5, 6, 2, 7);
  expect(flushed).toEqual([[1], [3, 4, 5]]);
  vi.advanceTimersByTime(500);
  expect(flushed).toHaveLength(2);
});

test('a full flush that may not start beside another waits for its time', () => {
  const mayOverlap = () => false;
  const { add, flushed } = open({ when: atOnce, maxItems: 3, maxFlushes: 2, overlapAfterMs: 50, mayOverlap });
  add(1, 2, 3, 4, 5);
  vi.advanceTimersByTime(49);
  expect(flushed).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  expect(flushed).toEqual([[1], [2, 3, 4]]);
});

test('an item larger than the bytes of a flush goes alone', async () => {
  const { add, flushed } = open({ bytes: { max: () => 10, of: (item) => item }, maxFlushes: 9 });
  add(4, 6, 1, 30, 10);
  await settle();
  expect(flushed).toEqual([[4, 6], [1], [30], [10]]);
});

test('no more is flushed than allowed, until the batch is told that more is allowed', async () => {
  let allowed = 0;
  const { batch, add, flushed } = open({ allowed: () => allowed, maxFlushes: 9 });
  add(1, 2, 3);
  await settle();
  expect(flushed).toEqual([]);
  await batch.drain();
  expect(batch.waiting()).toBe(3);
  allowed = 2;
  batch.flush();
  expect(flushed).toEqual([[1, 2], [3]]);
});

test('a full batch refuses items', () => {
  const { add } = open({ when: atOnce, maxWaiting: 2 });
  expect(add(1, 2, 3, 4)).toEqual([true, true, true, false]);
});

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

test('withdrawn items are not flushed', async () => {
  const { batch, add, flushed } = open();
  add(1, 2);
  expect(batch.takeBack()).toEqual([1, 2]);
  await settle();
  expect(flushed).toEqual([]);
});

test('batches of one name are counted together', async () => {
  const metrics = createMetrics();
  const options = { metrics, when: atOnce };
  for (const items of [[1, 2], [1], [1, 2, 3]]) open(options).add(...items);
  const text = await metrics.registry.metrics();
  expect(text).toContain('batch_flushes_total{batch="test"} 3');
  expect(text).toContain('batch_items_total{batch="test"} 3');
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
