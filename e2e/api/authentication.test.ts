import { randomBytes } from 'node:crypto';
import { createKeyValue } from '@causeway/identity';
import { type KeyOperation, keyOperations, scopes } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { openWorld, type Reply } from './support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const general = '/integrations/clients/find?client_id=1';

/** Rate-limit headers would reveal that a key exists, so a refused caller must not see them. */
const limitHeadersOf = ({ headers }: Reply): string[] =>
  Object.keys(headers).filter((name) => /ratelimit/i.test(name));

const expect401 = (reply: Reply, path: string): void => {
  expect(reply.status).toBe(401);
  expect(reply.json).toEqual(
    path === lookup
      ? { error_code: 'unauthorized', message: 'missing or invalid API key' }
      : { error: 'missing or invalid API key' },
  );
  expect(reply.headers['www-authenticate']).toBe('ApiKey header="X-Api-Key"');
  expect(reply.headers['x-request-id']).toMatch(/^\w+$/);
  expect(limitHeadersOf(reply)).toEqual([]);
};

/** A key in the right format that was never created. */
const madeUp = (prefix: string, companyId: number): string =>
  createKeyValue({ prefix, companyId, random: randomBytes });

const flip = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);

describe.each([
  ['the lookup shape', lookup],
  ['the general shape', general],
])('A 401 in %s reads the same', (_, path) => {
  test('without a key', async () => {
    expect401(await world.ask(path), path);
  });

  test('for every malformed key', async () => {
    const company = await world.company();
    const { value } = await company.key();
    const [prefix, id, secret = ''] = value.split('_');
    const malformed = [
      '',
      'x',
      'null',
      'Bearer',
      prefix ?? '',
      `${prefix}_`,
      `${prefix}_${id}`,
      `${prefix}_${id}_`,
      `${prefix}_${id}_short`,
      `${prefix}__${secret}`,
      `${prefix}_0_${secret}`,
      `${prefix}_0${id}_${secret}`,
      `${prefix}_-${id}_${secret}`,
      `${prefix}_+${id}_${secret}`,
      `${prefix}_1e3_${secret}`,
      `${prefix}_abc_${secret}`,
      `${prefix}_${'9'.repeat(30)}_${secret}`,
      `${prefix}_${id}_${secret}0`,
      `${prefix}_${id}_${secret.slice(1)}`,
      `${prefix}_${id}_${secret.slice(0, -1)}-`,
      `${prefix}_${id}_${secret.slice(0, -1)}é`,
      `${prefix}_${id}_${'a'.repeat(4000)}`,
      `${prefix}-${id}-${secret}`,
      `${value},${value}`,
      `Bearer ${value}`,
      `"${value}"`,
      value.toUpperCase(),
    ];
    for (const key of malformed)
      expect401(await world.ask(path, { key: Buffer.from(key).toString('latin1') }), path);
    expect((await world.ask(path, { key: value })).status).toBe(200);
  });

  test('for another prefix with a right checksum', async () => {
    const { id } = await world.company();
    for (const prefix of ['acme', 'CRM', 'cr', 'crmx'])
      expect401(await world.ask(path, { key: madeUp(prefix, id) }), path);
  });

  test('for a key that was never created, of a company that exists and of one that does not', async () => {
    const { id } = await world.company();
    expect401(await world.ask(path, { key: madeUp('crm', id) }), path);
    expect401(await world.ask(path, { key: madeUp('crm', 999_999_999) }), path);
  });

  test('for a revoked key', async () => {
    const { id, value } = await (await world.company()).key();
    expect((await world.ask(path, { key: value })).status).toBe(200);
    await world.operator.ask('revokeKey', { id });
    expect401(await world.ask(path, { key: value }), path);
  });
});

test('A key counts only in its own header: not in the query, not as a bearer token', async () => {
  const { value } = await (await world.company()).key();
  expect((await world.ask(`${lookup}?api_key=${value}&x-api-key=${value}`)).status).toBe(401);
  expect((await world.ask(lookup, { headers: { authorization: `Bearer ${value}` } })).status).toBe(401);
  expect((await world.ask(lookup, { headers: { 'X-API-KEY': value } })).status).toBe(200);
});

test("Failed authentications get 401 in any number, and use up nothing of the key's limit", async () => {
  const { value } = await (await world.company()).key();
  const refused = await Promise.all(
    Array.from({ length: 300 }, () => world.ask(lookup, { key: flip(value, value.length - 1) })),
  );
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
  expect((await world.ask(lookup, { key: value })).headers['x-ratelimit-remaining']).toBe('59');
});

/** A path of the operation; no record has this id. */
const pathOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '987654321');

const scoped = (keyOperations as readonly KeyOperation[]).flatMap((operation) =>
  operation.scope ? [[operation.id, { ...operation, scope: operation.scope }] as const] : [],
);

describe.each(scoped)('%s', (_, { method, path, scope, bucket, errorShape }) => {
  test(`is 403 with all scopes except ${scope}, and is not counted`, async () => {
    const company = await world.company();
    const { value } = await company.key(scopes.filter((other) => other !== scope));
    const reply = await world.ask(pathOf(path), { method, key: value });
    expect(reply.status).toBe(403);
    const message = `the API key does not have the scope ${scope}`;
    expect(reply.json).toEqual(
      errorShape === 'lookup' ? { error_code: 'forbidden', message } : { error: message },
    );
    expect(limitHeadersOf(reply)).toEqual([]);
  });

  test(`needs nothing but ${scope}, and is counted as ${bucket === 'lookup' ? 'read' : bucket}`, async () => {
    const { value } = await (await world.company()).key([scope]);
    const reply = await world.ask(pathOf(path), { method, key: value });
    expect(reply.status).not.toBe(403);
    expect(reply.status).not.toBe(401);
    expect(reply.headers['x-ratelimit-policy']).toMatch(
      bucket === 'lookup' ? /^read:/ : new RegExp(`^${bucket}:`),
    );
  });
});
