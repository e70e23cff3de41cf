import { expect, test } from 'vitest';
import { createShares, type Shares } from './shares.ts';

const fill = (shares: Shares, companies: readonly number[]): Map<number, number> => {
  const got = new Map<number, number>();
  for (let moved = true; moved; ) {
    moved = false;
    for (const company of companies) {
      if (!shares.mayTake(company)) continue;
      shares.take(company);
      got.set(company, (got.get(company) ?? 0) + 1);
      moved = true;
    }
  }
  return got;
};

test.each([
  [1, 128],
  [2, 86],
  [7, 32],
])(
  '%i companies that take all they can get at most %i of 256 each, and leave as many free',
  (companies, each) => {
    const shares = createShares(256);
    const ids = Array.from({ length: companies }, (_, at) => at + 1);
    const got = fill(shares, ids);
    for (const count of got.values()) expect(count).toBeLessThanOrEqual(each);
    expect(shares.free()).toBeGreaterThanOrEqual(each - companies);
    expect(shares.full().toSorted((a, b) => a - b)).toEqual(ids);
    // A new company gets its part without waiting for the others.
    expect(shares.mayTake(99)).toBe(true);
  },
);

test('places that one company gives back are free for companies with fewer', () => {
  const shares = createShares(12);
  fill(shares, [1]);
  expect([shares.taken(), shares.full()]).toEqual([6, [1]]);
  shares.take(2, 3);
  shares.giveBack(1, 4);
  expect(shares.full()).toEqual([]);
  shares.giveBack(1, 2);
  shares.giveBack(2, 3);
  expect([shares.taken(), shares.free()]).toEqual([0, 12]);
});
