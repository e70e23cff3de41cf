import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { connectDatabase, type DatabaseOptions } from '../database/connect.ts';
import type { Database } from '../database/handle.ts';
import { type MigrationFolder, migrate } from '../database/migrate.ts';
import { parseMysqlUrl } from '../database/url.ts';
import { cleanUp } from './cleanup.ts';
import { takeDatabase } from './database-pool.ts';
import { provided } from './provided.ts';

export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** It closes before the database is given back. */
  connect<DB>(options?: Partial<Omit<DatabaseOptions, 'url'>>): Database<DB>;
  query<Row = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

export const withDatabase = (url: string, database: string): string => {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(database)}`;
  return other.href;
};

/**
 * Gives a test its own database until its end. A connection still open then fails it: a pool was not closed.
 * The migrations run once, into a template whose name is a digest of them.
 */
export const testDatabase = async ({ folders }: TestDatabaseOptions): Promise<TestDatabase> => {
  const serverUrl = provided('mysqlUrl');
  const template = `test_template_${await digestOf(folders)}`;
  await migrate(withDatabase(serverUrl, template), folders);

  const admin = await connectTo(withDatabase(serverUrl, ''));
  const name = await takeDatabase(admin, template);
  const url = withDatabase(serverUrl, name);
  cleanUp(async () => {
    const left = await connectionsLeft(admin, name);
    if (left > 0) await admin.query('DROP DATABASE ??', [name]);
    await admin.end();
    if (left > 0)
      throw new Error(`${left} connections to the test's database were left open: close the pool`);
  });

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
  createConnection({
    ...parseMysqlUrl(url),
    charset: 'utf8mb4_0900_ai_ci',
    timezone: 'Z',
    multipleStatements: true,
  });

const digestOf = async (folders: readonly MigrationFolder[]): Promise<string> => {
  const hash = createHash('sha256');
  for (const { name, folder } of folders) {
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()) {
      hash.update(`${name}/${file}\0`).update(await readFile(join(folder, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
};

/** The server does not confirm that a connection is closed, so this waits briefly. */
const connectionsLeft = async (admin: Connection, name: string): Promise<number> => {
  for (const endMs = Date.now() + leakGraceMs; ; await sleep(20)) {
    const [processes] = await admin.query<RowDataPacket[]>('SHOW PROCESSLIST');
    // This connection itself uses the database.
    const left = processes.filter(({ db, Id }) => db === name && Id !== admin.threadId).length;
    if (left === 0 || Date.now() > endMs) return left;
  }
};
