import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { cleanUp, provided, testDatabase, withDatabase } from '@causeway/runtime/testing';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { beforeAll, describe, expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';
import { applyGrants, applyRevokes, makeUsers, userOf } from './grants.ts';
import { mysqlServices, privileges } from './privileges.ts';

const root = resolve(import.meta.dirname, '../..');
const database = await testDatabase({ folders: migrationFolders(root), withDays: false });
const prefix = `t${randomBytes(4).toString('hex')}`;
const password = randomBytes(12).toString('hex');

const open = async (user: string): Promise<Connection> => {
  const url = new URL(database.url);
  [url.username, url.password] = [user, password];
  const connection = await createConnection(url.href);
  cleanUp(() => connection.end());
  return connection;
};

const admin = await createConnection(withDatabase(provided('mysqlUrl'), ''));
cleanUp(async () => {
  for (const name of [...mysqlServices.map((service) => userOf(service, prefix)), `${prefix}_migrate`])
    await admin.query("DROP USER IF EXISTS ?@'%'", [name]);
  await admin.end();
});
await makeUsers(admin, () => password, prefix);
// As in production: the migrations' user may do anything in this database, and nothing elsewhere.
await admin.query("CREATE USER ?@'%' IDENTIFIED BY ?", [`${prefix}_migrate`, password]);
await admin.query("GRANT ALL ON ??.* TO ?@'%' WITH GRANT OPTION", [database.name, `${prefix}_migrate`]);
const migrateUrl = new URL(database.url);
[migrateUrl.username, migrateUrl.password] = [`${prefix}_migrate`, password];
await applyGrants(migrateUrl.href, root, prefix);

const as = Object.fromEntries(
  await Promise.all(mysqlServices.map(async (name) => [name, await open(userOf(name, prefix))] as const)),
) as Record<(typeof mysqlServices)[number], Connection>;

const refusal = (service: keyof typeof as, statement: string): Promise<string | undefined> =>
  as[service].query(statement).then(
    () => undefined,
    (error: { code: string }) => error.code,
  );

test.each([
  ['crm', 'SELECT * FROM portal_sessions'],
  ['crm', 'SELECT * FROM portal_users'],
  ['crm', 'SELECT * FROM api_keys'],
  ['crm', 'SELECT * FROM subscriptions'],
  ['crm', 'SELECT * FROM audit_log'],
  ['crm', 'DELETE FROM events'],
  ['crm', 'DELETE FROM audit_log'],
  ['crm', 'UPDATE lookup_versions SET version = 1'],
  ['webhooks', 'SELECT * FROM lookup_versions'],
  ['dispatcher', 'SELECT * FROM api_keys'],
  ['dispatcher', 'SELECT * FROM portal_sessions'],
  ['dispatcher', 'SELECT * FROM clients'],
  ['dispatcher', 'SELECT * FROM sealed_keys'],
  ['dispatcher', 'SELECT * FROM audit_log'],
  ['dispatcher', 'DELETE FROM subscriptions'],
  ['dispatcher', 'DELETE FROM deliveries'],
  ['dispatcher', 'INSERT INTO event_outbox () VALUES ()'],
  ['webhooks', 'UPDATE event_outbox SET leased_until = NULL'],
  ['webhooks', 'DELETE FROM event_outbox'],
  ['webhooks', 'SELECT * FROM api_keys'],
  ['webhooks', 'SELECT * FROM portal_users'],
  ['webhooks', 'SELECT * FROM clients'],
  ['webhooks', "UPDATE audit_log SET actor_name = 'nobody'"],
  ['webhooks', 'UPDATE events SET company_id = 1'],
  ['webhooks', 'DELETE FROM events'],
  ['webhooks', "UPDATE deliveries SET state = 'waiting'"],
  ['webhooks', 'INSERT INTO deliveries () VALUES ()'],
  ['webhooks', 'INSERT INTO delivery_attempts () VALUES ()'],
  ['webhooks', 'UPDATE delivery_queues SET consecutive_failures = 0'],
  ['webhooks', 'INSERT INTO delivery_queues () VALUES ()'],
  ['webhooks', 'UPDATE delivery_minutes SET failed = 0'],
  ['dispatcher', 'INSERT INTO subscription_changes () VALUES ()'],
  ['dispatcher', 'INSERT INTO replays () VALUES ()'],
  ['access', 'SELECT * FROM clients'],
  ['access', 'SELECT * FROM subscriptions'],
  ['access', 'SELECT * FROM events'],
  ['access', "UPDATE audit_log SET actor_name = 'nobody'"],
] as const)('%s may not: %s', async (service, statement) => {
  expect(await refusal(service, statement)).toBe('ER_TABLEACCESS_DENIED_ERROR');
});

test.each([
  ['crm', "INSERT INTO statuses (company_id, status_name) VALUES (1, 'Client - of a trigger')"],
  ['webhooks', 'SELECT 1 FROM event_outbox'],
  ['webhooks', 'SELECT 1 FROM replays FOR UPDATE'],
  ['webhooks', 'SELECT 1 FROM subscription_changes FOR UPDATE'],
  ['webhooks', 'DELETE FROM missed_events'],
  [
    'webhooks',
    'INSERT INTO missed_events VALUES (1, 1, 1, UTC_TIMESTAMP()) ON DUPLICATE KEY UPDATE missed = 2',
  ],
  ['dispatcher', 'DELETE FROM subscription_changes'],
  ['webhooks', 'DELETE FROM subscription_changes'],
  ['access', 'DELETE FROM audit_log'],
  ['dispatcher', 'SELECT 1 FROM subscriptions FOR UPDATE'],
  ['dispatcher', 'SELECT 1 FROM webhook_companies FOR UPDATE SKIP LOCKED'],
] as const)('%s may: %s', async (service, statement) => {
  expect(await refusal(service, statement)).toBeUndefined();
});

describe.each(mysqlServices)('%s', (service) => {
  test.each([
    'ALTER TABLE audit_log ADD COLUMN more INT',
    'ALTER TABLE api_keys DROP COLUMN key_hash',
    'DROP TABLE clients',
    'CREATE TABLE mine (id INT)',
    'CREATE TABLE schema_migrations_2 LIKE companies',
    'CREATE INDEX mine ON clients (company_id)',
    'CREATE TRIGGER mine BEFORE INSERT ON clients FOR EACH ROW SET @a = 1',
    'CREATE VIEW mine AS SELECT * FROM companies',
    'TRUNCATE TABLE audit_log',
    'SELECT * FROM schema_migrations',
    'SELECT * FROM mysql.user',
    "CREATE USER somebody@'%'",
    `GRANT SELECT ON \`${database.name}\`.clients TO 'root'@'localhost'`,
    "SELECT 1 INTO OUTFILE '/tmp/mine'",
    'SET GLOBAL general_log = 1',
    'SHOW BINARY LOGS',
  ])('may not: %s', async (statement) => {
    expect(await refusal(service, statement)).toMatch(/DENIED|SPECIFIC_ACCESS|NONEXISTING/);
  });

  test('sees only tables that it may use', async () => {
    const [rows] = await as[service].query<(RowDataPacket & { name: string })[]>(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1',
    );
    const mine = Object.entries(privileges(root)[service]).filter(([, may]) => may.length > 0);
    expect(rows.map(({ name }) => name)).toEqual(mine.map(([name]) => name).sort());
  });
});

test.each([
  ['webhooks', ['events']],
  ['dispatcher', ['deliveries', 'delivery_attempts', 'delivery_minutes']],
] as const)('only %s creates and drops the daily partitions of %j', async (owner, tables) => {
  for (const table of tables) {
    const split = `ALTER TABLE ${table} REORGANIZE PARTITION future INTO (
      PARTITION p20260131 VALUES LESS THAN ('2026-02-01'), PARTITION future VALUES LESS THAN (MAXVALUE))`;
    expect([table, await refusal(owner, split)]).toEqual([table, undefined]);
    const drop = `ALTER TABLE ${table} DROP PARTITION p20260131`;
    for (const other of mysqlServices.filter((service) => service !== owner))
      expect([other, await refusal(other, drop)]).toEqual([other, 'ER_TABLEACCESS_DENIED_ERROR']);
    expect([table, await refusal(owner, drop)]).toEqual([table, undefined]);
  }
});

test('a password is replaced while the old one still works, and the old one ends on demand', async () => {
  const user = `${prefix}_rotated`;
  const { hostname, port } = new URL(migrateUrl);
  const opens = async (password: string): Promise<boolean> => {
    try {
      const connection = await createConnection({ host: hostname, port: Number(port), user, password });
      await connection.end();
      return true;
    } catch {
      return false;
    }
  };
  await admin.query("CREATE USER ?@'%' IDENTIFIED BY 'old'", [user]);
  cleanUp(async () => void (await admin.query("DROP USER ?@'%'", [user])));
  await admin.query("ALTER USER ?@'%' IDENTIFIED BY 'fresh' RETAIN CURRENT PASSWORD", [user]);
  expect([await opens('old'), await opens('fresh')]).toEqual([true, true]);
  await admin.query("ALTER USER ?@'%' DISCARD OLD PASSWORD", [user]);
  expect([await opens('old'), await opens('fresh')]).toEqual([false, true]);
});

describe('a grant that is not in the table', () => {
  beforeAll(async () => {
    await admin.query("GRANT SELECT, DELETE ON ??.api_keys TO ?@'%'", [database.name, userOf('crm', prefix)]);
    await admin.query("REVOKE SELECT ON ??.clients FROM ?@'%'", [database.name, userOf('crm', prefix)]);
  });

  test('stays while the release before runs, and missing grants are added; then it is revoked', async () => {
    expect(await refusal('crm', 'SELECT * FROM clients')).toBe('ER_TABLEACCESS_DENIED_ERROR');
    await applyGrants(migrateUrl.href, root, prefix);
    expect(await refusal('crm', 'SELECT * FROM api_keys')).toBeUndefined();
    expect(await refusal('crm', 'SELECT * FROM clients')).toBeUndefined();
    await applyRevokes(migrateUrl.href, root, prefix);
    expect(await refusal('crm', 'SELECT * FROM api_keys')).toBe('ER_TABLEACCESS_DENIED_ERROR');
    expect(await refusal('crm', 'SELECT * FROM clients')).toBeUndefined();
  });
});
