import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGate, createRecentCounts } from './gate.ts';

/** A gate whose first caller stays inside until `open` is called, and the order in which the others had their turn. */
const crowdedGate = (maxWaiting: number, nowMs = () => 0) => {
  const gate = createGate({ atOnce: 1, maxPerKey: 8, maxWaiting }, createRecentCounts(nowMs));
  const turns: string[] = [];
  const run = (key: string, group?: string) =>
    gate
      .run(key, Number.POSITIVE_INFINITY, async () => void turns.push(key), group)
      .then(
        () => 'done',
        (error: unknown) => (error as { code: string }).code,
      );
  let open = (): void => {};
  const first = gate.run('first', Number.POSITIVE_INFINITY, () => new Promise<void>((done) => (open = done)));
  return {
    run,
    turns,
    open: async () => {
      await setImmediate();
      open();
      await first;
    },
  };
};

test('a network that has not tried lately comes before those that have, and drops one from a full queue', async () => {
  const { run, turns, open } = crowdedGate(4);
  const flood = ['a', 'b', 'a', 'b', 'a', 'b'].map((key) => run(key));
  const honest = run('honest');
  await open();
  expect(await honest).toBe('done');
  expect((await Promise.all(flood)).toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'done'),
    ...Array.from({ length: 3 }, () => 'service_unavailable'),
  ]);
  expect(turns).toEqual(['a', 'b', 'honest', 'a']);
});

test('beyond a bound, all networks of a group count as one', async () => {
  const { run, turns, open } = crowdedGate(64);
  const flood = Array.from({ length: 20 }, (_, at) => run(`site:${at}`, 'site'));
  const honest = run('honest', 'elsewhere');
  await open();
  await Promise.all([...flood, honest]);
  expect(turns.indexOf('honest')).toBe(17);
});

test('attempts are forgotten after at most twenty minutes', () => {
  let nowMs = 0;
  const { add } = createRecentCounts(() => nowMs);
  expect([add('a'), add('a'), add('b')]).toEqual([0, 1, 0]);
  nowMs = 10 * 60_000;
  expect(add('a')).toBe(2);
  nowMs = 20 * 60_000;
  expect(add('a')).toBe(1);
  nowMs = 60 * 60_000;
  expect([add('a'), add('b')]).toEqual([0, 0]);
});
