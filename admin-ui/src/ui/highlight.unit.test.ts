import { describe, expect, test } from 'vitest';
import { type Source, tokens } from './highlight.ts';

/** A text that counts how often a character of it is read. */
const counted = (text: string) => {
  let reads = 0;
  const source: Source = {
    length: text.length,
    charAt: (at) => {
      reads++;
      return text.charAt(at);
    },
    slice: (from, to) => {
      reads += (to ?? text.length) - (from ?? 0);
      return text.slice(from, to);
    },
  };
  return { source, reads: () => reads };
};
const readsOf = (text: string, language: 'json' | 'code'): number => {
  const { source, reads } = counted(text);
  const found = tokens(source, language);
  expect(found.map(([, part]) => part).join('')).toBe(text);
  return reads();
};

const size = 16_384;
const fill = (piece: string, length: number): string => piece.repeat(length / piece.length);

describe('A hostile body of 16 KB from a receiver is read a fixed number of times', () => {
  test.each([
    ['quotes that are escaped', '\\"'],
    ['quotes', '"'],
    ['an opening quote after another', '"\\'],
    ['strings and blanks', '""      '],
    ['blanks', ' '],
    ['apostrophes and backticks', "'`"],
    ['a backtick and a line', '`\\`\n'],
    ['escaped apostrophes', "\\'"],
    ['slashes', '//'],
    ['digits', '1'],
    ['exponents', '1e+-'],
    ['letters', 'x'],
    ['words', 'null'],
  ])('%s', (_, piece) => {
    for (const language of ['json', 'code'] as const)
      for (const start of ['', '"', '`', '{"a": "']) {
        const once = readsOf(start + fill(piece, size), language);
        expect(once).toBeLessThan(40 * size);
        const twice = readsOf(start + fill(piece, 2 * size), language);
        expect(twice).toBeLessThan(2.1 * once + 1000);
      }
  });
});

test('colours keys, strings, numbers and literals of JSON', () => {
  expect(tokens('{"a": "x\\"y", "b" : [-1.5e3, true]}', 'json')).toEqual([
    ['', '{'],
    ['key', '"a"'],
    ['', ': '],
    ['string', '"x\\"y"'],
    ['', ', '],
    ['key', '"b"'],
    ['', ' : [-'],
    ['literal', '1.5e3'],
    ['', ', '],
    ['literal', 'true'],
    ['', ']}'],
  ]);
});

test('colours keywords, strings, numbers and comments of code', () => {
  expect(tokens("const a = 'b'; // it's 1\nreturn x1 + 12", 'code')).toEqual([
    ['keyword', 'const'],
    ['', ' a = '],
    ['string', "'b'"],
    ['', '; '],
    ['comment', "// it's 1"],
    ['', '\n'],
    ['keyword', 'return'],
    ['', ' x1 + '],
    ['literal', '12'],
  ]);
});

test('a text of over 60 000 characters stays plain', () => {
  const text = '"'.repeat(60_001);
  expect(tokens(text, 'json')).toEqual([['', text]]);
});

test('the slashes of a URL begin no comment', () => {
  expect(tokens('curl https://crm.example/api // why', 'code')).toEqual([
    ['', 'curl https://crm.example/api '],
    ['comment', '// why'],
  ]);
});
