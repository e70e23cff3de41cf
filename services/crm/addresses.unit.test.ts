import { expect, test } from 'vitest';
import { foldedAddress } from './addresses.ts';

test('an address is folded as Unicode folds single letters, and in no other way', () => {
  const letters = Array.from({ length: 0x20000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point > 0xdfff)
    .map((point) => String.fromCodePoint(point))
    .filter((letter) => /[\p{L}\p{M}\p{N}\p{S}]/u.test(letter) && letter.normalize('NFC') === letter);
  const hasCase = (letter: string) => letter.toLowerCase() !== letter || letter.toUpperCase() !== letter;
  const changed = letters.filter((letter) => !hasCase(letter) && foldedAddress(letter) !== letter);
  expect(changed).toEqual([]);
  const withCase = letters.filter(hasCase);
  const all = withCase.join('');
  // With these flags, a regular expression compares by simple case folding.
  const classes = [...Map.groupBy(withCase, foldedAddress)];
  const wrong = classes.filter(
    ([folded, same]) => all.match(new RegExp(folded, 'giu'))?.join() !== same.join(),
  );
  expect(wrong).toEqual([]);
});
