import { setTimeout as sleep } from 'node:timers/promises';
import { isDeadlock, isLockWaitTimeout, parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

export interface BackfillOptions {
  readonly table: string;
  /** SQL, as after SET. */
  readonly set: string;
  /** SQL: the rows that still need it. It must not hold for a row any more once that was set. */
  readonly where: string;
  /** Rows that one transaction looks at, and so locks at most; 500 unless given. */
  readonly chunkRows?: number;
  /** How long the others have the table for themselves in between; 20 ms unless given. */
  readonly pauseMs?: number;
  /** Told after each chunk of how many rows were looked at and changed so far. */
  readonly onChunk?: (looked: number, changed: number) => void;
}

/**
 * Changes the rows of a table chunk by chunk in the order of its primary key, each chunk in a transaction of its own.
 * It can be ended anywhere and begun again: what is done is done. Rows that are written meanwhile must already be
 * written right by the services, else they are passed by.
 * @returns how many rows it changed; 0: there was nothing left to do.
 */
export const backfill = async (mysqlUrl: string, options: BackfillOptions): Promise<number> => {
  const { table, set, where, chunkRows = 500, pauseMs = 20, onChunk } = options;
  const connection = await createConnection({ ...parseMysqlUrl(mysqlUrl), timezone: 'Z' });
  try {
    // As the services: no locks on gaps, and nobody waits long for anybody.
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
      changed += await patiently(() => change(connection, { table, set, where, columns, keys }));
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

/** (a, b) > (1, 2), in a form of which MySQL makes a range: `a > 1 OR (a = 1 AND b > 2)`. */
const beyond = (connection: Connection, key: readonly string[]): string =>
  key
    .map((column, at) => {
      const same = key.slice(0, at).map((before) => `${connection.escapeId(before)} = ?`);
      return `(${[...same, `${connection.escapeId(column)} > ?`].join(' AND ')})`;
    })
    .join(' OR ');

const beyondValues = (after: readonly unknown[]): readonly unknown[] =>
  after.flatMap((_, at) => after.slice(0, at + 1));

/** Rows that a service has locked are free again in milliseconds. */
const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
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
