import { setTimeout as sleep } from 'node:timers/promises';
import { createSessionSigner, hashKeyValue } from '@causeway/identity';
import { companyEntryName, type KeyEntry, keyBucket, keyEntryName, metaEntryName } from '@causeway/proto';
import { createLog } from '@causeway/runtime';
import { Kvm } from '@nats-io/kv';
import { expect, test } from 'vitest';
import type { AccessOptions } from '../service.ts';
import { joinAsGateway, operatorOf, testPortal, testWorld } from '../testing/boot.ts';
import { expireRevoked, readTable, writeEntry } from './bucket.ts';
import { reconcile } from './reconcile.ts';

const never = 3_600_000;
const now = () => new Date();
const signers = createSessionSigner(testPortal.keyRing).entries;
const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
const textsOf = async (table: Parameters<typeof readTable>[0]) =>
  Object.fromEntries([...(await readTable(table))].map(([name, { text }]) => [name, text]));

const asOperator = async (world: World) => {
  const ask = operatorOf(await world.openBus('operator'));
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const newKey = async () => (await ask('createKey', { company_id, name: 'k', scopes: ['admin'] })).body;
  return { ask, company_id, newKey };
};
const openWorld = async (options: Partial<AccessOptions> = {}) => {
  const world = await testWorld();
  await world.startAccess({ checkIntervalMs: never, ...options });
  return { world, ...(await asOperator(world)) };
};

test('a deleted bucket is filled again at the next check, including revoked keys and limits', async () => {
  const { world, ask, company_id, newKey } = await openWorld({ checkIntervalMs: 200 });
  const keys = [await newKey(), await newKey(), await newKey()];
  await ask('revokeKey', { id: keys[0].id });
  await ask('setLimits', { company_id, read: 5 });
  const table = await world.openTable();
  const before = await textsOf(table);
  expect(Object.keys(before)).toHaveLength(3 + 1 + 1 + 1);

  await table.destroy();
  await expect.poll(() => textsOf(table)).toEqual(before);
});

test('a NATS server that returns without its store is filled at once', async () => {
  const { world, newKey } = await openWorld();
  const { value } = await newKey();
  await (await world.openTable()).destroy();
  await world.nats.restart();
  const entry = async () => (await (await world.openTable()).get(keyEntryName(hashKeyValue(value))))?.json();
  await expect.poll(entry, { interval: 250 }).toMatchObject({ active: true });
});

test('an operation that finds the bucket missing rebuilds the table and succeeds', async () => {
  const { world, ask, company_id, newKey } = await openWorld();
  const first = await newKey();
  const table = await world.openTable();
  await table.destroy();
  const { status, body: second } = await ask('createKey', { company_id, name: 'k', scopes: ['admin'] });
  expect(status).toBe(201);
  for (const { value } of [first, second])
    expect((await table.get(keyEntryName(hashKeyValue(value))))?.json()).toMatchObject({ active: true });
});

test('the table is marked complete after every other entry', async () => {
  const world = await testWorld();
  await insertKeys(world, 700);
  const bus = await world.openBus('observer');
  await world.startAccess({ checkIntervalMs: never });
  const held = await readTable(await new Kvm(bus.nc).open(keyBucket));
  expect(held.size).toBe(700 + 1 + 1 + 1);
  const meta = held.get(metaEntryName)!;
  for (const [name, { revision }] of held)
    if (name !== metaEntryName) expect(revision).toBeLessThan(meta.revision);
});

test('a correct table is not written to', async () => {
  const world = await testWorld();
  await insertKeys(world, 50);
  const db = world.openDb();
  const table = await startedTable(world);
  const { last_seq } = (await table.status()).streamInfo.state;
  expect(await reconcile({ db, log, now, signers }, table)).toBe(0);
  await world.startAccess({ checkIntervalMs: never });
  expect((await table.status()).streamInfo.state.last_seq).toBe(last_seq);
  await world.database.query("UPDATE api_keys SET is_active = 0, version = version + 1 WHERE name = 'key 7'");
  expect(await reconcile({ db, log, now, signers }, table)).toBe(1);
});

