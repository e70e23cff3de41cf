import { setTimeout as sleep } from 'node:timers/promises';
import { followCallers, followKeyTable, hashKeyValue, type KeyTable } from '@causeway/identity';
import {
  type KeyTableChange,
  keyChangesSubject,
  keyEntryName,
  keyRevokedSubject,
  operationById,
  scopes,
} from '@causeway/proto';
import { type Answer, type Bus, createLog, each, type Log } from '@causeway/runtime';
import { cleanUp, testNatsCluster, until } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { operatorOf, testWorld } from '../testing/boot.ts';

const never = 3_600_000;
const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });

const openCopy = async () => {
  const world = await testWorld();
  const access = await world.startAccess({ checkIntervalMs: never });
  const ask = operatorOf(await world.openBus('operator'));
  const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
  const makeKey = async (): Promise<{ readonly id: number; readonly name: string }> => {
    const { id, value } = (await ask('createKey', { company_id, name: 'k', scopes: ['admin'] })).body;
    return { id, name: keyEntryName(hashKeyValue(value)) };
  };
  const keys = [await makeKey(), await makeKey(), await makeKey()] as const;
  const bus = await world.openBus('gateway');
  const table = followKeyTable({ bus, log });
  cleanUp(() => table.close());
  await table.reload('start');
  await (await world.openTable()).destroy();
  return { world, access, table, company_id, keys };
};

const catchUp = async (table: KeyTable): Promise<void> => {
  void table.reload('test');
  expect(table.trusted()).toBe(false);
  expect(await table.untilTrustedAgain(60_000)).toBe(true);
};

test('a copy learns what it has missed from access, without the bucket', async () => {
  const { world, table, company_id, keys } = await openCopy();
  // As another replica would, whose announcements are lost.
  await world.database.query('UPDATE api_keys SET is_active = 0, version = version + 1 WHERE id = ?', [
    keys[0].id,
  ]);
  await world.database.query('DELETE FROM api_keys WHERE id = ?', [keys[1].id]);
  await world.database.query(
    'UPDATE companies SET limit_read = 7, version = version + 1 WHERE company_id = ?',
    [company_id],
  );
  expect(keys.map(({ name }) => table.key(name)?.active)).toEqual([true, true, true]);
  await catchUp(table);
  expect(keys.map(({ name }) => table.key(name)?.active ?? false)).toEqual([false, false, true]);
  expect(table.company(company_id)?.limits).toEqual({ read: 7 });
  await catchUp(table);
  expect(keys.map(({ name }) => table.key(name)?.active ?? false)).toEqual([false, false, true]);
});

test('a key that was created and revoked meanwhile is not admitted by an announcement that comes late', async () => {
  const { world, access, table, company_id, keys } = await openCopy();
  await insertKeys(world, company_id, 1, 'version = 2, is_active = 0, revoked_utc = NOW(3)');
  await catchUp(table);
  const name = nameOf(0);
  expect(table.key(name)).toMatchObject({ version: 2, active: false });
  const entry = { ...table.key(name)!, version: 1, active: true };
  await announce(access.bus, { name, version: 1, entry });
  expect(table.key(name)?.active).toBe(false);
  // Nor is one of which the database knows nothing any more.
  const gone = table.key(keys[0].name)!;
  await world.database.query('DELETE FROM api_keys WHERE id = ?', [keys[0].id]);
  await catchUp(table);
  await announce(access.bus, { name: keys[0].name, version: gone.version, entry: gone });
  expect(table.key(keys[0].name)?.active).toBe(false);
});

test('an answer larger than a message comes in parts', async () => {
  const { world, table, company_id } = await openCopy();
  await insertKeys(world, company_id, 6_000);
  await catchUp(table);
  const missing = Array.from({ length: 6_000 }, (_, at) => nameOf(at)).filter(
    (name) => !table.key(name)?.active,
  );
  expect(missing).toEqual([]);
});

test('a copy is read from the bucket if access cannot read its database', async () => {
  const world = await testWorld();
  await world.startAccess({ checkIntervalMs: never });
  const sources: unknown[] = [];
  const table = followKeyTable({
    bus: await world.openBus('gateway'),
    log: logging({ info: (facts) => sources.push(facts.from) }),
  });
  cleanUp(() => table.close());
  await table.reload('start');
  await world.database.query('RENAME TABLE api_keys TO api_keys_away');
  await catchUp(table);
  expect(sources.filter(Boolean)).toEqual(['bucket', 'bucket']);
});

const logging = (levels: Partial<Record<'info' | 'warn', (facts: Record<string, unknown>) => void>>): Log =>
  Object.assign(Object.create(log), levels);

