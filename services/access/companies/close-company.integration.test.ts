import { companyEntryName, hashKeyValue, keyEntryName } from '@causeway/proto';
import { createLog } from '@causeway/runtime';
import { expect, test } from 'vitest';
import { reconcile } from '../key-table/reconcile.ts';
import { operatorOf, testWorld } from '../testing/boot.ts';

// The check that repairs the table would hide what opening a company does.
const world = await testWorld();
await world.startAccess({ checkIntervalMs: 3_600_000 });
const ask = operatorOf(await world.openBus('operator'));
const table = await world.openTable();

/** A company with two keys, closed, as in the cell that it has left. */
const closedCompany = async () => {
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const keys: { readonly id: number; readonly value: string }[] = [];
  for (const name of ['one', 'two'])
    keys.push((await ask('createKey', { company_id, name, scopes: ['admin'] })).body);
  expect((await ask('closeCompany', { company_id })).status).toBe(200);
  const entry = async (name: string) => (await table.get(name))?.json<object>();
  return {
    company_id,
    keys,
    entryOfKey: (at: number) => entry(keyEntryName(hashKeyValue(keys[at]!.value))),
    entryOfCompany: () => entry(companyEntryName(company_id)),
  };
};

test('a company that returns from another cell brings its revoked keys: opening shows them as revoked', async () => {
  const { company_id, keys, entryOfKey, entryOfCompany } = await closedCompany();
  expect(await entryOfCompany()).toMatchObject({ closed: true });
  // What the move back writes for a key that was revoked in the other cell.
  await world.database.query(
    'UPDATE api_keys SET is_active = 0, revoked_utc = UTC_TIMESTAMP(3), version = version + 1 WHERE id = ?',
    [keys[0]!.id],
  );
  expect(await entryOfKey(0)).toMatchObject({ active: true });

  expect((await ask('openCompany', { company_id })).status).toBe(200);
  expect(await entryOfKey(0)).toMatchObject({ active: false, version: 2 });
  expect(await entryOfKey(1)).toMatchObject({ active: true, version: 1 });
  expect(await entryOfCompany()).not.toHaveProperty('closed');
});

test('keys that were deleted with a moved company are refused without an error, and admitted when it returns', async () => {
  const { company_id, keys, entryOfKey } = await closedCompany();
  const { database } = world;
  const rows = await database.query('SELECT * FROM api_keys WHERE company_id = ?', [company_id]);
  await database.query('DELETE FROM api_keys WHERE company_id = ?', [company_id]);
  const errors: unknown[] = [];
  const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
  const source = {
    db: world.openDb(),
    log: Object.assign(Object.create(log), { error: (facts: object) => errors.push(facts) }),
    signers: new Map(),
    now: () => new Date(),
  };
  await reconcile(source, table);
  expect(await entryOfKey(0)).toMatchObject({ active: false });
  expect(errors).toEqual([]);

  for (const row of rows) await database.query('INSERT INTO api_keys SET ?', [row]);
  expect((await ask('openCompany', { company_id })).status).toBe(200);
  for (const at of keys.keys()) expect(await entryOfKey(at)).toMatchObject({ active: true, version: 1 });

  // A lost row of an open company is an error.
  await database.query('DELETE FROM api_keys WHERE company_id = ?', [company_id]);
  await reconcile(source, table);
  expect(errors).toEqual([{ entries: 2 }]);
});