test('two replicas that start on an empty NATS at once build one table', async () => {
  const world = await testWorld();
  await insertKeys(world, 300);
  await Promise.all([world.startAccess(), world.startAccess()]);
  const held = await readTable(await world.openTable());
  expect(held.size).toBe(300 + 1 + 1 + 1);
});

test('of many versions written concurrently, in any order and by two writers, the newest stays', async () => {
  const world = await testWorld();
  const [one, other] = [await startedTable(world), await world.openTable()];
  const versions = Array.from({ length: 40 }, (_, at) => at + 1).sort(() => Math.random() - 0.5);
  await Promise.all(
    versions.map((version, at) => writeEntry(at % 2 ? one : other, 'company.1', { version })),
  );
  expect((await one.get('company.1'))?.json()).toEqual({ version: 40 });
  expect(await writeEntry(one, 'company.1', { version: 39 })).toBe(false);
  expect((await one.get('company.1'))?.json()).toEqual({ version: 40 });
});

test('concurrent changes of one key through two replicas leave the table equal to the database', async () => {
  const world = await testWorld();
  await Promise.all([world.startAccess(), world.startAccess()]);
  const { ask, newKey } = await asOperator(world);
  const { id, value } = await newKey();
  await Promise.all([
    ...Array.from({ length: 20 }, (_, at) => ask('setLimits', { id, read: at + 1 })),
    ask('revokeKey', { id }),
  ]);
  const [row] = await world.database.query<{ limit_read: number; version: number }>('SELECT * FROM api_keys');
  const table = await world.openTable();
  expect((await table.get(keyEntryName(hashKeyValue(value))))?.json()).toMatchObject({
    version: row!.version,
    active: false,
    limits: { read: row!.limit_read },
  });
  expect(row!.version).toBe(22);
});

test('a key that the database has lost is refused, and works again when the database has it again', async () => {
  const world = await testWorld();
  await insertKeys(world, 2);
  const db = world.openDb();
  const table = await startedTable(world);
  const [name, text] = Object.entries(await textsOf(table)).find(([entry]) => entry.startsWith('key.'))!;
  const { id } = JSON.parse(text!) as KeyEntry;
  await world.database.query('CREATE TABLE kept SELECT * FROM api_keys WHERE id = ?', [id]);
  await world.database.query('DELETE FROM api_keys WHERE id = ?', [id]);
  expect(await reconcile({ db, log, now, signers }, table)).toBe(1);
  expect((await table.get(name))?.json()).toMatchObject({ id, active: false });
  expect(await reconcile({ db, log, now, signers }, table)).toBe(0);
  await world.database.query('INSERT INTO api_keys SELECT * FROM kept');
  await reconcile({ db, log, now, signers }, table);
  expect((await table.get(name))?.string()).toBe(text);
});

test('after a restore the table follows the database, but a revoked key stays revoked', async () => {
  const { world, ask, company_id, newKey } = await openWorld();
  const { id, value } = await newKey();
  await world.database.query('CREATE TABLE backup_of_keys SELECT * FROM api_keys');
  await ask('revokeKey', { id });
  await ask('setLimits', { company_id, read: 5 });
  await world.database.query('DELETE FROM api_keys');
  await world.database.query('INSERT INTO api_keys SELECT * FROM backup_of_keys');
  await world.database.query('UPDATE companies SET version = 1, limit_read = NULL');

  const table = await world.openTable();
  await reconcile({ db: world.openDb(), log, now, signers }, table);
  expect((await table.get(companyEntryName(company_id)))?.json()).toEqual({ version: 3 });
  expect((await table.get(keyEntryName(hashKeyValue(value))))?.json()).toMatchObject({
    version: 3,
    active: false,
  });
  const { body } = await ask('listKeys', { company_id });
  expect(body.keys[0]).toMatchObject({ is_active: false, revoked_utc: expect.any(String) });
});

