import { createCipheriv, randomBytes } from 'node:crypto';
import { Problem } from '@causeway/proto';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCursors } from './cursors.ts';

const lists = { up: 1, down: 1, pairs: 2, places: 3 } as const;
type List = keyof typeof lists;
const openWith = (...keys: Buffer[]) => createCursors(lists, async () => keys);
const key = randomBytes(32);
const cursors = openWith(key);

const company = fc.integer({ min: 1, max: 2 ** 48 });
const place = fc
  .constantFrom(...(Object.keys(lists) as List[]))
  .chain((list) =>
    fc.tuple(
      fc.constant(list),
      fc.array(fc.maxSafeNat(), { minLength: lists[list], maxLength: lists[list] }),
    ),
  );

const opened = async (companyId: number, list: List, cursor: string, by = cursors) => {
  try {
    return await by.open(companyId, list, cursor);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_request') return error.publicMessage;
    throw error;
  }
};

test('a cursor decodes to its position', async () => {
  await fc.assert(
    fc.asyncProperty(company, place, async (id, [list, at]) => {
      const cursor = await cursors.seal(id, list, ...at);
      expect(await opened(id, list, cursor)).toEqual(at);
      // In the format of the query parameter.
      expect(cursor).toMatch(/^[\w-]{1,200}$/);
    }),
    { numRuns: 500 },
  );
});

test('a cursor is invalid for another company, in another list and under another key', async () => {
  await fc.assert(
    fc.asyncProperty(company, company, place, place, async (id, other, [list, at], [otherList]) => {
      fc.pre(id !== other && list !== otherList);
      const cursor = await cursors.seal(id, list, ...at);
      expect(await opened(other, list, cursor)).toBe('invalid cursor');
      expect(await opened(id, otherList, cursor)).toBe('invalid cursor');
      expect(await opened(id, list, cursor, openWith(randomBytes(32)))).toBe('invalid cursor');
    }),
    { numRuns: 500 },
  );
});

test('a cursor stays valid while its key is one of several', async () => {
  const cursor = await cursors.seal(7, 'places', 1, 2, 3);
  expect(await opened(7, 'places', cursor, openWith(randomBytes(32), key))).toEqual([1, 2, 3]);
});

test('a cursor with one position has the format of the first release', async () => {
  const block = Buffer.from('01000000000003e9000000000000002a', 'hex');
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  expect(await cursors.seal(1001, 'down', 42)).toBe(cipher.update(block).toString('base64url'));
});

test('a cursor with any character changed, missing or added is invalid, and so is any other text', async () => {
  const text = fc.oneof(
    fc.base64String(),
    fc.string({ unit: unicode, maxLength: 60 }),
    fc.string({ size: 'large' }),
  );
  const spot = fc.tuple(fc.nat(80), fc.nat(2), fc.constantFrom(...'AQgwZz09-_+/=. \n'));
  await fc.assert(
    fc.asyncProperty(company, place, spot, text, async (id, [list, at], [where, way, other], garbage) => {
      const cursor = await cursors.seal(id, list, ...at);
      const from = where % (cursor.length + 1);
      const changed =
        cursor.slice(0, from) + (way === 1 ? '' : other) + cursor.slice(way === 2 ? from : from + 1);
      if (changed !== cursor) expect(await opened(id, list, changed)).toBe('invalid cursor');
      expect(await opened(id, list, garbage)).toBe('invalid cursor');
    }),
    { numRuns: 300 },
  );
});
