import { describe, expect, test } from 'vitest';
import { createRandom } from '../demo/random.ts';
import {
  buildPostings,
  chooseGrams,
  createAligner,
  entriesPerChunk,
  gramBytes,
  gramRange,
  gramsOfQuery,
  placesOf,
  type QueryGram,
} from './postings.ts';
import { entryText, tailPlaces } from './text.ts';

const align = createAligner();

/** A small alphabet, so that texts share many grams; letters of one, two, three and four bytes. */
const randomTexts = (seed: number) => {
  const random = createRandom(seed);
  const word = () =>
    Array.from({ length: random.integer(1, 8) }, () => random.pick([...'abc@ .ñ한😀'])).join('');
  return Array.from({ length: 300 }, () => ({ name: word(), email: word() }));
};

describe('an index of random texts', () => {
  const entries = randomTexts(7);
  const texts = Buffer.from(entries.map(entryText).join(''));
  const postings = new Map(buildPostings(texts).map(([gram, places]) => [gram.toString('latin1'), places]));
  const random = createRandom(11);
  const queries = Array.from({ length: 500 }, () => {
    const { name, email } = random.pick(entries);
    const letters = [...random.pick([name, email])];
    const from = random.integer(0, letters.length - 1);
    return letters.slice(from, from + random.integer(1, 6)).join('');
  });
  const holders = (query: string) =>
    entries.flatMap(({ name, email }, at) => (name.includes(query) || email.includes(query) ? [at] : []));

  const occurrencesOf = ({ gram, offset }: QueryGram) => ({
    offset,
    occurrences: postings.get(gramBytes(gram).toString('latin1')) ?? Buffer.alloc(0),
  });

  test('returns exactly the entries that contain a query of three bytes or more, with all of its grams', () => {
    for (const query of queries) {
      const grams = gramsOfQuery(Buffer.from(query));
      if (grams.length > 0) expect(align(grams.map(occurrencesOf))).toEqual(holders(query));
    }
  });

  test('returns all of them, and for a short query no others, with the chosen grams', () => {
    for (const query of queries) {
      const grams = gramsOfQuery(Buffer.from(query));
      if (grams.length === 0) continue;
      const chosen = chooseGrams(grams, (gram) => occurrencesOf(gram).occurrences.length);
      expect(chosen.length).toBeLessThanOrEqual(4);
      const offered = align(chosen.map(occurrencesOf));
      expect(offered).toEqual(expect.arrayContaining(holders(query)));
      if (query.length <= 8 && Buffer.byteLength(query) <= 8) expect(offered).toEqual(holders(query));
    }
  });

  test('returns exactly the entries that contain a query of one or two bytes', () => {
    for (const query of queries) {
      const bytes = Buffer.from(query);
      if (bytes.length > 2) continue;
      const [from, to] = gramRange(bytes).map((gram) => gram.toString('latin1')) as [string, string];
      const sets = [...postings].filter(([gram]) => gram >= from && gram <= to).map(([, places]) => places);
      const offered = new Set(sets.flatMap(placesOf));
      expect([...offered].sort((one, other) => one - other)).toEqual(holders(query));
    }
  });

  test('finds in the tail exactly the entries that contain the query, the last first', () => {
    for (const query of queries) {
      expect(tailPlaces(texts, Buffer.from(query))).toEqual(holders(query).reverse());
    }
  });
});

test('a full chunk of equal texts has every gram in every place', () => {
  const text = entryText({ name: 'ann lee', email: 'ann@example.com' });
  const postings = buildPostings(Buffer.from(text.repeat(entriesPerChunk)));
  for (const [, occurrences] of postings) expect(placesOf(occurrences)).toHaveLength(entriesPerChunk);
});

test('grams that lie far apart in a chunk are found', () => {
  const texts = Array.from({ length: entriesPerChunk }, (_, at) =>
    entryText({ name: at % 1000 === 999 ? 'xyz' : 'abc', email: '' }),
  );
  const [, last] = buildPostings(Buffer.from(texts.join(''))).find(([gram]) =>
    gram.equals(Buffer.from('xyz')),
  )!;
  expect(placesOf(last)).toEqual([999, 1999, 2999, 3999]);
});

test('a text of more than 256 bytes is found by its end', () => {
  const name = `${'ab'.repeat(140)}end`;
  const postings = new Map(
    buildPostings(Buffer.from(entryText({ name, email: '' }))).map(([gram, occurrences]) => [
      gram.toString(),
      occurrences,
    ]),
  );
  const grams = gramsOfQuery(Buffer.from(name.slice(-20)));
  const found = grams.map(({ gram, offset }) => ({
    offset,
    occurrences: postings.get(gramBytes(gram).toString())!,
  }));
  expect(align(found)).toEqual([0]);
});
