import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { cleanUp, compileCache, provided, withDatabase } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
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
