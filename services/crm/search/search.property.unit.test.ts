import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { phoneDigits } from '../phones.ts';
import { fold } from './fold.ts';
import {
  alignGrams,
  buildPostings,
  chooseGrams,
  gramBytes,
  gramRange,
  gramsOfQuery,
  placesAmong,
  placesOf,
  type QueryGram,
} from './postings.ts';
import { contains, entryText, maxFieldCharacters, searchText, tailPlaces } from './text.ts';

const anyText = fc.string({ unit: unicode, maxLength: 30 });
/** Few letters, so that texts share many grams; of one, two, three and four bytes, and zero bytes after short ends. */
const letters = (maxLength: number, minLength = 0) =>
  fc.string({ unit: fc.constantFrom(...'aab@ .ñ한😀'), maxLength, minLength });

describe('the normalised form of a text', () => {
  test('does not change when normalised again, and has no capitals, accents, line breaks or outer blanks', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const plain = fold(text);
        expect(fold(plain)).toBe(plain);
        expect(plain).not.toMatch(/[\n\r\t\0]|^\s|\s$|\s\s/);
      }),
      { numRuns: 2000 },
    );
  });

  test('ignores case, and the Unicode form of accents', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aBçÉñÖůŻ ž'), maxLength: 20 }), (text) => {
        const plain = fold(text);
        expect(plain).toMatch(/^[a-z ]*$/);
        for (const other of [
          text.toUpperCase(),
          text.toLowerCase(),
          text.normalize('NFD'),
          text.normalize('NFKC'),
        ])
          expect(fold(other)).toBe(plain);
      }),
      { numRuns: 300 },
    );
  });

  test('contains the normalised form of any part of a name or an address', () => {
    const part = fc.tuple(anyText, anyText, anyText, fc.nat(30), fc.nat(30));
    fc.assert(
      fc.property(part, ([first_name, last_name, email, from, length]) => {
        const text = searchText({ first_name, last_name, email });
        for (const field of [text.name, text.email])
          expect(contains(text, [...field].slice(from, from + length).join(''))).toBe(true);
        expect(entryText(text).split('\n')).toHaveLength(3);
      }),
      { numRuns: 500 },
    );
  });

  test('keeps an entry of two fields within its bytes, however long the names', () => {
    fc.assert(
      fc.property(fc.constantFrom('\ufdfa', 'ﷺ', 'a', '한', '😀'), fc.nat(400), (letter, times) => {
        const text = entryText(searchText({ first_name: letter.repeat(times), last_name: 'x', email: 'y' }));
        expect(text.split('\n')).toHaveLength(3);
        expect(text.length).toBeLessThanOrEqual(2 * maxFieldCharacters + 2);
      }),
      { numRuns: 100 },
    );
  });
});

test('the digits of a phone number are kept, in reverse order, and end before an extension', () => {
  const part = (from: string, maxLength = 20) => fc.string({ unit: fc.constantFrom(...from), maxLength });
  const mark = fc.constantFrom('x', 'X', ' ext. ', '#', 'int', ';ext=', 'Extension ');
  const digitsOf = (text: string) =>
    [...text]
      .filter((one) => one >= '0' && one <= '9')
      .toReversed()
      .join('');
  fc.assert(
    fc.property(
      part('0123456789 +.-/٣'),
      part('123 -'),
      mark,
      part('0123x# '),
      (first, second, sign, last) => {
        const all = digitsOf(first + second);
        const phone = `${first}(0)${second}${sign}${last}`;
        expect(phoneDigits(phone)).toEqual({
          all: digitsOf(phone),
          dialled: digitsOf(first + second + last),
          main: all,
        });
        expect(phoneDigits(first)).toMatchObject({ all: digitsOf(first), main: digitsOf(first) });
      },
    ),
    { numRuns: 200 },
  );
});

