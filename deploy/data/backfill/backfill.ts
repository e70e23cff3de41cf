import { setTimeout as sleep } from 'node:timers/promises';
import { isDeadlock, isLockWaitTimeout, parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

interface BackfillOptions {
  readonly table: string;
  readonly set: string;
  /** SQL. It must be false for a row after the change. */
  readonly where: string;
  readonly chunkRows?: number;
  readonly pauseMs?: number;
  readonly onChunk?: (looked: number, changed: number) => void;
}

/** May be interrupted and restarted. @returns how many rows it changed */
export const backfill = async (mysqlUrl: string, options: BackfillOptions): Promise<number> => {
  const { table, set, where, chunkRows = 500, pauseMs = 20, onChunk } = options;
  const connection = await createConnection({ ...parseMysqlUrl(mysqlUrl), timezone: 'Z' });
  try {
    // As in the services: no gap locks, and short lock waits.
    await connection.query(
      "SET SESSION transaction_isolation = 'READ-COMMITTED', innodb_lock_wait_timeout = 2, lock_wait_timeout = 5",
    );
    const key = await primaryKey(connection, table);
    const columns = key.map((column) => connection.escapeId(column)).join(', ');
    let looked = 0;
    let changed = 0;
    for (let after: readonly unknown[] | undefined; ; await sleep(pauseMs)) {
      const [from, fromValues] = after ? [beyond(connection, key), beyondValues(after)] : ['TRUE', []];
      const [rows] = await connection.query<RowDataPacket[]>(
        `SELECT ${columns} FROM ?? FORCE INDEX (PRIMARY) WHERE ${from} ORDER BY ${columns} LIMIT ?`,
        [table, ...fromValues, chunkRows],
      );
      const last = rows.at(-1);
      if (!last) return changed;
      const keys = rows.map((row) => key.map((column) => row[column]));
      changed += await withRetries(() => change(connection, { table, set, where, columns, keys }));
      looked += rows.length;
      onChunk?.(looked, changed);
      after = key.map((column) => last[column]);
    }
  } finally {
    await connection.end();
  }
};

interface Chunk {
  readonly table: string;
  readonly set: string;
  readonly where: string;
  readonly columns: string;
  readonly keys: readonly (readonly unknown[])[];
}

const change = async (connection: Connection, { table, set, where, columns, keys }: Chunk) => {
  const [{ affectedRows }] = await connection.query<ResultSetHeader>(
    `UPDATE ?? SET ${set} WHERE (${columns}) IN (?) AND (${where})`,
    [table, keys],
  );
  return affectedRows;
};

const primaryKey = async (connection: Connection, table: string): Promise<readonly string[]> => {
  const [rows] = await connection.query<RowDataPacket[]>("SHOW KEYS FROM ?? WHERE Key_name = 'PRIMARY'", [
    table,
  ]);
  if (rows.length === 0) throw new Error(`${table} has no primary key to go by`);
  return rows
    .toSorted((a, b) => a.Seq_in_index - b.Seq_in_index)
    .map(({ Column_name }) => Column_name as string);
};

/** (a, b) > (1, 2), in a form that MySQL turns into a range: `a > 1 OR (a = 1 AND b > 2)`. */
const beyond = (connection: Connection, key: readonly string[]): string =>
  key
    .map((column, at) => {
      const same = key.slice(0, at).map((before) => `${connection.escapeId(before)} = ?`);
      return `(${[...same, `${connection.escapeId(column)} > ?`].join(' AND ')})`;
    })
    .join(' OR ');

const beyondValues = (after: readonly unknown[]): readonly unknown[] =>
  after.flatMap((_, at) => after.slice(0, at + 1));

const withRetries = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if ((!isLockWaitTimeout(error) && !isDeadlock(error)) || attempt === maxAttempts) throw error;
    }
    await sleep(100 * attempt);
  }
};

const maxAttempts = 10;
