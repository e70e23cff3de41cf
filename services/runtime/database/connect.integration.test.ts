import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CompiledQuery, sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { provided, testDatabase } from '../testing/index.ts';
import { connectDatabase } from './connect.ts';
import { DatabaseUnavailable, TenantGuardError } from './errors.ts';
import { openServerConnection } from './server-connection.ts';
import { startProxy } from './testing/proxy.ts';
import { parseMysqlUrl } from './url.ts';

interface Tables {
  accounts: {
    company_id: number;
    id?: number;
    name: string;
    balance?: number | string;
    rate?: string;
    is_open?: number;
    created_utc?: Date;
  };
}

const folders = [{ name: 'fixtures', folder: `${import.meta.dirname}/testing/migrations` }];
const database = await testDatabase({ folders });
const tenantTables = new Set(['accounts']);

describe('a database', () => {
  it('sets each connection to UTC, strict mode and READ COMMITTED', async () => {
    const db = database.connect<Tables>();
    const { rows } = await sql`select @@time_zone as zone, @@transaction_isolation as isolation,
      @@sql_mode as mode, @@innodb_lock_wait_timeout as wait, @@character_set_client as chars`.execute(db);
    expect(rows[0]).toMatchObject({ zone: '+00:00', isolation: 'READ-COMMITTED', wait: 2, chars: 'utf8mb4' });
    expect(rows[0]).toHaveProperty('mode', expect.stringContaining('STRICT_ALL_TABLES'));
  });

  it('reads back what it wrote: dates, decimals, large numbers, text beyond the BMP', async () => {
    const db = database.connect<Tables>({ tenantTables });
    const created = new Date('2026-02-03T04:05:06.789Z');
    const row = { company_id: 2, name: "Ünï '\\ 😀", balance: '9007199254740993', rate: '12.50', is_open: 0 };
    const { insertId } = await db
      .insertInto('accounts')
      .values({ ...row, created_utc: created })
      .executeTakeFirstOrThrow();
    const read = await db
      .selectFrom('accounts')
      .selectAll()
      .where('company_id', '=', 2)
      .where('created_utc', '=', created)
      .executeTakeFirstOrThrow();
    expect(read).toMatchObject({ ...row, id: Number(insertId), created_utc: created });
    expect(JSON.stringify(read.created_utc)).toBe('"2026-02-03T04:05:06.789Z"');
  });

  it('treats an object value as text, not as a condition', async () => {
    const db = database.connect<Tables>({ tenantTables });
    const found = await db
      .selectFrom('accounts')
      .select('id')
      .where('company_id', '=', 0)
      .where('name', '=', { name: 1 } as never)
      .execute();
    expect(found).toEqual([]);
  });

  it('refuses an unguarded query before it is sent', async () => {
    const db = database.connect<Tables>({ tenantTables });
    await expect(db.selectFrom('accounts').selectAll().execute()).rejects.toThrow(TenantGuardError);
    await expect(db.executeQuery(CompiledQuery.raw('select * from accounts'))).rejects.toThrow(
      'bypassed the tenant guard',
    );
    const elsewhere = database.connect<Tables>().selectFrom('accounts').selectAll().compile();
    await expect(db.executeQuery(elsewhere)).rejects.toThrow('bypassed the tenant guard');
  });

  it('says where it could not connect, and when it can again', async () => {
    const url = new URL(database.url);
    const port = await closedPort();
    url.port = String(port);
    const db = connectDatabase<Tables>({ url: url.href, poolSize: 1, tenantTables });
    onTestFinished(() => db.close());
    expect(db.isUp()).toBe(true);
    const error = await db.ping().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error).toMatchObject({
      kind: 'unreachable',
      message: `cannot connect to MySQL at 127.0.0.1:${port}: ECONNREFUSED`,
    });
    expect(db.isUp()).toBe(false);
    await startProxy(parseMysqlUrl(database.url), undefined, port);
    await expect.poll(() => db.isUp()).toBe(true);
  });

  it('bounds the wait for a connection, and the number of waiters', async () => {
    const metrics = createMetrics();
    const db = database.connect<Tables>({ poolSize: 1, acquireTimeoutMs: 100, queueLimit: 2, metrics });
    // Opening a connection may take longer than the wait for one.
    await expect
      .poll(() =>
        db.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const slow = sql`do sleep(60)`.execute(db);
    await expect.poll(() => db.use().inUse, { interval: 5 }).toBe(1);
    const waiting = [1, 2, 3].map(() => db.ping().catch((error: unknown) => error));
    expect(await metrics.registry.metrics()).toMatch(/database_connections_in_use 1\n/);
    const outcomes = await Promise.all(waiting);
    expect(outcomes.map((error) => (error as DatabaseUnavailable).kind)).toEqual(['busy', 'busy', 'busy']);
    expect(outcomes.map(String).filter((text) => text.includes('too many queries are waiting'))).toHaveLength(
      1,
    );
    await database.query('KILL QUERY ?', [(await sleeping())[0]!.id]);
    await slow;
    await db.ping();
    expect(db.use()).toEqual({ inUse: 0, waiting: 0 });
  });

  it('works with as many connections as the server gives, and takes more when it gives more', async () => {
    const { db, allow } = await limitedUser(3);
    let down = false;
    const watching = setInterval(() => {
      down ||= !db.isUp();
    }, 10);
    const work = () => sql<{ id: number }>`select connection_id() as id, sleep(0.02)`.execute(db);
    const answers = await Promise.all(Array.from({ length: 120 }, work));
    const used = new Set(answers.map(({ rows }) => rows[0]!.id));
    expect(used.size).toBe(3);
    await allow(6);
    await expect
      .poll(async () => {
        const more = await Promise.all(Array.from({ length: 60 }, work));
        return new Set(more.map(({ rows }) => rows[0]!.id)).size;
      })
      .toBe(6);
    clearInterval(watching);
    expect(down).toBe(false);
  });

  it('is unreachable while the server gives it no connection at all', async () => {
    const { db, url } = await limitedUser(1);
    const other = connectDatabase<Tables>({ url, poolSize: 1, tenantTables });
    await other.ping();
    const [one, two] = await Promise.all([db.ping(), db.ping()].map((ping) => ping.catch(String)));
    expect([one, two]).toEqual(Array(2).fill(expect.stringContaining('ER_USER_LIMIT_REACHED')));
    expect(db.isUp()).toBe(false);
    await other.close();
    await expect.poll(() => db.isUp()).toBe(true);
    await db.ping();
  });

  it('gives up on a server that accepts connections and stays silent', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const db = connectDatabase<Tables>({
      url: `mysql://me:secret-word@127.0.0.1:${port}/x`,
      poolSize: 1,
      tenantTables,
      connectTimeoutMs: 100,
    });
    onTestFinished(() => db.close());
    const error = (await db.ping().catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain('ETIMEDOUT');
    expect(error.message).not.toContain('secret-word');
  });

  it('ends a select that runs too long', async () => {
    const db = database.connect<Tables>({ session: { selectTimeoutMs: 50 } });
    const long = sql`select count(*) from information_schema.columns a, information_schema.columns b,
      information_schema.columns c where a.table_name < b.table_name and b.table_name < c.table_name`;
    await expect(long.execute(db)).rejects.toMatchObject({ errno: 3024 });
  });

  it('waits for queries in flight before it closes, and refuses later ones', async () => {
    const db = database.connect<Tables>({ poolSize: 2 });
    let finished = 0;
    const slow = sql`do sleep(5)`.execute(db).then(() => finished++);
    // Ends while `close` still waits for the query.
    db.background(() => sleep(100).then(() => finished++));
    await expect.poll(sleeping).toHaveLength(1);
    await db.close();
    expect(await sleeping()).toEqual([]);
    await expect.poll(() => finished).toBe(2);
    await slow;
    await expect(db.ping()).rejects.toMatchObject({ name: 'DatabaseUnavailable', kind: 'closed' });
    await db.close();
  });
});