describe('an index', () => {
  const entry = fc.record({ name: letters(12), email: letters(12) });
  const entries = fc.array(entry, { minLength: 1, maxLength: 40 });
  const indexOf = (all: readonly { name: string; email: string }[]) => {
    const texts = Buffer.from(all.map(entryText).join(''));
    const postings = new Map(buildPostings(texts).map(([gram, found]) => [gram.toString('hex'), found]));
    const occurrencesOf = ({ gram, offset }: QueryGram) => ({
      offset,
      occurrences: postings.get(gramBytes(gram).toString('hex')) ?? Buffer.alloc(0),
    });
    return { texts, postings, occurrencesOf };
  };
  const holdersOf = (all: readonly { name: string; email: string }[], query: string): readonly number[] =>
    all.flatMap(({ name, email }, at) => (name.includes(query) || email.includes(query) ? [at] : []));

  test('returns exactly the entries that contain a query, with grams that cover it', () => {
    fc.assert(
      fc.property(entries, letters(9, 1), fc.nat(1000), (some, query, seed) => {
        // An entry that differs from the query in one letter.
        const wrong = [...query].with(seed % [...query].length, 'z').join('');
        const all = [...some, { name: wrong, email: '' }];
        const { occurrencesOf } = indexOf(all);
        const grams = gramsOfQuery(Buffer.from(query));
        fc.pre(grams.length > 0);
        // The choice of grams leaves out no entry, whatever their weights.
        const chosen = chooseGrams(grams, ({ gram }) => ((gram % 97) * seed) % 89);
        const found = chosen.map(occurrencesOf);
        const offered = placesAmong(alignGrams(found));
        // In two steps, each with some of the grams.
        const early = seed % (found.length + 1);
        const inSteps =
          early > 0 ? alignGrams(found.slice(early), alignGrams(found.slice(0, early))) : alignGrams(found);
        expect(placesAmong(inSteps)).toEqual(offered);
        const holders = holdersOf(all, query);
        expect(offered).toEqual(expect.arrayContaining([...holders]));
        const covered = new Set(chosen.flatMap(({ offset }) => [offset, offset + 1, offset + 2]));
        if (covered.size === grams.length + 2) expect(offered).toEqual(holders);
        expect(chosen.length).toBeGreaterThan(0);
        expect(chosen.length).toBeLessThanOrEqual(4);
        // With equal weights it takes the fewest grams that cover the query, if four can.
        const fewest = chooseGrams(grams, () => 0);
        if (grams.length + 2 <= 11)
          expect(placesAmong(alignGrams(fewest.map(occurrencesOf)))).toEqual(holders);
      }),
      { numRuns: 500 },
    );
  });

  test('returns exactly the entries that contain one or two bytes, with the grams that begin with them', () => {
    fc.assert(
      fc.property(entries, letters(2, 1), (all, query) => {
        const bytes = Buffer.from(query);
        fc.pre(bytes.length <= 2);
        const [from, to] = gramRange(bytes).map((gram) => gram.toString('hex')) as [string, string];
        const found = [...indexOf(all).postings].filter(([gram]) => gram >= from && gram <= to);
        const places = new Set(found.flatMap(([, occurrences]) => placesOf(occurrences)));
        expect([...places].toSorted((a, b) => a - b)).toEqual(holdersOf(all, query));
      }),
      { numRuns: 200 },
    );
  });

  test('finds a gram at any distance between places', () => {
    const gap = fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 125, max: 130 }));
    fc.assert(
      fc.property(gap, gap, (first, second) => {
        const others = (count: number) => Array(count - 1).fill({ name: 'xx', email: 'x' });
        const one = { name: 'abc', email: '' };
        const { occurrencesOf } = indexOf([one, ...others(first), one, ...others(second), one]);
        const [gram] = gramsOfQuery(Buffer.from('abc'));
        expect(placesOf(occurrencesOf(gram!).occurrences)).toEqual([0, first, first + second]);
      }),
      { numRuns: 60 },
    );
  });

  test('finds the places of a gram in order, and entries without an index in the tail', () => {
    fc.assert(
      fc.property(entries, letters(6, 1), (all, query) => {
        const { texts, occurrencesOf } = indexOf(all);
        expect(tailPlaces(texts, Buffer.from(query)).toReversed()).toEqual(holdersOf(all, query));
        const [gram] = gramsOfQuery(Buffer.from(query));
        if (!gram) return;
        const places = placesOf(occurrencesOf(gram).occurrences);
        expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });
});
