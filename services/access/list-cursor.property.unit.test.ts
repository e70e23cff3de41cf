import { Problem } from '@causeway/proto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './list-cursor.ts';

/** Any character; `'binary'` would be the same, and takes seconds to make. */
const unicode = fc
  .oneof(fc.nat(0x7f), fc.nat(0x10ffff))
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

/** The entry, or the sentence of the 400; anything else that is thrown fails. */
const opened = (companyId: number, cursor: string): number | string => {
  try {
    return decodeCursor('audit', companyId, cursor);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_request') return error.publicMessage;
    throw error;
  }
};

test('a cursor leads to its entry, in its list and its company alone', () => {
  fc.assert(
    fc.property(id, id, id, (company, other, entry) => {
      const cursor = encodeCursor('audit', company, entry);
      expect(opened(company, cursor)).toBe(entry);
      expect(opened(company, encodeCursor('keys', company, entry))).toBe('invalid cursor');
      if (company !== other) expect(opened(other, cursor)).toBe('invalid cursor');
    }),
    { numRuns: 300 },
  );
});

test('a cursor with any character changed, gone or added is invalid, and so is whatever was no cursor', () => {
  const text = fc.oneof(fc.base64String(), fc.string({ unit: unicode, maxLength: 60 }));
  const spot = fc.tuple(fc.nat(60), fc.nat(2), fc.constantFrom(...'AQgwZz09-_+/=. \n'));
  fc.assert(
    fc.property(id, id, spot, text, (company, entry, [place, way, other], garbage) => {
      const cursor = encodeCursor('audit', company, entry);
      const from = place % (cursor.length + 1);
      const changed =
        cursor.slice(0, from) + (way === 1 ? '' : other) + cursor.slice(way === 2 ? from : from + 1);
      if (changed !== cursor) expect(opened(company, changed)).toBe('invalid cursor');
      expect(opened(company, garbage)).toBe('invalid cursor');
      expect(opened(company, Buffer.from(`${entry}.${garbage}`).toString('base64url'))).toBe(
        'invalid cursor',
      );
    }),
    { numRuns: 300 },
  );
});
