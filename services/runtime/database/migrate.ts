import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { checkMysql } from './check-server.ts';
import { isLockWaitTimeout, isTriggerRefused } from './errors.ts';
import { sessionSql } from './session.ts';
import { type MysqlAddress, parseMysqlUrl } from './url.ts';

export interface MigrationFolder {
  readonly name: string;
  readonly folder: string;
}

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Creates the database if it is missing, then runs the pending files in order. Concurrent callers take turns.
 * MySQL commits after each DDL statement, so each is recorded once it ran. If the process is killed between
 * the two, the next run fails with "already exists", and the message says how to mark the statement as done.
 * A DDL statement waits at most a second for its exclusive lock, because all other queries wait behind it.
 * @returns the files that ran, as `set/NNN-name.sql`.
 * @throws ConfigError if a setting of the server is wrong, before anything is created; MigrationError at a file that changed
 * after it ran, a gap in the numbers, a failing statement, a database that has run other files of a set than its first.
 */
export const migrate = async (
  mysqlUrl: string,
  folders: readonly MigrationFolder[],
  { retryForMs = 600_000, onWait = () => {}, onTriggersRefused = () => {} }: MigrateOptions = {},
): Promise<{ readonly applied: string[] }> => {
  const files = (await Promise.all(folders.map(readFolder))).flat();
  const connection = await openDatabase(parseMysqlUrl(mysqlUrl));
  try {
    if (pendingOf(files, await readRecords(connection)).length === 0) return { applied: [] };
    const run: RunStatement = (statement, id) =>
      runWithRetry(connection, statement, { retryForMs, onWait: () => onWait(id) });
    const apply = () => applyPending(connection, files, run, onTriggersRefused);
    return { applied: await withLock(connection, apply) };
  } finally {
    await connection.end().catch(() => connection.destroy());
  }
};

interface MigrateOptions {
  readonly retryForMs?: number;
  readonly onWait?: (file: string) => void;
  /** The server lets the user create no triggers. What follows in the file is left for a later run. */
  readonly onTriggersRefused?: (file: string) => void;
}

type RunStatement = (statement: string, file: string) => Promise<void>;

interface MigrationFile {
  readonly set: string;
  readonly name: string;
  readonly statements: readonly string[];
  readonly digests: readonly string[];
}

interface MigrationRecord {
  readonly statements_done: number;
  readonly statements_all: number;
  readonly digest: string;
}

const fileName = /^(\d{3})-[a-z0-9-]+\.sql$/;
const lockTimeoutS = 120;
/** `lock_wait_timeout` applies to tables, `innodb_lock_wait_timeout` to rows. */
const setSession = async (connection: Connection): Promise<{ readonly isVtgate: boolean }> => {
  const [rows] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version');
  const isVtgate = /vitess/i.test(String(rows[0]?.version));
  const session = sessionSql({ lockWaitTimeoutS: 2, selectTimeoutMs: 0 }, isVtgate);
  await connection.query(`${session}, lock_wait_timeout = 1`);
  return { isVtgate };
};

const readFolder = async ({ name: set, folder }: MigrationFolder): Promise<MigrationFile[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name, at) => {
      const number = fileName.exec(name)?.[1];
      if (number === undefined) throw new MigrationError(`${set}/${name}: must be named NNN-name.sql`);
      if (Number(number) !== at + 1) {
        throw new MigrationError(`${set}/${name}: expected number ${String(at + 1).padStart(3, '0')}`);
      }
      const statements = splitStatements(await readFile(join(folder, name), 'utf8'));
      const hash = createHash('sha256');
      const digests = statements.map((statement) => hash.update(`${statement};\n`).copy().digest('hex'));
      return { set, name, statements, digests };
    }),
  );
};