/** A copy on a cluster whose bucket has no leader any more: two of its three servers are dead. */
const openLeaderless = async () => {
  const [nats, ...others] = await testNatsCluster(3);
  const world = await testWorld(nats);
  await world.startAccess({ checkIntervalMs: never, replicas: 3 });
  const ask = operatorOf(await world.openBus('operator'));
  // The bucket of a cluster that has just started may still elect its leader.
  const create = (operation: 'createCompany' | 'createKey', body: object) =>
    until(operation, async () => {
      const made = await ask(operation, body);
      return made.status === 201 && made.body;
    });
  const { company_id } = await create('createCompany', { name: 'Acme' });
  const made = await create('createKey', { company_id, name: 'k', scopes: [...scopes] });
  const bus = await world.openBus('crm');
  const unreadable: unknown[] = [];
  const callers = followCallers({
    bus,
    log: logging({ warn: (facts) => unreadable.push(facts) }),
    now: () => new Date(),
  });
  cleanUp(() => callers.close());
  await expect.poll(callers.ready).toBe(true);
  for (const other of others) await other.kill();
  const operation = operationById.get('listClientStatuses')!;
  const answer = callers.guard({ operation, answer: each(async () => ({ status: 200, body: null })) });
  const proof = hashKeyValue(made.value);
  const call = (): Promise<Answer> => {
    const sent = {
      operation: operation.id,
      tenant: company_id,
      caller: made.id,
      requestId: '',
      traceparent: '',
    };
    const key = { proof, address: '203.0.113.7' };
    const deadlineMs = performance.now() + 60_000;
    return answer([
      { ...sent, key, params: [], query: '', body: new Uint8Array(), budgetMs: 60_000, deadlineMs },
    ])[0]!;
  };
  return { world, bus, callers, unreadable, call, id: made.id };
};

test('a call that arrives during the catch-up is answered, although the bucket has no leader', async () => {
  const { bus, callers, call } = await openLeaderless();
  const early = new Promise<Answer>((resolve, reject) => {
    bus.onReconnect(() => {
      expect(callers.ready()).toBe(false);
      call().then(resolve, reject);
    });
  });
  await bus.nc.reconnect();
  expect((await early).status).toBe(200);
});

test('a call with a key that was revoked meanwhile is refused after the catch-up', async () => {
  const { world, bus, call, id } = await openLeaderless();
  // As another replica would, whose announcement is lost.
  await world.database.query('UPDATE api_keys SET is_active = 0, version = version + 1 WHERE id = ?', [id]);
  expect((await call()).status).toBe(200);
  const early = new Promise<Answer>((resolve, reject) => {
    bus.onReconnect(() => call().then(resolve, reject));
  });
  await bus.nc.reconnect();
  await expect(early).rejects.toMatchObject({ code: 'unauthorized' });
});

test('access is asked until it can answer, while the bucket has no leader', async () => {
  const { world, bus, callers, unreadable } = await openLeaderless();
  let asked = 0;
  const observer = await world.openBus('observer');
  observer.nc.subscribe(keyChangesSubject, { callback: () => void asked++ });
  await observer.nc.flush();
  await world.database.query('RENAME TABLE api_keys TO api_keys_away');
  await bus.nc.reconnect();
  // More often than a copy asks before it also reads the bucket.
  await expect.poll(() => asked >= 7).toBeTruthy();
  expect(callers.ready()).toBe(false);
  await world.database.query('RENAME TABLE api_keys_away TO api_keys');
  await expect.poll(callers.ready).toBe(true);
  // The first look at the bucket still hangs.
  expect(unreadable).toEqual([]);
});

const announce = async ({ nc }: Bus, change: KeyTableChange): Promise<void> => {
  nc.publish(keyRevokedSubject, JSON.stringify(change), { reply: '_INBOX_access.none' });
  await nc.flush();
  // No reply tells when the copy has handled the announcement.
  await sleep(100);
};

const hashOf = (at: number): string => hashKeyValue(`key ${at}`);
const nameOf = (at: number): string => keyEntryName(hashOf(at));

/** Inserts keys behind the back of `access`. */
const insertKeys = async (
  { database }: Awaited<ReturnType<typeof testWorld>>,
  companyId: number,
  count: number,
  settings = 'version = 1',
): Promise<void> => {
  const rows = Array.from({ length: count }, (_, at) => [
    ...[companyId, `key ${at}`, Buffer.from(hashOf(at), 'base64url')],
    ...['crm', 'abcd', 'admin', new Date()],
  ]);
  await database.query(
    'INSERT INTO api_keys (company_id, name, key_hash, prefix, last4, scopes, created_utc) VALUES ?',
    [rows],
  );
  await database.query(`UPDATE api_keys SET ${settings} WHERE name LIKE 'key %'`);
};