test('an entry that somebody else changed is corrected', async () => {
  const world = await testWorld();
  await world.database.query("INSERT INTO companies (name, created_utc) VALUES ('Acme', NOW(3))");
  const db = world.openDb();
  const table = await startedTable(world);
  const right = (await table.get('company.1001'))!.string();
  for (const wrong of ['not JSON', '{"version":1,"limits":{"read":1000000}}', '{}']) {
    await table.put('company.1001', wrong);
    await reconcile({ db, log, now, signers }, table);
    expect((await table.get('company.1001'))!.string()).toBe(right);
  }
  await table.delete('company.1001');
  await reconcile({ db, log, now, signers }, table);
  expect((await table.get('company.1001'))!.string()).toBe(right);
});

type World = Awaited<ReturnType<typeof testWorld>>;

const insertKeys = async ({ database }: World, count: number): Promise<void> => {
  await database.query("INSERT INTO companies (name, created_utc) VALUES ('Acme', NOW(3))");
  const key = (at: number) => [1001, `key ${at}`, hashOf(at), 'crm', 'abcd', 'admin', new Date()];
  const rows = Array.from({ length: count }, (_, at) => key(at));
  await database.query(
    'INSERT INTO api_keys (company_id, name, key_hash, prefix, last4, scopes, created_utc) VALUES ?',
    [rows],
  );
};

const hashOf = (at: number): Buffer => Buffer.from(hashKeyValue(`key ${at}`), 'base64url');

const startedTable = async (world: World) => {
  const service = await world.startAccess({ checkIntervalMs: never });
  await service.drain();
  return world.openTable();
};

test('a key revoked a week ago leaves the table for good and is revoked again without a wait, and an active one stays', async () => {
  const { world, ask, newKey } = await openWorld();
  const [old, kept] = [await newKey(), await newKey()];
  await ask('revokeKey', { id: old.id });
  const table = await world.openTable();
  const nameOf = ({ value }: { value: string }) => keyEntryName(hashKeyValue(value));
  const { nc } = await world.openBus('access');
  const week = 7 * 86_400_000;
  expect(await expireRevoked(nc, table, Date.now() + week - 60_000)).toBe(0);
  expect(await expireRevoked(nc, table, Date.now() + week + 60_000)).toBe(1);
  expect(await table.get(nameOf(old))).toBeNull();
  expect((await table.get(nameOf(kept)))?.json()).toMatchObject({ active: true });
  // A check at that time finds nothing to change, and so writes nothing.
  const later = { db: world.openDb(), log, signers, now: () => new Date(Date.now() + week + 60_000) };
  expect(await reconcile(later, table)).toBe(0);
  expect(await table.get(nameOf(old))).toBeNull();
  // Revoking it again gives the same guarantee.
  expect((await ask('revokeKey', { id: old.id })).status).toBe(200);
  expect((await table.get(nameOf(old)))?.json()).toMatchObject({ active: false });
});

test('a revocation that all gateways confirmed long ago is not sent again', async () => {
  let aheadMs = 0;
  const { world, ask, newKey } = await openWorld({ now: () => new Date(Date.now() + aheadMs) });
  const { id } = await newKey();
  const gatewayBus = await world.openBus('gateway');
  const gateway = await joinAsGateway(gatewayBus, 'gateway-1');
  const told = async (): Promise<number> => {
    expect((await ask('revokeKey', { id })).body).toMatchObject({ is_active: false });
    await gatewayBus.nc.flush();
    await sleep(50);
    return gateway.heard.length;
  };
  const once = await told();
  expect(once).toBeGreaterThanOrEqual(1);
  const twice = await told();
  expect(twice).toBeGreaterThan(once);
  aheadMs = 6 * 60_000;
  expect(await told()).toBe(twice);
});
