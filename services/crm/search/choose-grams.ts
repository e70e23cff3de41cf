import type { QueryGram } from './postings.ts';

/**
 * The grams to look for. Together they cover every byte of the query where that takes no more than
 * `maxGrams` and leaves a choice (up to 11 bytes), so that entries which have them all at the right distances do
 * contain it; of such covers, the one with the fewest bytes to read. A longer query is well enough told by its
 * rarest grams.
 * @param weigh the bytes that a gram's occurrences take, in a chunk that stands for all.
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
    // What a gram costs even where it hardly occurs: a look-up in each chunk.
    const weight = weigh(gram) + lookupBytes;
    covers.push({
      grams: gram.offset === 0 || !before ? [gram] : [...before.grams, gram],
      weight: gram.offset === 0 || !before ? weight : before.weight + weight,
    });
  }
  const cover = covers[covers.length - 1]?.grams ?? [];
  return cover.length <= maxGrams ? cover : rarest(grams, weigh);
};

/** Every one costs a row a chunk. */
const maxGrams = 4;
const lookupBytes = 100;

interface Cover {
  readonly grams: readonly QueryGram[];
  readonly weight: number;
}

/** Each gram once: the same one again would say little more. */
const rarest = (grams: readonly QueryGram[], weigh: (gram: QueryGram) => number): readonly QueryGram[] =>
  [...new Map(grams.map((one) => [one.gram, one])).values()]
    .sort((one, other) => weigh(one) - weigh(other))
    .slice(0, maxGrams);
