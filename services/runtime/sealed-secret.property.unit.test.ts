import { randomBytes } from 'node:crypto';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSecret, parseKeyRing, sealedWith, sealSecret } from './sealed-secret.ts';

const ringOf = (...names: readonly string[]) =>
  parseKeyRing(names.map((name) => `${name}:${randomBytes(32).toString('base64')}`).join(','));
const ring = ringOf('new', 'old');
const id = fc.maxSafeNat();

test('a sealed secret decrypts with the key that its bytes name', () => {
  fc.assert(
    fc.property(id, fc.string({ unit: unicode, maxLength: 80 }), (company, secret) => {
      const sealed = sealSecret(ring, company, secret);
      expect(openSecret(ring, company, sealed)).toBe(secret);
      expect(sealedWith(sealed)).toBe('new');
    }),
    { numRuns: 200 },
  );
});

test('a sealed secret does not decrypt for another company, with a changed bit, truncated or lengthened', () => {
  fc.assert(
    fc.property(id, id, fc.nat(9999), fc.nat(3), (company, other, place, way) => {
      const sealed = sealSecret(ring, company, 'whsec_secret');
      const at = place % sealed.length;
      const flipped = Buffer.from(sealed);
      flipped[at]! ^= 1 << (place % 8);
      const changed = [
        flipped,
        sealed.subarray(0, at),
        Buffer.concat([sealed, Buffer.of(place & 255)]),
        sealed,
      ];
      fc.pre(way < 3 || company !== other);
      expect(() => openSecret(ring, way === 3 ? other : company, changed[way]!)).toThrow();
    }),
    { numRuns: 500 },
  );
});

test('arbitrary bytes are not a sealed secret', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      expect(() => openSecret(ring, 1, bytes)).toThrow();
    }),
    { numRuns: 300 },
  );
});

test('a key ring is parsed, or refused with a sentence that reveals no key', () => {
  const key = randomBytes(32).toString('base64');
  const part = fc.oneof(
    fc.constantFrom(`a:${key}`, `b:${key}`, ' ', 'a', ':', key),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      try {
        const read = parseKeyRing(parts.join(','));
        expect(read.keys.get(read.sealsWith)).toHaveLength(32);
      } catch (error) {
        expect((error as Error).message).not.toContain(key.slice(0, 8));
      }
    }),
    { numRuns: 300 },
  );
});
