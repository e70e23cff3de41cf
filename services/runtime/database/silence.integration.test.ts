import type { LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { testDatabase } from '../testing/index.ts';
import { connectDatabase, type DatabaseOptions } from './connect.ts';
import { CommitOutcomeUnknown, DatabaseUnavailable, isConnectionLost } from './errors.ts';
import { startProxy } from './testing/proxy.ts';
import { transaction } from './transaction.ts';
import { parseMysqlUrl } from './url.ts';

interface Tables {
  accounts: { company_id: number; id?: number; name: string; balance?: number };
}

const folders = [{ name: 'fixtures', folder: `${import.meta.dirname}/testing/migrations` }];
const database = await testDatabase({ folders });
const hostName = 'mysql.test';
const addresses = ['127.0.0.1', '127.0.0.2'] as const;

/** Two hosts in front of one server, and a name that points to the first. */
const openHosts = async (options: Partial<DatabaseOptions> = {}) => {
  const server = parseMysqlUrl(database.url);
  const first = await startProxy(server, undefined, 0, addresses[0]);
  const second = await startProxy(server, undefined, first.port, addresses[1]);
  let address: string = addresses[0];
  const lookup = ((_name, { all }, callback) =>
    all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4)) as LookupFunction;
  const url = new URL(database.url);
  url.host = `${hostName}:${first.port}`;
  const db = connectDatabase<Tables>({
    url: url.href,
    poolSize: 4,
    tenantTables: new Set(['accounts']),
    lookup,
    ...options,
  });
  onTestFinished(() => db.close());
  const failover = (): void => {
    address = addresses[1];
  };
  return { db, first, second, failover };
};

const use = (db: Awaited<ReturnType<typeof openHosts>>['db'], connections: number) =>
  Promise.all(Array.from({ length: connections }, () => sql`do sleep(0.05)`.execute(db)));

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test('a host that vanishes is unreachable soon, and its successor is found by its name', async () => {
  const { db, first, second, failover } = await openHosts();
  await use(db, 4);
  expect(first.connections()).toBe(4);
  first.vanish();
  const underWay = [1, 2].map(() => errorOf(sql`select 1`.execute(db)));
  await expect.poll(db.isUp).toBe(false);
  // Nobody waits for a server that does not answer.
  expect(await errorOf(db.ping())).toMatchObject({ name: 'DatabaseUnavailable', kind: 'unreachable' });
  for (const error of await Promise.all(underWay)) expect(isConnectionLost(error)).toBe(true);
  // The idle ones are closed with those that were in use; only an attempt to connect is left.
  await expect.poll(first.connections).toBeLessThanOrEqual(1);
  failover();
  await expect.poll(db.isUp).toBe(true);
  await use(db, 4);
  expect(second.connections()).toBe(4);
  await expect.poll(first.connections).toBe(0);
});

test('without traffic a pool notices that the host vanished, and that it is back', async () => {
  const { db, first, failover } = await openHosts();
  await db.ping();
  first.vanish();
  await expect.poll(db.isUp).toBe(false);
  failover();
  await expect.poll(db.isUp).toBe(true);
});

test('a commit without an answer has an unknown outcome', async () => {
  const { db, first } = await openHosts();
  const work = transaction(db, async (trx) => {
    await sql`select 1`.execute(trx);
    first.vanish();
  });
  expect(await errorOf(work)).toBeInstanceOf(CommitOutcomeUnknown);
});

test('a write outside a transaction that has no answer has an unknown outcome, a read is lost', async () => {
  const { db, first } = await openHosts();
  await use(db, 2);
  first.vanish();
  const add = db.insertInto('accounts').values({ company_id: 9, name: 'x' }).execute();
  const [write, read] = await Promise.all([errorOf(add), errorOf(sql`select 1`.execute(db))]);
  expect(write).toBeInstanceOf(CommitOutcomeUnknown);
  expect(write).not.toBeInstanceOf(DatabaseUnavailable);
  expect(isConnectionLost(read)).toBe(true);
});

test('connections to a former address are closed, although their server still answers', async () => {
  const { db, first, second, failover } = await openHosts();
  await use(db, 2);
  failover();
  await use(db, 4);
  await expect.poll(() => [first, second].map((one) => one.connections())).toEqual([0, 2]);
  await use(db, 4);
  expect(second.connections()).toBe(4);
});

test('slow statements on every connection do not make the server unreachable', async () => {
  const db = database.connect<Tables>({ poolSize: 2 });
  let down = false;
  const watching = setInterval(() => {
    down ||= !db.isUp();
  }, 10);
  await Promise.all([1, 2, 3].map(() => sql`do sleep(2)`.execute(db)));
  clearInterval(watching);
  expect(down).toBe(false);
});

test('a statement without an answer in time closes its connection, and no other one', async () => {
  const metrics = createMetrics();
  const db = database.connect<Tables>({ poolSize: 2, statementTimeoutMs: 6_000, metrics });
  const [slow, quick] = await Promise.all([
    errorOf(sql`do sleep(60)`.execute(db)),
    errorOf(sql`do sleep(1)`.execute(db)),
  ]);
  expect(quick).toBeUndefined();
  expect(slow).toMatchObject({ message: expect.stringContaining('gave no answer within') });
  expect(isConnectionLost(slow)).toBe(true);
  expect(db.isUp()).toBe(true);
  expect(await metrics.registry.metrics()).toMatch(/^database_unanswered_total 1$/m);
  await db.ping();
});

test('a process that stood still does not blame the server for answers that it has not read', async () => {
  const db = database.connect<Tables>({ poolSize: 1, statementTimeoutMs: 1_000 });
  await db.ping();
  const answered = sql`do sleep(0.2)`.execute(db);
  await sleep(50);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
  await answered;
  expect(db.isUp()).toBe(true);
});

test('the server frees the locks of a client that is cut off in the middle of a transaction', async () => {
  await database.query("INSERT INTO accounts (company_id, name) VALUES (8, 'locked')");
  const { db, first } = await openHosts({ session: { idleTimeoutS: 1 } });
  const cutOff = errorOf(
    transaction(db, async (trx) => {
      await trx.updateTable('accounts').set({ name: 'cut off' }).where('company_id', '=', 8).execute();
      first.vanish();
      await sql`select 1`.execute(trx);
    }),
  );
  await expect.poll(db.isUp).toBe(false);
  const other = database.connect<Tables>({ tenantTables: new Set(['accounts']) });
  await transaction(other, (trx) =>
    trx.updateTable('accounts').set({ name: 'free' }).where('company_id', '=', 8).execute(),
  );
  expect(await cutOff).toBeInstanceOf(Error);
  const rows = await database.query<{ name: string }>('SELECT name FROM accounts WHERE company_id = 8');
  expect(rows).toEqual([{ name: 'free' }]);
});

test('connections stay open while nobody uses them', async () => {
  const db = database.connect<Tables>({ poolSize: 3, session: { idleTimeoutS: 6 } });
  const ids = async () => {
    const found = await Promise.all(
      [1, 2, 3].map(() => sql<{ id: number }>`select connection_id() as id, sleep(0.05)`.execute(db)),
    );
    return found.map(({ rows }) => rows[0]!.id).sort();
  };
  const before = await ids();
  // Longer than the idle limit of six seconds.
  await sleep(7_500);
  expect(await ids()).toEqual(before);
});
