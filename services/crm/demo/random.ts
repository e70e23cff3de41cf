/** Repeatable randomness for demo data: the same seed gives the same people. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  integer(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** Like `pick`, but the first items are far more likely, as with real names. */
  pickSkewed<Item>(items: readonly Item[]): Item;
}

/** The mulberry32 generator. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pickAt = <Item>(items: readonly Item[], share: number): Item =>
    items[Math.floor(share * items.length)]!;
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (items) => pickAt(items, next()),
    pickSkewed: (items) => pickAt(items, next() ** 2),
  };
};
