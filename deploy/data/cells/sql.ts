import { parseMysqlUrl } from '@causeway/runtime';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';

/** A value as it is read and written back: no number or time is converted on the way. */
export type Value = string | number | Buffer | null;
export type Row = Readonly<Record<string, Value>>;

/** The move cannot begin or continue; the message says what to do. */
export class MoveError extends Error {
  override readonly name = 'MoveError';
}

/** A connection that returns JSON, times and large integers as text, and checks no foreign keys: a company moves whole. */
export const openCell = async (mysqlUrl: string): Promise<Connection> => {
  const connection = await createConnection({
    ...parseMysqlUrl(mysqlUrl),
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    typeCast: (field, next) => (field.type === 'JSON' ? field.string('utf8') : next()),
  });
  await connection.query(
    `SET time_zone = '+00:00', foreign_key_checks = 0, transaction_isolation = 'READ-COMMITTED',
       information_schema_stats_expiry = 0, lock_wait_timeout = 5, innodb_lock_wait_timeout = 5`,
  );
  return connection;
};

/**
 * Lets only one program at a time work on a company: a copy that went on after another one had handed the company over
 * would undo what the company has written since. The lock ends with the connection, and so before any later write.
 */
export const lockCompany = async (connection: Connection, companyId: number): Promise<void> => {
  const [row] = await rowsOf(
    connection,
    `SELECT GET_LOCK(CONCAT('move ', ?, ' ', LEFT(SHA2(DATABASE(), 256), 16)), ${lockTimeoutSeconds}) AS got`,
    [companyId],
  );
  if (Number(row?.got) !== 1) throw new MoveError(`another program is moving company ${companyId}`);
};

/** MySQL takes a moment to notice that a program was killed; its statement may wait for a row's lock that long. */
const lockTimeoutSeconds = 10;

export const rowsOf = async (
  connection: Connection,
  statement: string,
  values: readonly Value[] = [],
): Promise<readonly Row[]> => {
  const [rows] = await connection.query<RowDataPacket[]>(statement, [...values]);
  return rows as readonly Row[];
};

export const inTransaction = async (connection: Connection, work: () => Promise<void>): Promise<void> => {
  await connection.query('START TRANSACTION');
  try {
    await work();
    await connection.query('COMMIT');
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
};

/** A table with rows of companies. */
export interface Table {
  readonly name: string;
  /** Without generated ones. */
  readonly columns: readonly string[];
  /** The primary key after `company_id`. */
  readonly key: readonly string[];
  /** Columns of the key that MySQL orders by number and compares as text, unless told otherwise. */
  readonly enums: ReadonlySet<string>;
  /** The column with AUTO_INCREMENT. */
  readonly id: string | undefined;
}

/** Every table with a `company_id`; a new table moves without being listed anywhere. */
export const tablesOf = async (connection: Connection): Promise<readonly Table[]> => {
  const rows = await rowsOf(
    connection,
    `SELECT c.table_name AS name, c.column_name AS column_name, c.extra AS extra,
       c.data_type AS type, k.ordinal_position AS position
     FROM information_schema.columns AS c
     LEFT JOIN information_schema.key_column_usage AS k
       ON k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name
         AND k.constraint_name = 'PRIMARY'
     WHERE c.table_schema = DATABASE() AND c.generation_expression = ''
     ORDER BY c.table_name, c.ordinal_position`,
  );
  return [...Map.groupBy(rows, ({ name }) => String(name))].flatMap(([name, columns]) => {
    if (!columns.some(({ column_name }) => column_name === 'company_id')) return [];
    const key = columns
      .filter(({ position }) => position !== null)
      .sort((a, b) => Number(a.position) - Number(b.position))
      .map(({ column_name }) => String(column_name));
    return [
      {
        name,
        columns: columns.map(({ column_name }) => String(column_name)),
        key: key.filter((column) => column !== 'company_id'),
        enums: new Set(
          columns.filter(({ type }) => type === 'enum').map(({ column_name }) => String(column_name)),
        ),
        id: columns.find(({ extra }) => String(extra).includes('auto_increment'))?.column_name as
          | string
          | undefined,
      },
    ];
  });
};
