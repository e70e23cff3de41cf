import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { connectDatabase, type Database, type DatabaseOptions } from '../database/connect.ts';
import { type MigrationFolder, migrate } from '../database/migrate.ts';
import { parseMysqlUrl, withDatabase } from '../database/url.ts';
import { cleanUp } from './cleanup.ts';
import { provided } from './provided.ts';

/** A database of one test file, as the migrations leave it. */
export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Opens a pool that is closed before the database is dropped. */
  connect<DB>(options?: Partial<Omit<DatabaseOptions, 'url'>>): Database<DB>;
  /** Plain SQL past every guard, to arrange and to look. */
  query<Row = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Makes a database that nobody else uses and drops it at the end of the file (or of the test). Connections
 * that are then still open on it fail the file: something forgot to close its pool.
 *
 * The migrations run once, into a template whose name is a digest of them; each database is loaded from the
 * template's tables, and their rows, as MySQL cannot copy a database.
 */
export const testDatabase = async ({ folders }: TestDatabaseOptions): Promise<TestDatabase> => {
  const serverUrl = provided('mysqlUrl');
  const template = `test_template_${await digestOf(folders)}`;
  await migrate(withDatabase(serverUrl, template), folders);

  const name = `test_${Date.now().toString(36)}_${randomBytes(5).toString('hex')}`;
  const url = withDatabase(serverUrl, name);
  const admin = await connectTo(withDatabase(serverUrl, ''));
  await admin.query('CREATE DATABASE ??', [name]);
  cleanUp(async () => {
    const left = await connectionsLeft(admin, name);
    await admin.query('DROP DATABASE ??', [name]);
    await admin.end();
    if (left > 0)
      throw new Error(`${left} connections to the test's database were left open: close the pool`);
  });
  await loadTables(admin, template, name);

  return {
    url,
    name,
    connect: <DB>(options: Partial<Omit<DatabaseOptions, 'url'>> = {}) => {
      const db = connectDatabase<DB>({ poolSize: 5, tenantTables: new Set(), ...options, url });
      cleanUp(() => db.close());
      return db;
    },
    query: async <Row>(sql: string, values: readonly unknown[] = []) => {
      const [rows] = await admin.query<RowDataPacket[]>(sql, values as unknown[]);
      return rows as Row[];
    },
  };
};

interface TestDatabaseOptions {
  readonly folders: readonly MigrationFolder[];
}

const leakGraceMs = 1_000;

const connectTo = (url: string): Promise<Connection> =>
  createConnection({ ...parseMysqlUrl(url), charset: 'utf8mb4_0900_ai_ci', timezone: 'Z' });

const digestOf = async (folders: readonly MigrationFolder[]): Promise<string> => {
  const hash = createHash('sha256');
  for (const { name, folder } of folders) {
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()) {
      hash.update(`${name}/${file}\0`).update(await readFile(join(folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
};

const loadTables = async (admin: Connection, template: string, name: string): Promise<void> => {
  await admin.query('USE ??', [name]);
  await admin.query(
    "SET SESSION foreign_key_checks = 0, sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
  );
  const [tables] = await admin.query<RowDataPacket[]>('SHOW FULL TABLES FROM ??', [template]);
  for (const row of tables) {
    const [table, type] = Object.values(row) as [string, string];
    if (type !== 'BASE TABLE') throw new Error(`testDatabase copies tables only, and ${table} is a ${type}`);
    const [created] = await admin.query<RowDataPacket[]>('SHOW CREATE TABLE ??.??', [template, table]);
    await admin.query(created[0]?.['Create Table']);
    const [columns] = await admin.query<RowDataPacket[]>('SHOW COLUMNS FROM ??', [table]);
    const stored = columns.filter(
      ({ Extra }) => !/\bGENERATED\b/.test(Extra.replace('DEFAULT_GENERATED', '')),
    );
    const names = stored.map(({ Field }) => Field as string);
    await admin.query('INSERT INTO ?? (??) SELECT ?? FROM ??.??', [table, names, names, template, table]);
  }
  await admin.query('SET SESSION foreign_key_checks = 1, sql_mode = DEFAULT');
};

/** Closing a connection is not answered, so the server is given a moment to notice. */
const connectionsLeft = async (admin: Connection, name: string): Promise<number> => {
  for (const endMs = Date.now() + leakGraceMs; ; await sleep(20)) {
    const [processes] = await admin.query<RowDataPacket[]>('SHOW PROCESSLIST');
    // The connection that asks works in this database itself.
    const left = processes.filter(({ db, Id }) => db === name && Id !== admin.threadId).length;
    if (left === 0 || Date.now() > endMs) return left;
  }
};
