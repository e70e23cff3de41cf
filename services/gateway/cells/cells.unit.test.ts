import { type CompanyEntry, Problem } from '@causeway/proto';
import { parseConfig } from '@causeway/runtime';
import { describe, expect, test } from 'vitest';
import { routeToCells } from './cells.ts';
import { type CellSetting, cells } from './setting.ts';

const read = (text: string): readonly CellSetting[] => parseConfig({ CELLS: cells() }, { CELLS: text }).CELLS;

describe('CELLS', () => {
  test('names the companies and servers of each cell', () => {
    expect(
      read(
        'north 1-999,5000-5999 nats://a:p%3Bq@n1:4222,nats://n2:4222; south 1000-1999,17,18 nats://s1:4222',
      ),
    ).toEqual([
      {
        name: 'north',
        url: 'nats://a:p%3Bq@n1:4222,nats://n2:4222',
        ranges: [
          { first: 1, last: 999 },
          { first: 5000, last: 5999 },
        ],
        companies: [],
      },
      { name: 'south', url: 'nats://s1:4222', ranges: [{ first: 1000, last: 1999 }], companies: [17, 18] },
    ]);
  });

  test.each([
    ['north 1-999', 'each a name, its companies'],
    ['north 0-9 nats://a:4222', 'each a name, its companies'],
    ['north 9-1 nats://a:4222', 'each a name, its companies'],
    ['north all nats://a:4222', 'each a name, its companies'],
    ['north 1-9 http://a:4222', 'each a name, its companies'],
    ['north 1-9 nats://a:4222;', 'each a name, its companies'],
    ['north 1-9 nats://a:4222;north 10-19 nats://b:4222', 'two cells of one name'],
    ['north 1-9 nats://a:4222;south 9-19 nats://b:4222', 'ranges that overlap'],
    ['north 1-9,17 nats://a:4222;south 17,20-29 nats://b:4222', 'names a company twice'],
  ])('refuses %s', (text, reason) => {
    expect(() => read(text)).toThrow(reason);
    expect(() => read(text)).not.toThrow('4222');
  });
});

describe('the cell of a company', () => {
  const settings = read('north 1-999 nats://a:4222;south 1000-1999,17,5000 nats://b:4222');
  type Entries = Readonly<Record<number, CompanyEntry>>;
  const cell = (name: string, entries: Entries = {}) => ({
    name,
    table: { company: (id: number) => entries[id] },
  });
  const open = { version: 1 };
  const closed = { version: 2, closed: true } as const;
  const nameOf = (north: Entries | undefined, south: Entries | undefined, company: number) =>
    routeToCells(settings, [north && cell('north', north), south && cell('south', south)])(company)?.name;

  test('is the one of its range, or the one that names it', () => {
    expect([1, 999, 1000, 1999, 5000].map((company) => nameOf({}, {}, company))).toEqual([
      'north',
      'north',
      'south',
      'south',
      'south',
    ]);
    expect(nameOf({}, {}, 2000)).toBeUndefined();
  });

  test('is where a moving company is open, and otherwise the old one, which says that it moves', () => {
    expect(nameOf({ 17: open }, {}, 17)).toBe('north');
    expect(nameOf({ 17: closed }, {}, 17)).toBe('north');
    expect(nameOf({ 17: closed }, { 17: closed }, 17)).toBe('north');
    expect(nameOf({ 17: closed }, { 17: open }, 17)).toBe('south');
    expect(nameOf({}, { 17: open }, 17)).toBe('south');
  });

  test('is not guessed while a cell that may have the company was not reached', () => {
    expect(() => nameOf({}, undefined, 1000)).toThrow(Problem);
    expect(nameOf({ 1: open }, undefined, 1)).toBe('north');
    // Moved: in the old cell its keys may be gone, which would read as revoked.
    expect(() => nameOf({ 17: closed }, undefined, 17)).toThrow(Problem);
    expect(nameOf({ 17: open }, undefined, 17)).toBe('north');
    expect(nameOf(undefined, { 17: open }, 17)).toBe('south');
  });
});
