import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstFreeId, maxCells } from './ids.ts';

test('the ids after a given one are in a block of the cell and above it, and no other cell gets that block', () => {
  const cell = fc.integer({ min: 0, max: maxCells - 1 });
  const table = fc.constantFrom('clients', 'companies');
  fc.assert(
    fc.property(table, cell, cell, fc.integer({ min: 0, max: 2 ** 52 }), (name, one, other, last) => {
      const size = name === 'companies' ? 1e6 : 1e12;
      const id = firstFreeId(name, one, last);
      expect(id).toBeGreaterThan(last);
      expect(Math.floor(id / size) % maxCells).toBe(one);
      expect(Math.floor(id / size) - Math.floor(last / size)).toBeLessThanOrEqual(maxCells);
      if (one !== other)
        expect(Math.floor(firstFreeId(name, other, last) / size)).not.toBe(Math.floor(id / size));
    }),
  );
});

test('a table that would leave the numbers of JSON is refused', () => {
  expect(() => firstFreeId('clients', 1, Number.MAX_SAFE_INTEGER)).toThrow('no ids left');
});
