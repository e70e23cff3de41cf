import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPauses, createTurns } from './turns.ts';

test('long work of one company runs one after another, in order, and of another company beside it', async () => {
  const inTurn = createTurns();
  const ran: string[] = [];
  const work = (company: number, name: string) =>
    inTurn(company, Number.POSITIVE_INFINITY, async () => {
      ran.push(`${name} begins`);
      await nextTurn();
      ran.push(`${name} ends`);
      if (name === 'a') throw new Error('a failed');
      return name;
    });
  const all = await Promise.allSettled([work(1, 'a'), work(1, 'b'), work(1, 'c'), work(2, 'other')]);
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(ran.filter((one) => !one.startsWith('other'))).toEqual([
    ...['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'],
  ]);
  expect(ran.indexOf('other begins')).toBeLessThan(ran.indexOf('b begins'));
});

test('work that nobody waits for any more does not begin', async () => {
  const inTurn = createTurns();
  let begun = 0;
  const late = inTurn(1, performance.now() - 1, async () => begun++);
  await expect(late).rejects.toMatchObject({ code: 'timeout' });
  expect(begun).toBe(0);
  expect(await inTurn(1, Number.POSITIVE_INFINITY, async () => 'next')).toBe('next');
});

test('other work runs between the steps of long work, and short work is not interrupted', async () => {
  let turns = 0;
  const count = (): void => {
    turns++;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const pause = createPauses();
  for (let step = 0; step < 5; step++) {
    const endMs = performance.now() + 6;
    while (performance.now() < endMs);
    await pause();
  }
  clearImmediate(ticking);
  expect(turns).toBeGreaterThanOrEqual(4);
});
