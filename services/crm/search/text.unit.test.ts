import { describe, expect, test } from 'vitest';
import { contains, entryText, normalise, searchText } from './text.ts';

describe('normalise', () => {
  test.each([
    ['Smith', 'smith'],
    ['Żółć  Ångström', 'zolc angstrom'],
    ['José\tNúñez', 'jose nunez'],
    ['Straße', 'strasse'],
    ['Søren Østergård', 'soren ostergard'],
    ['İzmir', 'izmir'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['ﬁne ①', 'fine 1'],
    ['  a  ', 'a'],
    ['50%_\\', '50%_\\'],
  ])('%s becomes %s', (text, plain) => {
    expect(normalise(text)).toBe(plain);
  });

  test('composed and decomposed letters become equal', () => {
    expect(normalise('Zo\u00eb')).toBe(normalise('Zoe\u0308'));
  });

  test('normalising again changes nothing', () => {
    for (const text of ['Ǆ', 'ẞ', 'ﬃ', 'Ω', '½', 'Æsop', '한글']) {
      expect(normalise(normalise(text))).toBe(normalise(text));
    }
  });
});

describe('contains', () => {
  const ann = searchText({ first_name: 'Ann', last_name: 'Lee', email: 'box@example.com' });

  test('a match may span first and last name', () => {
    expect(contains(ann, 'nn le')).toBe(true);
  });

  test('a match may not span name and email', () => {
    expect(contains(ann, 'leebox')).toBe(false);
    expect(contains(ann, 'lee box')).toBe(false);
  });
});

test('an entry has two fields, however long its parts are', () => {
  const long = searchText({ first_name: '\ufdfa'.repeat(100), last_name: 'x', email: 'a@example.com' });
  const text = entryText(long);
  expect(text.split('\n')).toHaveLength(3);
  expect(Buffer.byteLength(text)).toBeLessThan(4096);
});
