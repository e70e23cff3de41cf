import { expect, test } from 'vitest';
import { Problem } from './errors.ts';
import type { OperatorOperation } from './operation.ts';
import { contract as o } from './operations.ts';
import { parseBody } from './parse.ts';

const refusal = (operation: OperatorOperation, body: unknown): string => {
  try {
    parseBody(operation, Buffer.from(JSON.stringify(body)));
  } catch (error) {
    if (error instanceof Problem) return error.publicMessage;
    throw error;
  }
  throw new Error('nothing was refused');
};
const parsed = (operation: OperatorOperation, body: unknown) =>
  parseBody(operation, Buffer.from(JSON.stringify(body)));

test('a key needs a company, a name and known scopes, which are kept once and in order', () => {
  const key = { company_id: 1001, name: 'Zapier' };
  expect(parsed(o.createKey, { ...key, scopes: ['admin', 'events:read', 'admin'] })).toEqual({
    ...key,
    scopes: ['events:read', 'admin'],
  });
  expect(refusal(o.createKey, { ...key, scopes: [] })).toMatch(/^at least one scope is required/);
  expect(refusal(o.createKey, { ...key, scopes: ['everything'] })).toMatch(/^scopes\[0\] must be one of /);
  expect(refusal(o.createKey, { ...key, company_id: '1001', scopes: ['admin'] })).toBe(
    'company_id must be a positive integer',
  );
});

test('limits are set on exactly one company or key, and null resets one', () => {
  expect(parsed(o.setLimits, { id: 7, read: 500, write: null })).toEqual({ id: 7, read: 500, write: null });
  expect(refusal(o.setLimits, { read: 5 })).toBe('either company_id or id (of a key) is required');
  expect(refusal(o.setLimits, { company_id: 1, id: 2, read: 5 })).toBe(
    'either company_id or id (of a key) is required',
  );
  expect(refusal(o.setLimits, { company_id: 1 })).toBe(
    'at least one of read, write, admin and lookup is required',
  );
  for (const read of [0, -1, 1.5, '60', 1e12])
    expect(refusal(o.setLimits, { company_id: 1, read })).toBe(
      'read must be a positive integer, or null for the default',
    );
});

test("a portal owner's password is not changed, and must be long", () => {
  const owner = { company_id: 1001, email: 'owner@example.com' };
  expect(parsed(o.createPortalOwner, { ...owner, password: '  twelve chars ' })).toMatchObject({
    password: '  twelve chars ',
  });
  expect(refusal(o.createPortalOwner, { ...owner, password: 'short' })).toBe(
    'password must be at least 12 characters',
  );
  expect(refusal(o.createPortalOwner, { ...owner, email: 'owner', password: 'x'.repeat(12) })).toBe(
    'email must be one valid email address',
  );
});
