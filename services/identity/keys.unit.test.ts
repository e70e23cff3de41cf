import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyValue, hashKeyValue, parseKeyValue } from './keys.ts';

const create = (companyId: number, prefix = 'crm') =>
  createKeyValue({ prefix, companyId, random: randomBytes });

describe('API keys', () => {
  test('the checksum is pinned, so that keys handed out stay valid', () => {
    const zeros = (bytes: number) => new Uint8Array(bytes);
    const value = createKeyValue({ prefix: 'crm', companyId: 1001, random: zeros });
    expect(value).toBe(`crm_1001_${'0'.repeat(34)}2ZqOgo`);
  });

  test('characters are drawn evenly', () => {
    const counts = new Map<string, number>();
    for (let run = 0; run < 3000; run++)
      for (const character of create(1).slice(6, 40)) counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = (3000 * 34) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - expected) / expected).toBeLessThan(0.15);
  });

  test('a key is stored as the SHA-256 of the whole key', () => {
    expect(hashKeyValue('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });
});

const prefix = fc.string({ unit: fc.constantFrom(...'abcxyz09_'), minLength: 1, maxLength: 12 });
const companyId = fc.integer({ min: 1, max: 999_999_999_999_999 });
const character = fc.nat(0xffff).map((code) => String.fromCharCode(code));

describe('an API key', () => {
  test('contains its company, with any prefix', () => {
    fc.assert(
      fc.property(prefix, companyId, (start, id) => {
        const value = createKeyValue({ prefix: start, companyId: id, random: randomBytes });
        expect(parseKeyValue(value, start)).toEqual({ companyId: id });
      }),
      { numRuns: 300 },
    );
  });

  test('is invalid if a character is changed, removed or added', () => {
    fc.assert(
      fc.property(
        companyId,
        fc.nat(999),
        fc.oneof(character, fc.constantFrom(...'012abcABC_')),
        fc.nat(2),
        (id, place, other, way) => {
          const value = createKeyValue({ prefix: 'crm', companyId: id, random: randomBytes });
          const at = place % value.length;
          const changed =
            value.slice(0, at) + (way === 1 ? '' : other) + value.slice(way === 2 ? at : at + 1);
          expect(parseKeyValue(changed, 'crm')).toEqual(changed === value ? { companyId: id } : null);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('is invalid with another spelling of its company', () => {
    // The checksum does not stop someone who knows how to compute it.
    fc.assert(
      fc.property(companyId, fc.constantFrom('0', '00', ' ', '+', ''), (id, before) => {
        const spelled = `${before}${id}`;
        const value = createKeyValue({ prefix: 'crm', companyId: spelled as never, random: randomBytes });
        expect(parseKeyValue(value, 'crm')).toEqual(before === '' ? { companyId: id } : null);
      }),
      { numRuns: 200 },
    );
  });

  test('is not parsed from any other text', () => {
    const part = fc.string({ unit: character, maxLength: 60 });
    fc.assert(
      fc.property(
        fc.oneof(
          part,
          fc.tuple(fc.constantFrom('crm_', 'crm_1_', 'crm_1_0'), part).map((parts) => parts.join('')),
        ),
        (text) => {
          expect(parseKeyValue(text, 'crm')).toBeNull();
        },
      ),
      { numRuns: 500 },
    );
  });
});
