import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { describe, expect, it, onTestFinished } from 'vitest';
import { provided, withDatabase } from '../testing/index.ts';
import { MigrationError, migrate } from './migrate.ts';
import { parseMysqlUrl } from './url.ts';

const fixtures = { name: 'fixtures', folder: `${import.meta.dirname}/testing/migrations` };

const freshDatabase = async () => {
  const name = `test_migrate_${randomBytes(6).toString('hex')}`;
  const admin = await createConnection(parseMysqlUrl(withDatabase(provided('mysqlUrl'), '')));
  onTestFinished(async () => {
    await admin.query('DROP DATABASE IF EXISTS ??', [name]);
    await admin.end();
  });
  return { url: withDatabase(provided('mysqlUrl'), name), name, admin };
};

const folderOf = async (files: Record<string, string>) => {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-test-migrations-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return { set: { name: 'set', folder }, write };
};

const rowsOf = async (admin: Connection, sql: string) => (await admin.query<RowDataPacket[]>(sql))[0];

describe('migrate', () => {
  it('creates the database and runs the files in order, then has nothing to do', async () => {
    const { url, name, admin } = await freshDatabase();
    const { set } = await folderOf({
      '002-second.sql': 'INSERT INTO t (a) VALUES (2);',
      '001-first.sql': 'CREATE TABLE t (a INT); INSERT INTO t (a) VALUES (1)',
    });
    expect(await migrate(url, [fixtures, set])).toEqual({
      applied: ['fixtures/001-accounts.sql', 'set/001-first.sql', 'set/002-second.sql'],
    });
    expect(await migrate(url, [fixtures, set])).toEqual({ applied: [] });
    expect(await rowsOf(admin, `SELECT a FROM ${name}.t`)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await rowsOf(admin, `SELECT name FROM ${name}.accounts ORDER BY id`)).toEqual([
      { name: 'semi;colon' },
      { name: `it's "quoted" -- not a comment` },
    ]);
  });

  it('runs each file once when several start together on an empty server', async () => {
    const { url, name, admin } = await freshDatabase();
    const { set } = await folderOf({
      '001-first.sql': 'CREATE TABLE t (a INT); DO SLEEP(0.2); INSERT INTO t (a) VALUES (1)',
      '002-second.sql': 'INSERT INTO t (a) VALUES (2)',
    });
    const results = await Promise.all([1, 2, 3, 4].map(() => migrate(url, [set])));
    expect(results.flatMap(({ applied }) => applied)).toEqual(['set/001-first.sql', 'set/002-second.sql']);
    expect(await rowsOf(admin, `SELECT a FROM ${name}.t`)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('refuses a file that changed after it ran, in any way but its comments', async () => {
    const { url } = await freshDatabase();
    const { set, write } = await folderOf({ '001-first.sql': 'CREATE TABLE t (a INT);' });
    await migrate(url, [set]);
    await write('001-first.sql', '-- Better explained.\nCREATE TABLE t (a INT);');
    expect(await migrate(url, [set])).toEqual({ applied: [] });
    for (const changed of [
      'CREATE TABLE t (a BIGINT)',
      'CREATE TABLE t (a INT); CREATE TABLE u (a INT)',
      '',
    ]) {
      await write('001-first.sql', changed);
      await expect(migrate(url, [set])).rejects.toThrow('set/001-first.sql was changed after');
    }
  });

  it('continues with the failed statement once it is fixed, and repeats none before it', async () => {
    const { url, name, admin } = await freshDatabase();
    const good = 'CREATE TABLE t (a INT); INSERT INTO t (a) VALUES (1);';
    const { set, write } = await folderOf({ '001-first.sql': `${good} INSERT INTO nowhere VALUES (1);` });
    const failure = await migrate(url, [set]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MigrationError);
    expect((failure as Error).message).toContain('set/001-first.sql, statement 3 of 3 failed: Table');
    await expect(migrate(url, [set])).rejects.toThrow('statement 3 of 3 failed');

    await write('001-first.sql', `${good} INSERT INTO t (a) VALUES (3);`);
    expect(await migrate(url, [set])).toEqual({ applied: ['set/001-first.sql'] });
    expect(await rowsOf(admin, `SELECT a FROM ${name}.t`)).toEqual([{ a: 1 }, { a: 3 }]);
  });

  it('refuses to continue a half-run file whose first part was changed', async () => {
    const { url } = await freshDatabase();
    const { set, write } = await folderOf({ '001-first.sql': 'CREATE TABLE t (a INT); nonsense' });
    await expect(migrate(url, [set])).rejects.toThrow('statement 2 of 2 failed');
    await write('001-first.sql', 'CREATE TABLE t (b INT); CREATE TABLE u (a INT)');
    await expect(migrate(url, [set])).rejects.toThrow('was changed after its first 1 statements ran');
  });

  it('says how to mark a statement as done if its effect exists already', async () => {
    const { url, name, admin } = await freshDatabase();
    await migrate(url, []);
    await admin.query(`CREATE TABLE ${name}.t (a INT)`);
    const { set } = await folderOf({ '001-first.sql': 'CREATE TABLE t (a INT)' });
    await expect(migrate(url, [set])).rejects.toThrow(/exists/);
    const failure = (await migrate(url, [set]).catch((error: unknown) => error)) as Error;
    const statement = /mark it as done: (.*);$/.exec(failure.message)?.[1] ?? '';
    await admin.query(`USE ${name}`);
    await admin.query(statement);
    expect(await migrate(url, [set])).toEqual({ applied: [] });
  });

  it('goes on where a job was killed after a statement and before its record', async () => {
    const { url, name, admin } = await freshDatabase();
    const { set, write } = await folderOf({ '001-first.sql': 'CREATE TABLE t (a INT)' });
    await migrate(url, [set]);
    await admin.query(`CREATE TRIGGER ${name}.death BEFORE INSERT ON ${name}.schema_migrations FOR EACH ROW
      IF NEW.file = 'set/002-second.sql' THEN SIGNAL SQLSTATE '45000'; END IF`);
    const alter = 'ALTER TABLE t ADD COLUMN b INT, ADD KEY k (a)';
    await write('002-second.sql', `${alter}; INSERT INTO t (a) VALUES (1)`);
    await expect(migrate(url, [set])).rejects.toThrow('statement 1 of 2 failed');
    await admin.query(`DROP TRIGGER ${name}.death`);
    expect(await migrate(url, [set])).toEqual({ applied: ['set/002-second.sql'] });
    expect(await rowsOf(admin, `SELECT a FROM ${name}.t`)).toEqual([{ a: 1 }]);
    expect(await rowsOf(admin, `SELECT COUNT(*) AS n FROM ${name}.schema_migrations`)).toEqual([{ n: 2 }]);
  });

  it('refuses a database that has run other files of a set than its first', async () => {
    const { url, name, admin } = await freshDatabase();
    await migrate(url, [(await folderOf({ '001-old.sql': 'CREATE TABLE t (a INT)' })).set]);
    const { set } = await folderOf({ '001-schema.sql': 'CREATE TABLE u (a INT)' });
    await expect(migrate(url, [set])).rejects.toThrow('Begin with an empty database');
    expect(await rowsOf(admin, `SHOW TABLES FROM ${name} LIKE 'u'`)).toEqual([]);
  });

  it('refuses gaps, duplicate numbers and unknown names', async () => {
    const { url } = await freshDatabase();
    const table = 'CREATE TABLE t (a INT)';
    const names: [string, string][] = [
      ['002-late.sql', 'expected number 001'],
      ['002-new-schema.sql', 'expected number 001'],
      ['1-short.sql', 'must be named NNN-name.sql'],
      ['001_under.sql', 'must be named NNN-name.sql'],
    ];
    for (const [name, words] of names) {
      const { set } = await folderOf({ [name]: table });
      await expect(migrate(url, [set])).rejects.toThrow(words);
    }
    const twins = await folderOf({ '001-a.sql': table, '001-b.sql': table });
    await expect(migrate(url, [twins.set])).rejects.toThrow('set/001-b.sql: expected number 002');
  });

  it('gives up on a table that stays in use, and waits for one that becomes free', async () => {
    const { url } = await freshDatabase();
    const { set, write } = await folderOf({ '001-first.sql': 'CREATE TABLE t (a INT PRIMARY KEY)' });
    await migrate(url, [set]);
    await write('002-second.sql', 'ALTER TABLE t ADD b INT, ALGORITHM = INSTANT');
    const long = await createConnection(parseMysqlUrl(url));
    onTestFinished(() => long.end());
    await long.query('START TRANSACTION');
    await long.query('SELECT a FROM t');
    await expect(migrate(url, [set], { retryForMs: 500 })).rejects.toThrow('Lock wait timeout exceeded');
    const waited: string[] = [];
    const onWait = (file: string) => {
      if (waited.push(file) === 2) void long.query('COMMIT');
    };
    expect(await migrate(url, [set], { onWait })).toEqual({ applied: ['set/002-second.sql'] });
    expect(new Set(waited)).toEqual(new Set(['set/002-second.sql']));
  });

  it('does nothing on a server whose URL names no database', async () => {
    await expect(migrate(withDatabase(provided('mysqlUrl'), ''), [fixtures])).rejects.toThrow(
      'the MySQL URL names no database',
    );
  });
});