const openDatabase = async (address: MysqlAddress): Promise<Connection> => {
  if (address.database === '') throw new MigrationError('the MySQL URL names no database');
  const open = async (database: string) => {
    const connection = await createConnection({
      ...address,
      database,
      charset: 'utf8mb4_0900_ai_ci',
      timezone: 'Z',
      connectTimeout: 5_000,
    });
    const read = async (statement: string) => (await connection.query<RowDataPacket[]>(statement))[0];
    try {
      const { isVtgate } = await setSession(connection);
      if (!isVtgate) await checkMysql({ read, hasDatabase: database !== '' });
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return connection;
  };
  try {
    return await open(address.database);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ER_BAD_DB_ERROR') throw error;
  }
  const connection = await open('');
  await connection.query(
    'CREATE DATABASE IF NOT EXISTS ?? CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci',
    [address.database],
  );
  await connection.changeUser({ database: address.database });
  await setSession(connection);
  return connection;
};

const readRecords = async (connection: Connection): Promise<ReadonlyMap<string, MigrationRecord>> => {
  try {
    const [rows] = await connection.query<(RowDataPacket & MigrationRecord & { file: string })[]>(
      'SELECT file, statements_done, statements_all, digest FROM schema_migrations',
    );
    return new Map(rows.map((row) => [row.file, row]));
  } catch (error) {
    if ((error as { code?: string }).code === 'ER_NO_SUCH_TABLE') return new Map();
    throw error;
  }
};

const idOf = ({ set, name }: MigrationFile): string => `${set}/${name}`;

const pendingOf = (
  files: readonly MigrationFile[],
  records: ReadonlyMap<string, MigrationRecord>,
): readonly { readonly file: MigrationFile; readonly done: number }[] =>
  files.flatMap((file) => {
    const record = records.get(idOf(file));
    if (record === undefined) {
      const isFirst = file.name.startsWith('001-');
      if (isFirst && [...records.keys()].some((id) => id.startsWith(`${file.set}/`)))
        throw foreignError(file);
      return [{ file, done: 0 }];
    }
    const { statements_done: done, statements_all: all, digest } = record;
    const finished = done === all;
    if (done > 0 && file.digests[done - 1] !== digest) throw changedError(file, done);
    if (!finished) return [{ file, done }];
    if (file.statements.length !== all) throw changedError(file, done);
    return [];
  });

const foreignError = (file: MigrationFile): MigrationError =>
  new MigrationError(
    `${idOf(file)} has not run on this database, but other files of ${file.set} have: no release made it. ` +
      'Begin with an empty database',
  );

const changedError = (file: MigrationFile, done: number): MigrationError =>
  new MigrationError(
    `${idOf(file)} was changed after its first ${done} statements ran on this database; ` +
      'restore it and put the change into a new file',
  );

/** Named locks are global to the server, so the name contains the database's, hashed to fit 64 characters. */
const withLock = async <Result>(connection: Connection, work: () => Promise<Result>): Promise<Result> => {
  const name = "CONCAT('migrate.', LEFT(SHA2(DATABASE(), 256), 40))";
  const [rows] = await connection.query<RowDataPacket[]>(`SELECT GET_LOCK(${name}, ${lockTimeoutS})`);
  // Vitess names the column in its own way.
  if (Object.values(rows[0] ?? {})[0] !== 1) {
    throw new MigrationError(`another migration of this database did not end within ${lockTimeoutS} s`);
  }
  try {
    return await work();
  } finally {
    await connection.query(`SELECT RELEASE_LOCK(${name})`).catch(() => {});
  }
};

const applyPending = async (
  connection: Connection,
  files: readonly MigrationFile[],
  run: RunStatement,
  onTriggersRefused: (file: string) => void,
): Promise<string[]> => {
  await connection.query(recordTable);
  const applied: string[] = [];
  const records = await readRecords(connection);
  for (const { file, done } of pendingOf(files, records)) {
    let at = done;
    const begun = records.get(beginningOf(file))?.digest;
    while (at < file.statements.length && (await runStatement(connection, file, at, run, begun))) at++;
    if (at < file.statements.length) {
      onTriggersRefused(idOf(file));
      continue;
    }
    if (at === 0) await connection.query(recordSql(file, 0));
    applied.push(idOf(file));
  }
  return applied;
};

const recordTable = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    file VARCHAR(190) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
    statements_done INT UNSIGNED NOT NULL,
    statements_all INT UNSIGNED NOT NULL,
    digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_utc DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)
  )`;

/** @returns false if the server lets the user create no triggers. */
const runStatement = async (
  connection: Connection,
  file: MigrationFile,
  at: number,
  run: RunStatement,
  begun: string | undefined,
): Promise<boolean> => {
  const forget = () =>
    connection.query('DELETE FROM schema_migrations WHERE file = ?', [beginningOf(file)]).catch(() => {});
  let failed = false;
  try {
    await connection.query(recordSql(file, at + 1, beginningOf(file)));
    await run(file.statements[at] ?? '', idOf(file)).catch((error: { readonly code?: string }) => {
      failed = !existing.has(error.code) || begun !== file.digests[at];
      if (failed) throw error;
    });
    await connection.query(recordSql(file, at + 1));
    await forget();
    await connection.query('COMMIT');
    return true;
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {});
    if (failed) await forget();
    if (isTriggerRefused(error)) return false;
    throw new MigrationError(
      `${idOf(file)}, statement ${at + 1} of ${file.statements.length} failed: ${(error as Error).message}. ` +
        'Fix the file from this statement on and run it again; if its effect already exists, mark it as done: ' +
        `${recordSql(file, at + 1)};`,
      { cause: error },
    );
  }
};

const runWithRetry = async (
  connection: Connection,
  statement: string,
  { retryForMs, onWait }: { readonly retryForMs: number; readonly onWait: () => void },
): Promise<void> => {
  const endMs = performance.now() + retryForMs;
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    await connection.query('START TRANSACTION');
    try {
      await connection.query(statement);
      return;
    } catch (error) {
      if (!isLockWaitTimeout(error) || performance.now() + pauseMs > endMs) throw error;
    }
    await connection.query('ROLLBACK');
    onWait();
    await sleep(pauseMs);
  }
};

const maxPauseMs = 5_000;

/**
 * A row with this name says that a job has begun a statement of the file. If the job is killed between the statement and its record, the
 * next one knows that what exists already is its work: each `ALTER TABLE` takes effect as a whole.
 */
const beginningOf = (file: MigrationFile): string => `begun ${idOf(file)}`;
const existing = new Set<string | undefined>([
  ...[
    'ER_TABLE_EXISTS_ERROR',
    'ER_DUP_FIELDNAME',
    'ER_DUP_KEYNAME',
    'ER_FK_DUP_NAME',
    'ER_TRG_ALREADY_EXISTS',
  ],
  ...['ER_CANT_DROP_FIELD_OR_KEY', 'ER_BAD_TABLE_ERROR', 'ER_TRG_DOES_NOT_EXIST'],
]);

const recordSql = (file: MigrationFile, done: number, name = idOf(file)): string =>
  `REPLACE INTO schema_migrations (file, statements_done, statements_all, digest) ` +
  `VALUES ('${name}', ${done}, ${file.statements.length}, '${file.digests[done - 1] ?? ''}')`;

/** Splits a script at its semicolons as the server reads it. The client's `DELIMITER` is not supported. */
export const splitStatements = (script: string): string[] => {
  const statements: string[] = [];
  let statement = '';
  for (const [text] of script.matchAll(token)) {
    if (text === ';') {
      statements.push(statement.trim());
      statement = '';
    } else if (isComment(text)) {
      statement += ' ';
    } else {
      statement += text;
    }
  }
  statements.push(statement.trim());
  return statements.filter((one) => one !== '');
};

const token =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`[^`]*`|\/\*[\s\S]*?\*\/|--(?=\s|$)[^\n]*|#[^\n]*|;|[^'"`/\-#;]+|[\s\S]/g;

const isComment = (text: string): boolean =>
  (text.startsWith('/*') && !text.startsWith('/*!') && !text.startsWith('/*+')) ||
  /^--(?:\s|$)/.test(text) ||
  text.startsWith('#');
