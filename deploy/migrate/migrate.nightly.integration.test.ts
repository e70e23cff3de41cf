import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { cleanUp, compileCache, provided, withDatabase } from '@causeway/runtime/testing';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { startMysql } from '../local/mysql.ts';
import { readToolchain } from '../local/toolchain.ts';
import { migrationFolders } from './config.ts';

const root = resolve(import.meta.dirname, '../..');

const run = (env: NodeJS.ProcessEnv, ...args: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    env: { ...compileCache, ...env },
    encoding: 'utf8',
  });

test('the job brings an empty database up to date, and a second run finds nothing to do', async () => {
  const database = `migrate_${randomBytes(6).toString('hex')}`;
  const url = withDatabase(provided('mysqlUrl'), database);
  const connection = await createConnection(provided('mysqlUrl'));
  cleanUp(async () => {
    await connection.query('DROP DATABASE IF EXISTS ??', [database]);
    await connection.end();
  });

  const first = run({ MYSQL_URL: url });
  expect(first.stderr).toBe('');
  expect(first.status).toBe(0);
  const files = migrationFolders(root).flatMap(({ folder }) => globSync('*.sql', { cwd: folder }));
  expect(first.stdout).toContain(`${files.length} applied`);
  const [tables] = await connection.query('SHOW TABLES FROM ??', [database]);
  expect(JSON.stringify(tables)).toContain('api_keys');

  expect(run({ MYSQL_URL: url })).toMatchObject({ status: 0, stdout: 'nothing to apply\n' });
});

test('only a job that grants may revoke', () => {
  const env = { MYSQL_URL: provided('mysqlUrl') };
  expect(run(env, '--contract')).toMatchObject({
    status: 78,
    stderr: 'migrate: configuration: --contract needs MYSQL_GRANTS=true\n',
  });
});

test('a missing URL is a configuration error, an unreachable server a failure', () => {
  expect(run({})).toMatchObject({ status: 78, stderr: 'migrate: configuration: MYSQL_URL is required\n' });
  const away = run({ MYSQL_URL: 'mysql://causeway:hidden@127.0.0.1:1/causeway' });
  expect(away.status).toBe(1);
  expect(away.stderr).not.toContain('hidden');
});

test('the job runs the migrations of every service', () => {
  const present = globSync('services/*/migrations', { cwd: root }).sort();
  const listed = migrationFolders(root).map(({ folder }) => relative(root, folder));
  expect([...listed].sort()).toEqual(present);
});

const { mysqld } = readToolchain(readEnv());

test.runIf(mysqld)(
  'where only administrators may create triggers, the job does all else, and a later run adds them',
  { timeout: 120_000 },
  async () => {
    const home = mkdtempSync(join(provided('scratch'), 'causeway-test-migrate-'));
    cleanUp(() => rmSync(home, { recursive: true }));
    const server = await startMysql({ home, program: mysqld! });
    cleanUp(() => server.stop());
    const admin = await createConnection(server.url);
    cleanUp(() => admin.end());
    await admin.query('SET GLOBAL log_bin_trust_function_creators = OFF');
    await admin.query("CREATE USER causeway_migrate@'%' IDENTIFIED BY 'secret'");
    await admin.query("GRANT ALL ON causeway.* TO causeway_migrate@'%' WITH GRANT OPTION");
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = ['causeway_migrate', 'secret', '/causeway'];
    const states = async () => {
      const [triggers] = await admin.query<RowDataPacket[]>('SHOW TRIGGERS FROM causeway');
      const [marks] = await admin.query<RowDataPacket[]>('SELECT company_id FROM causeway.lookup_versions');
      return { triggers: triggers.length, marks: marks.length };
    };

    const first = run({ MYSQL_URL: url.href });
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(
      /^crm\/\d{3}-lookup-triggers\.sql: its triggers need log_bin_trust_function_creators/m,
    );
    expect(await states()).toEqual({ triggers: 0, marks: 0 });

    await admin.query('SET GLOBAL log_bin_trust_function_creators = ON');
    expect(run({ MYSQL_URL: url.href }).stdout).toMatch(/^applied crm\/\d{3}-lookup-triggers\.sql$/m);
    expect(await states()).toEqual({ triggers: 6, marks: 1 });
    expect(run({ MYSQL_URL: url.href }).stdout).toBe('nothing to apply\n');
  },
);
