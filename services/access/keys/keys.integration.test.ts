import { hashKeyValue, parseKeyValue } from '@causeway/identity';
import { keyEntryName } from '@causeway/proto';
import { acrossTenants } from '@causeway/runtime';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { operatorOf, testWorld } from '../testing/boot.ts';

const world = await testWorld();
await world.startAccess();
const ask = operatorOf(await world.openBus('operator'));
const table = await world.openTable();

const newCompany = async (name = 'Acme'): Promise<number> =>
  (await ask('createCompany', { name })).body.company_id;
const newKey = async (company_id: number, scopes = ['integrations:read']) =>
  (await ask('createKey', { company_id, name: 'a key', scopes })).body;
const entryOf = async (value: string) => (await table.get(keyEntryName(hashKeyValue(value))))?.json();

test('a created key is shown once, works by its hash at once, and is not stored', async () => {
  const company_id = await newCompany();
  const { status, body } = await ask('createKey', {
    company_id,
    name: 'Zapier',
    scopes: ['admin', 'integrations:read'],
  });
  expect(status).toBe(201);
  const { value, ...shown } = body;
  expect(parseKeyValue(value, 'crm')).toEqual({ companyId: company_id });
  expect(shown).toEqual({
    id: expect.any(Number),
    company_id,
    name: 'Zapier',
    scopes: ['integrations:read', 'admin'],
    masked: `crm_${company_id}_…${value.slice(-4)}`,
    is_active: true,
    created_utc: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    revoked_utc: null,
    last_used_utc: null,
  });
  expect(await entryOf(value)).toEqual({
    version: 1,
    id: body.id,
    companyId: company_id,
    scopes: ['integrations:read', 'admin'],
    active: true,
  });
  const stored = JSON.stringify(await world.database.query('SELECT * FROM api_keys'));
  expect(stored).not.toContain(value.slice(-20));
  const { body: listed } = await ask('listKeys', { company_id });
  expect(listed).toEqual({ keys: [shown] });
});

test('a revoked key stays in the table as refused, and in the list with its time, however often it is revoked', async () => {
  const company_id = await newCompany();
  const { value, id } = await newKey(company_id);
  const { status, body } = await ask('revokeKey', { id });
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, is_active: false, revoked_utc: expect.any(String) });
  expect(await entryOf(value)).toMatchObject({ version: 2, active: false });
  expect((await ask('listKeys', { company_id })).body.keys).toEqual([body]);
  expect(await ask('revokeKey', { id })).toEqual({ status, body });
  expect(await entryOf(value)).toMatchObject({ version: 2, active: false });
  // For `webhooks`, once.
  expect(await world.database.query('SELECT * FROM key_revocations WHERE key_id = ?', [id])).toEqual([
    { company_id, key_id: id, revoked_utc: new Date(body.revoked_utc) },
  ]);
});

test('QUOTA_KEYS: of any number of keys created concurrently, a company gets exactly its quota', async () => {
  const company_id = await newCompany();
  const create = () => ask('createKey', { company_id, name: 'k', scopes: ['admin'] });
  for (let made = 0; made < 190; made += 19) await Promise.all(Array.from({ length: 19 }, create));
  const made = await Promise.all(Array.from({ length: 40 }, create));
  const refused = made.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(30);
  const values = made.flatMap(({ body }) => body.value ?? []);
  expect(new Set(values).size).toBe(10);
  for (const value of values) expect(await entryOf(value)).toMatchObject({ active: true });
  for (const { status, body } of refused)
    expect([status, body]).toEqual([
      400,
      {
        error: 'a company may have 200 active keys; revoke one that is not needed',
        quota: 'keys',
        limit: 200,
      },
    ]);
  await ask('revokeKey', { id: made.find(({ status }) => status === 201)!.body.id });
  expect((await create()).status).toBe(201);
  expect((await create()).status).toBe(400);
});

test('a fault during the creation of a key says that no key was created', async () => {
  const company_id = await newCompany();
  const db = world.openDb();
  await sql`RENAME TABLE audit_log TO audit_log_away`.execute(acrossTenants(db, 'a fault'));
  const { status, body } = await ask('createKey', { company_id, name: 'a key', scopes: ['admin'] });
  await sql`RENAME TABLE audit_log_away TO audit_log`.execute(acrossTenants(db, 'a fault'));
  expect([status, body]).toMatchObject([500, { error: 'the API key could not be created' }]);
  expect((await ask('listKeys', { company_id })).body.keys).toEqual([]);
});
