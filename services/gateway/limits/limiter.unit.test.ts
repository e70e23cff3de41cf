import { companyAt, type KeyEntry } from '@causeway/proto';
import { expect, test } from 'vitest';
import { companySlot, keySlot } from './counts.ts';
import { countedIn, keyLimits, limitHeaders, memberLimits } from './limiter.ts';

const limits = { read: 60, write: 100, admin: 200, lookup: undefined, companyFactor: 20, portal: 1200 };
const key: KeyEntry = { version: 1, id: 5, companyId: 7, scopes: ['admin'], active: true };
const ownLimit = (...[bucket, of, company, defaults]: Parameters<typeof keyLimits>) =>
  keyLimits(bucket, of, company, defaults).own.limit;

test('lookups are counted as reads unless the configuration, the company or the key gives them a limit', () => {
  expect(countedIn('lookup', key, undefined, limits)).toBe('read');
  expect(countedIn('lookup', key, { version: 1, limits: { read: 5 } }, limits)).toBe('read');
  expect(countedIn('lookup', key, undefined, { ...limits, lookup: 200 })).toBe('lookup');
  expect(countedIn('lookup', key, { version: 1, limits: { lookup: 5 } }, limits)).toBe('lookup');
  expect(countedIn('lookup', { ...key, limits: { lookup: 5 } }, undefined, limits)).toBe('lookup');
});

test('RATE_LIMIT_LOOKUP is overridden by the company, and that by the key', () => {
  const company = { version: 1, limits: { lookup: 10 } };
  const configured = { ...limits, lookup: 200 };
  expect(ownLimit('lookup', key, undefined, configured)).toBe(200);
  expect(ownLimit('lookup', key, company, configured)).toBe(10);
  expect(ownLimit('lookup', { ...key, limits: { lookup: 3 } }, company, configured)).toBe(3);
  expect(keyLimits('lookup', { ...key, limits: { lookup: 3 } }, undefined, limits).company!.limit).toBe(60);
});

test("a key's own limit overrides its company's, and that overrides the configured one", () => {
  const company = { version: 1, limits: { read: 10, write: 11 } };
  expect(ownLimit('read', { ...key, limits: { read: 5 } }, company, limits)).toBe(5);
  expect(ownLimit('write', { ...key, limits: { read: 5 } }, company, limits)).toBe(11);
  expect(ownLimit('admin', key, company, limits)).toBe(200);
  expect(ownLimit('read', key, undefined, limits)).toBe(60);
});

test("a company's ceiling is a multiple of its own limit or the configured one, never of a key's", () => {
  expect(keyLimits('read', { ...key, limits: { read: 5000 } }, undefined, limits)).toEqual({
    own: { name: 'read', slot: keySlot(5, 'read'), limit: 5000 },
    company: { name: 'company-read', slot: companySlot(7, 'read'), limit: 1200 },
  });
  const company = { version: 1, limits: { read: 10 } };
  expect(keyLimits('read', key, company, limits).company!.limit).toBe(200);
});

test('a member of the portal has one limit, and no company above it', () => {
  expect(memberLimits(3, limits)).toMatchObject({ own: { name: 'portal', limit: 1200 }, company: null });
});

test("the headers are the interface's five and the draft's two", () => {
  const verdict = { admitted: true, name: 'read' as const, limit: 60, used: 13, resetSeconds: 1_800_000_060 };
  expect(Object.fromEntries(limitHeaders(verdict, 1_800_000_025_400))).toEqual({
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '47',
    'X-RateLimit-Reset': '1800000060',
    'X-RateLimit-Window': '1m',
    'X-RateLimit-Policy': 'read:60/1m',
    'RateLimit-Policy': '"read";q=60;w=60',
    RateLimit: '"read";r=47;t=35',
  });
});

test('a temporary limit holds until its end, for keys without a limit of their own and for the ceiling', () => {
  const untilMs = 1_000_000;
  const company = { version: 1, limits: { read: 10 }, temporary: { untilMs, limits: { read: 700 } } };
  const at = (nowMs: number) => companyAt(company, nowMs);
  expect(keyLimits('read', key, at(untilMs - 1), limits)).toMatchObject({
    own: { limit: 700, untilMs },
    company: { limit: 14_000 },
  });
  const own = keyLimits('read', { ...key, limits: { read: 5 } }, at(untilMs - 1), limits).own;
  expect([own.limit, own.untilMs]).toEqual([5, undefined]);
  const after = keyLimits('read', key, at(untilMs), limits);
  expect([after.own.limit, after.own.untilMs, after.company!.limit]).toEqual([10, undefined, 200]);
});
