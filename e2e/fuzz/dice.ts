/**
 * Chance that can be repeated: the same seed gives the same throws. Not fast-check, because requests are made of what
 * earlier answers told: a case without the run before it is another case, and cannot be shrunk.
 */
export interface Dice {
  /** A whole number from 0 up to `limit`, without it. */
  below(limit: number): number;
  /** True once in `times`. */
  oneIn(times: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

export const createDice = (seed: number): Dice => {
  const random = seeded(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick: (values) => values[below(values.length)]!,
  };
};

/** A seeded random number generator (mulberry32), so that a failing run can be repeated. */
const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
