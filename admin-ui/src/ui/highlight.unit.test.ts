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
    ['digits', '1'],
    ['exponents', '1e+-'],
    ['letters', 'x'],
    ['words', 'null'],
  ])('%s', (_, piece) => {
    for (const start of ['', '"', '{"a": "']) {
      const text = (start + piece.repeat(size)).slice(0, size);
      for (let turn = 0; turn < 2; turn++)
        expect(
          tokens(text)
            .map(([, part]) => part)
            .join('') === text,
        ).toBe(true);
    }
  });
});

test('colours keys, strings, numbers and literals of JSON', () => {
  expect(tokens('{"a": "x\\"y", "b" : [-1.5e3, true]}')).toEqual([
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

test('a text of over 60 000 characters stays plain', () => {
  const text = '"'.repeat(60_001);
  expect(tokens(text)).toEqual([['', text]]);
});
