import { expect, test } from 'vitest';
import {
  decodeDigests,
  digestGroups,
  digestTable,
  encodeDigests,
  groupDiffers,
  groupOf,
  toggleEntry,
} from './key-table-digest.ts';

const names = Array.from({ length: 2_000 }, (_, at) => `key.${at}`);
const table = (): [string, { version: number; active?: boolean }][] =>
  names.map((name, at) => [name, { version: 1 + (at % 7) }]);
const differing = (one: Uint32Array, other: Uint32Array): number[] =>
  Array.from({ length: digestGroups }, (_, group) => group).filter((group) =>
    groupDiffers(one, other, group),
  );

test('equal tables have equal digests, in any order of their entries', () => {
  expect(differing(digestTable(table()), digestTable(table().toReversed()))).toEqual([]);
});

test('another version, another name, a missing and a refused entry differ in their group alone', () => {
  const whole = digestTable(table());
  const changed = table();
  for (const [at, entry] of [{ version: 99 }, { version: 1, active: false }].entries()) {
    const [name, before] = changed[at]!;
    changed[at] = [name, entry];
    expect(differing(whole, digestTable(changed))).toEqual([groupOf(name)]);
    changed[at] = [name, before];
  }
  expect(differing(whole, digestTable(changed.slice(1)))).toEqual([groupOf(names[0]!)]);
  expect(differing(whole, digestTable([...changed, ['key.new', { version: 1 }]]))).toEqual([
    groupOf('key.new'),
  ]);
});

test('an entry is added to a digest and taken away again', () => {
  const digests = digestTable(table());
  toggleEntry(digests, names[3]!, { version: 4 });
  expect(differing(digests, digestTable(table()))).toEqual([groupOf(names[3]!)]);
  toggleEntry(digests, names[3]!, { version: 4 });
  expect(differing(digests, digestTable(table()))).toEqual([]);
});

test('digests survive their encoding, and other text is none', () => {
  const digests = digestTable(table());
  expect(decodeDigests(encodeDigests(digests))).toEqual(digests);
  for (const text of ['', 'abc', 7, null, undefined]) expect(decodeDigests(text)).toBeUndefined();
});

test('groups are about equally large', () => {
  const sizes = Map.groupBy(names, groupOf);
  expect(sizes.size).toBe(digestGroups);
  expect(Math.max(...[...sizes.values()].map(({ length }) => length))).toBeLessThan(30);
});
