import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connectDatabase, migrate, readEnv } from '@causeway/runtime';
import { cleanUp, compileCache, provided, testNats, withDatabase } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { migrationFolders } from '../migrate/config.ts';
import { startMysql } from './mysql.ts';
import { readToolchain } from './toolchain.ts';

const root = resolve(import.meta.dirname, '../..');
const { mysqld } = readToolchain(readEnv());

const run = async (entry: string, env: NodeJS.ProcessEnv) => {
  const child = spawn(process.execPath, [join(root, entry)], { env: { ...compileCache, ...env } });
  cleanUp(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
      if (output.includes('"msg":"ready"')) child.kill('SIGTERM');
    });
  const [status] = await once(child, 'close');
  return { status, output };
};

describe.runIf(mysqld)('a MySQL server of your own', { timeout: 180_000 }, async () => {
  const home = mkdtempSync(join(provided('scratch'), 'causeway-test-own-'));
  cleanUp(() => rmSync(home, { recursive: true }));
  const server = await startMysql({ home, program: mysqld! });
  cleanUp(() => server.stop());
  const admin = await createConnection({ uri: server.url, multipleStatements: true });
  cleanUp(() => admin.end());
  const { url: natsUrl } = await testNats();
  const database = async (options = '') => {
    const name = `own_${randomBytes(4).toString('hex')}`;
    if (options !== '') await admin.query(`CREATE DATABASE ${name} ${options}`);
    return { name, url: withDatabase(server.url, name) };
  };
  const tablesOf = async (name: string) =>
    (
      await admin.query<RowDataPacket[]>(
        "SELECT TABLE_NAME name, ENGINE engine FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE'",
        [name],
      )
    )[0];

  test.each([
    ['', 'CHARACTER SET latin1', 'collation_database is latin1_swedish_ci: run ALTER DATABASE'],
    ['', 'COLLATE utf8mb4_general_ci', 'collation_database is utf8mb4_general_ci: run ALTER DATABASE'],
    ['max_allowed_packet = 1048576', '', 'max_allowed_packet is 1048576: set max_allowed_packet=64M'],
    ['binlog_format = STATEMENT', '', 'binlog_format is STATEMENT: set binlog_format=ROW'],
    ['innodb_default_row_format = COMPACT', '', 'innodb_default_row_format is compact: set'],
    [
      'default_collation_for_utf8mb4 = utf8mb4_general_ci',
      '',
      'default_collation_for_utf8mb4 is utf8mb4_gen',
    ],
  ])('with %s %s is refused before anything is created', async (setting, options, sentence) => {
    const { name, url } = await database(options);
    if (setting) await admin.query(`SET GLOBAL ${setting}`);
    const job = await run('deploy/migrate/main.ts', { MYSQL_URL: url });
    if (setting) await admin.query(`SET GLOBAL ${setting.split(' ')[0]} = DEFAULT`);
    expect(job).toEqual({
      status: 78,
      output: expect.stringContaining(`migrate: MYSQL_URL: the server's ${sentence}`),
    });
    expect(await tablesOf(name)).toEqual([]);
  });

  test('refuses services too', async () => {
    const { url } = await database('CHARACTER SET latin1');
    const env = { MYSQL_URL: url, NATS_URL: natsUrl };
    const started = await run('services/crm/main.ts', env);
    expect(started.status).toBe(78);
    expect(started.output).toContain('collation_database is latin1_swedish_ci');
  });

  test('of which a table has another character set is refused', async () => {
    const { name, url } = await database('CHARACTER SET utf8mb4');
    await admin.query(`CREATE TABLE ${name}.old (a VARCHAR(9) CHARACTER SET latin1)`);
    const job = await run('deploy/migrate/main.ts', { MYSQL_URL: url });
    expect(job.status).toBe(78);
    expect(job.output).toContain('the table old has columns in latin1: change them to utf8mb4');
  });

  test('may have any defaults that a session can set', async () => {
    const wrong = {
      autocommit: '0',
      completion_type: "'CHAIN'",
      sql_mode: "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
      transaction_isolation: "'SERIALIZABLE'",
      transaction_read_only: '1',
      auto_increment_increment: '7',
      auto_increment_offset: '3',
      default_storage_engine: 'MyISAM',
      lc_messages: "'de_DE'",
      sql_safe_updates: '1',
      sql_select_limit: '2',
      time_zone: "'+05:00'",
      character_set_server: 'latin1',
    };
    const names = Object.entries(wrong);
    await admin.query(
      `SET GLOBAL ${names.map(([name, value]) => `${name} = ${value}`).join(', GLOBAL ')}, GLOBAL log_bin_trust_function_creators = 1`,
    );
    try {
      const { name, url } = await database();
      await migrate(url, migrationFolders(root));
      const engines = new Set((await tablesOf(name)).map(({ engine }) => engine));
      expect([...engines]).toEqual(['InnoDB']);
      const db = connectDatabase<{ companies: { company_id: number; name: string } }>({
        url,
        poolSize: 1,
        tenantTables: new Set(),
      });
      cleanUp(() => db.close());
      const { rows } = await sql<object>`SELECT @@autocommit autocommit, @@completion_type chain,
        @@transaction_isolation isolation, @@transaction_read_only read_only, @@auto_increment_increment step,
        @@auto_increment_offset offset, @@lc_messages language, @@sql_safe_updates safe, @@time_zone zone,
        @@character_set_connection charset, @@sql_mode mode`.execute(db);
      expect(rows[0]).toMatchObject({
        ...{
          autocommit: 1,
          chain: 'NO_CHAIN',
          isolation: 'READ-COMMITTED',
          read_only: 0,
          step: 1,
          offset: 1,
        },
        ...{ language: 'en_US', safe: 0, zone: '+00:00', charset: 'utf8mb4' },
        mode: expect.not.stringContaining('ANSI_QUOTES'),
      });
      const columns = await admin.query<RowDataPacket[]>(
        "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND CHARACTER_SET_NAME NOT IN ('utf8mb4', 'ascii')",
        [name],
      );
      expect(columns[0]).toEqual([]);
      const started = await run('services/crm/main.ts', { MYSQL_URL: url, NATS_URL: natsUrl });
      expect(started).toMatchObject({ status: 0 });
    } finally {
      await admin.query(`SET GLOBAL ${names.map(([name]) => `${name} = DEFAULT`).join(', GLOBAL ')}`);
    }
  });
});

describe('a NATS server of your own', () => {
  const user = (permissions: object) => ({
    authorization: { users: [{ user: 'gateway', password: 'x', permissions }] },
  });
  test.each([
    ['has a stock max_payload', { max_payload: 2 ** 20 }, 'its max_payload is 1048576: set max_payload: 4MB'],
    ['has no JetStream', { jetstream: false }, 'it has no JetStream: set jetstream with a store_dir'],
    ['allows no headers', { no_header_support: true }, 'it allows no headers: remove no_header_support'],
    [
      'gives a service the user of another',
      user({ publish: { allow: ['>'] }, subscribe: { allow: ['_INBOX_crm.>'] } }),
      'its user may not subscribe to _INBOX_gateway.',
    ],
  ])('that %s is refused', async (_, config, sentence) => {
    const server = await testNats(config);
    const url = new URL(server.url);
    if ('authorization' in config) [url.username, url.password] = ['gateway', 'x'];
    const started = await run('services/gateway/main.ts', { NATS_URL: url.href.replace(/\/$/, '') });
    expect(started.status).toBe(78);
    expect(started.output).toContain(`NATS_URL: ${sentence}`);
  });
});
