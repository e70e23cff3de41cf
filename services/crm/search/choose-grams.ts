import type { QueryGram } from './postings.ts';

/**
 * Chooses the grams to look for. If at most `maxGrams` can cover every byte of the query (up to 11 bytes leave a
 * choice), it returns the cover with the fewest bytes to read; entries that have all of its grams at the right
 * distances contain the query. For a longer query, its rarest grams are selective enough.
 * @param weigh the bytes that a gram's occurrences take in a representative chunk.
 */
export const chooseGrams = (
  grams: readonly QueryGram[],
  weigh: (gram: QueryGram) => number,
): readonly QueryGram[] => {
  if (grams.length > 3 * (maxGrams - 1)) return rarest(grams, weigh);
  // The lightest cover that ends with each gram; the next gram begins at most three bytes later.
  const covers: Cover[] = [];
  for (const gram of grams) {
    const before = covers.slice(-3).sort((one, other) => one.weight - other.weight)[0];
    // Even a rare gram costs a lookup in each chunk.
    const weight = weigh(gram) + lookupBytes;
    covers.push({
      grams: gram.offset === 0 || !before ? [gram] : [...before.grams, gram],
      weight: gram.offset === 0 || !before ? weight : before.weight + weight,
    });
  }
  const cover = covers[covers.length - 1]?.grams ?? [];
  return cover.length <= maxGrams ? cover : rarest(grams, weigh);
};

/** Each gram costs one row per chunk. */
const maxGrams = 4;
const lookupBytes = 100;

interface Cover {
  readonly grams: readonly QueryGram[];
  readonly weight: number;
}

/** Distinct grams only: a repeated gram would narrow the search little. */
const rarest = (grams: readonly QueryGram[], weigh: (gram: QueryGram) => number): readonly QueryGram[] =>
  [...new Map(grams.map((one) => [one.gram, one])).values()]
    .sort((one, other) => weigh(one) - weigh(other))
    .slice(0, maxGrams);
