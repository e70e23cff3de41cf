import type { KeyEntry } from '@causeway/proto';
import { expect, test } from 'vitest';
import { countedIn, limitHeaders, limitOf } from './policy.ts';

const limits = { read: 60, write: 100, admin: 200, lookup: undefined };
const key: KeyEntry = { version: 1, id: 5, companyId: 7, scopes: ['admin'], active: true };

test('lookups are counted as reads unless they have a limit of their own', () => {
  expect(countedIn('lookup', limits)).toBe('read');
  expect(countedIn('lookup', { ...limits, lookup: 200 })).toBe('lookup');
  expect(limitOf('lookup', key, undefined, { ...limits, lookup: 200 })).toBe(200);
});

test("a key's own limit goes before its company's, and that before the configured one", () => {
  const company = { version: 1, limits: { read: 10, write: 11 } };
  expect(limitOf('read', { ...key, limits: { read: 5 } }, company, limits)).toBe(5);
  expect(limitOf('write', { ...key, limits: { read: 5 } }, company, limits)).toBe(11);
  expect(limitOf('admin', key, company, limits)).toBe(200);
  expect(limitOf('read', key, undefined, limits)).toBe(60);
});

test("the headers are the specification's five and the draft's two", () => {
  const verdict = { admitted: true, limit: 60, used: 13, resetSeconds: 1_800_000_060 };
  expect(Object.fromEntries(limitHeaders('read', verdict, 1_800_000_025_400))).toEqual({
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '47',
    'X-RateLimit-Reset': '1800000060',
    'X-RateLimit-Window': '1m',
    'X-RateLimit-Policy': 'read:60/1m',
    'RateLimit-Policy': '"read";q=60;w=60',
    RateLimit: '"read";r=47;t=35',
  });
});

test('nothing remains below zero', () => {
  const verdict = { admitted: false, limit: 60, used: 75, resetSeconds: 60 };
  expect(limitHeaders('read', verdict, 61_000)).toEqual(
    expect.arrayContaining([
      ['X-RateLimit-Remaining', '0'],
      ['RateLimit', '"read";r=0;t=0'],
    ]),
  );
});
