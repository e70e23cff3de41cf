import { randomBytes, randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyValue, hashKeyValue, lastFour, maskKey, parseKeyValue } from './keys.ts';

const create = (companyId: number, prefix = 'crm') =>
  createKeyValue({ prefix, companyId, random: randomBytes });

describe('API keys', () => {
  test('a created key has the documented format and parses to its company', () => {
    for (let run = 0; run < 500; run++) {
      const companyId = randomInt(1, 2 ** 40);
      const value = create(companyId);
      expect(value).toMatch(new RegExp(`^crm_${companyId}_[0-9A-Za-z]{40}$`));
      expect(parseKeyValue(value, 'crm')).toEqual({ companyId });
    }
  });

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

  test('only the prefix, the company and the last four characters are shown', () => {
    const value = create(1001);
    expect(maskKey({ prefix: 'crm', companyId: 1001, last4: lastFour(value) })).toBe(
      `crm_1001_…${value.slice(-4)}`,
    );
  });

  test('a key is stored as the SHA-256 of the whole key', () => {
    expect(hashKeyValue('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });
});