const sleeping = () =>
  database.query<{ id: number }>(
    "SELECT id FROM information_schema.processlist WHERE db = ? AND info LIKE 'do sleep%'",
    [database.name],
  );

const limitedUser = async (connections: number) => {
  const user = `limited_${randomBytes(4).toString('hex')}`;
  const allow = (count: number) =>
    database.query(`ALTER USER ${user}@'%' WITH MAX_USER_CONNECTIONS ${count}`);
  await database.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'x'`);
  await database.query(`GRANT SELECT ON \`${database.name}\`.* TO ${user}@'%'`);
  await allow(connections);
  const url = new URL(database.url);
  url.username = user;
  url.password = 'x';
  const db = connectDatabase<Tables>({ url: url.href, poolSize: 8, tenantTables });
  onTestFinished(async () => {
    await db.close();
    await database.query(`DROP USER ${user}@'%'`);
  });
  return { db, url: url.href, allow };
};

const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
};

it('a session that the server has ended is known to be over as soon as the driver is told', async () => {
  const { connection, ready } = openServerConnection({
    address: parseMysqlUrl(provided('mysqlUrl')),
    session: 'SET SESSION wait_timeout = 1',
    connectTimeoutMs: 30_000,
    now: () => performance.now(),
    onHeard: () => {},
    onAddresses: () => {},
    onClosed: () => {},
  });
  await ready;
  const isOpenWhenTold = await new Promise((resolve) =>
    connection.raw.on('error', () => resolve(connection.isOpen())),
  );
  expect(isOpenWhenTold).toBe(false);
});
