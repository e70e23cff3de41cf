import { describe, expect, test } from 'vitest';
import { contains, normalise, searchText } from './text.ts';

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
