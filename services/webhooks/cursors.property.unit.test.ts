import { randomBytes } from 'node:crypto';
import { Problem } from '@causeway/proto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openCursor, sealCursor } from './cursors.ts';

/** Any character; `'binary'` would be the same, and takes seconds to make. */
const unicode = fc
  .oneof(fc.nat(0x7f), fc.nat(0x10ffff))
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

const key = randomBytes(32);
const list = fc.constantFrom('events asc' as const, 'events desc' as const);
const company = fc.integer({ min: 1, max: 2 ** 48 });
const position = fc.maxSafeNat();

/** The position, or the sentence of the 400; anything else that is thrown fails. */
const opened = (...given: Parameters<typeof openCursor>): number | string => {
  try {
    return openCursor(...given);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_request') return error.publicMessage;
    throw error;
  }
};

test('a cursor leads to where it was made', () => {
  fc.assert(
    fc.property(company, list, position, (id, of, at) => {
      const cursor = sealCursor(key, id, of, at);
      expect(opened(key, id, of, cursor)).toBe(at);
      // As the query parameter takes it.
      expect(cursor).toMatch(/^[\w-]{1,200}$/);
    }),
    { numRuns: 500 },
  );
});

test('a cursor leads nowhere for another company, in another list, or under another key', () => {
  fc.assert(
    fc.property(company, company, list, position, fc.nat(2), (id, other, of, at, way) => {
      fc.pre(id !== other);
      const cursor = sealCursor(key, id, of, at);
      const otherList = of === 'events asc' ? 'events desc' : 'events asc';
      const found = [
        () => opened(key, other, of, cursor),
        () => opened(key, id, otherList, cursor),
        () => opened(randomBytes(32), id, of, cursor),
      ][way]!();
      expect(found).toBe('invalid cursor');
    }),
    { numRuns: 500 },
  );
});

test('a cursor with any character changed, gone or added is invalid, and so is whatever was no cursor', () => {
  const text = fc.oneof(
    fc.base64String(),
    fc.string({ unit: unicode, maxLength: 60 }),
    fc.string({ size: 'large' }),
  );
  const spot = fc.tuple(fc.nat(40), fc.nat(2), fc.constantFrom(...'AQgwZz09-_+/= \n'));
  fc.assert(
    fc.property(company, list, position, spot, text, (id, of, at, [place, way, other], garbage) => {
      const cursor = sealCursor(key, id, of, at);
      const from = place % (cursor.length + 1);
      const changed =
        cursor.slice(0, from) + (way === 1 ? '' : other) + cursor.slice(way === 2 ? from : from + 1);
      if (changed !== cursor) expect(opened(key, id, of, changed)).toBe('invalid cursor');
      expect(opened(key, id, of, garbage)).toBe('invalid cursor');
    }),
    { numRuns: 300 },
  );
});
