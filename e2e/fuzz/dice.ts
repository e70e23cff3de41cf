import { createRandom } from '../../services/crm/demo/random.ts';

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
  const { next, pick } = createRandom(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick,
  };
};
