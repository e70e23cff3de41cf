import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { connectDatabase, type DatabaseOptions } from '../database/connect.ts';
import type { Database } from '../database/handle.ts';
import { type MigrationFolder, migrate } from '../database/migrate.ts';
import { parseMysqlUrl } from '../database/url.ts';
import { createLog } from '../log.ts';
import { keepDays } from '../retention.ts';
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
export const testDatabase = async ({
  folders,
  withDays = true,
}: TestDatabaseOptions): Promise<TestDatabase> => {
  const serverUrl = provided('mysqlUrl');
  const template = `test_template_${await digestOf(folders, withDays)}`;
  const made = templates.get(template) ?? makeTemplate(withDatabase(serverUrl, template), folders, withDays);
  templates.set(template, made);
  await made;

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
  /** Whether tables have their partitions of days already; true by default. */
  readonly withDays?: boolean;
}

/** Those that this process has made, or found complete. */
const templates = new Map<string, Promise<void>>();

/**
 * A service that starts adds partitions that are missing. That takes as long as creating all tables, and a database that
 * a test has changed is not taken again: so the template has them.
 */
const makeTemplate = async (
  url: string,
  folders: readonly MigrationFolder[],
  withDays: boolean,
): Promise<void> => {
  await migrate(url, folders);
  if (!withDays) return;
  const db = connectDatabase({ url, poolSize: 1, tenantTables: new Set() });
  const { log } = createLog({ name: 'template', instance: 'test', level: 'silent' });
  try {
    const { rows } = await sql<{ name: string }>`
      SELECT DISTINCT table_name AS name FROM information_schema.partitions
      WHERE table_schema = DATABASE() AND partition_name IS NOT NULL`.execute(db);
    const tables = rows.map(({ name }) => name);
    const options = { db, log, tables, lock: 'template', days: 30, now: () => new Date() };
    while (!(await keepDays(options))) await sleep(20);
  } finally {
    await db.close();
  }
};

const leakGraceMs = 1_000;

const connectTo = (url: string): Promise<Connection> =>
  createConnection({
    ...parseMysqlUrl(url),
    charset: 'utf8mb4_0900_ai_ci',
    timezone: 'Z',
    multipleStatements: true,
  });

const digestOf = async (folders: readonly MigrationFolder[], withDays: boolean): Promise<string> => {
  const hash = createHash('sha256').update(`${withDays}`);
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
