import { describe, expect, test } from 'vitest';
import { tokens } from './highlight.ts';

const size = 60_000;

// Reading on from every quote would exceed the limit of a test many times over.
describe('A hostile body from a receiver is read once', () => {
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
        const text = (start + piece.repeat(size)).slice(0, size);
        for (let turn = 0; turn < 2; turn++)
          expect(
            tokens(text, language)
              .map(([, part]) => part)
              .join('') === text,
          ).toBe(true);
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
