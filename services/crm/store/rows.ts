import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { perCount, type Tables } from '../tables.ts';

type Table = keyof Tables & string;
type Column<T extends Table> = keyof Tables[T] & string;
type Loose = Readonly<Record<string, unknown>>;

type NewRow<T extends Table, C extends Column<T>> = Pick<
  Insertable<Tables[T]>,
  C & keyof Insertable<Tables[T]>
>;

/**
 * Sent with the transaction's next statement; then each row has its id in `id`. The ids are consecutive
 * because InnoDB knows their number beforehand ("simple inserts" of AUTO_INCREMENT, increment 1).
 */
export const insertRows = <T extends Table, C extends Column<T>, Id extends Column<T> = never>(
  table: T,
  columns: readonly C[],
  id?: Id,
) => {
  const run = perCount<Loose>(
    (rows) => rows.flatMap((row) => columns.map((column) => row[column])),
    (db, rows) =>
      db
        .insertInto(table)
        .values(rows.map((row) => only(row, columns)) as never)
        .compile(),
  );
  return async (trx: Kysely<Tables>, rows: readonly (NewRow<T, C> & Record<Id, number>)[]): Promise<void> => {
    if (rows.length > 0)
      await run.later(trx, rows, ({ insertId }) => {
        if (id) for (const [at, row] of rows.entries()) Object.assign(row, { [id]: Number(insertId) + at });
      });
  };
};

/** The id of the row at a place in the transaction's latest `insertRows` into a table that assigns ids. */
export const insertedId = (at: number) => sql<number>`LAST_INSERT_ID() + ${at}`;

/** Locks until the end of the transaction. Sent with its next statement; then `onRows` gets the rows. */
export const lockRows = <T extends Table, C extends Column<T>, K extends Column<T>>(
  table: T,
  columns: readonly C[],
  key: readonly ['company_id', K],
) => {
  type Row = Pick<Selectable<Tables[T]>, C & keyof Selectable<Tables[T]>>;
  const run = perCount<readonly [number, string | number], Row>(
    (keys) => keys.flat(),
    (db, keys) =>
      (db as unknown as Kysely<Record<string, Loose>>)
        .selectFrom(table as never)
        .select(columns as never)
        .where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple(key[0] as never, key[1] as never),
            'in',
            keys.map(([companyId, value]) => tuple(companyId, value)) as never,
          ),
        )
        .forUpdate()
        .compile(),
  );
  return (
    trx: Kysely<Tables>,
    keys: readonly (readonly [companyId: number, value: string | number])[],
    onRows: (rows: readonly Row[]) => void,
  ): Promise<void> => run.later(trx, keys, ({ rows }) => onRows(rows));
};

/**
 * Reads as an upsert, and takes half as long as a join with the new values. Every column without a default
 * has to be among `columns`, even if it never changes. Sent with the transaction's next statement.
 */
export const updateRows = <T extends Table, C extends Column<T>, K extends Column<T>>(
  table: T,
  columns: readonly C[],
  key: readonly ['company_id', K],
) => {
  const given = [...key, ...columns];
  const run = perCount<Loose>(
    (rows) => rows.flatMap((row) => given.map((column) => row[column])),
    (db, rows) =>
      db
        .insertInto(table)
        .values(rows.map((row) => only(row, given)) as never)
        .onDuplicateKeyUpdate(
          Object.fromEntries(columns.map((column) => [column, sql`VALUES(${sql.ref(column)})`])) as never,
        )
        .compile(),
  );
  return async (
    trx: Kysely<Tables>,
    rows: readonly Pick<Selectable<Tables[T]>, (C | K | 'company_id') & keyof Selectable<Tables[T]>>[],
  ): Promise<void> => {
    if (rows.length > 0) await run.later(trx, rows as readonly Loose[]);
  };
};

const only = (row: Loose, columns: readonly string[]): Loose =>
  Object.fromEntries(columns.map((column) => [column, row[column]]));
