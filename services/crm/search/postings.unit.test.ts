import { expect, test } from 'vitest';
import {
  alignGrams,
  buildPostings,
  entriesPerChunk,
  gramBytes,
  gramsOfQuery,
  placesAmong,
  placesOf,
} from './postings.ts';
import { entryText } from './text.ts';

test('a full chunk of equal texts has every gram in every place', () => {
  const text = entryText({ name: 'ann lee', email: 'ann@example.com' });
  const postings = buildPostings(Buffer.from(text.repeat(entriesPerChunk)));
  for (const [, occurrences] of postings) expect(placesOf(occurrences)).toHaveLength(entriesPerChunk);
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
  expect(placesAmong(alignGrams(found))).toEqual([0]);
});
