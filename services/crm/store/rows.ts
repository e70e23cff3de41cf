import { later, type Rows, statement, type Value } from '@causeway/runtime';
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from '../tables.ts';

type Table = keyof Tables & string;
type Column<T extends Table> = keyof Tables[T] & string;

type NewRow<T extends Table, C extends Column<T>> = Pick<
  Insertable<Tables[T]>,
  C & keyof Insertable<Tables[T]>
>;

type CompanyFirst<C extends string> = readonly ['company_id', ...C[]];

/** Sent with the transaction's next statement. */
export const insertRows = <T extends Table, C extends Column<T>>(table: T, columns: CompanyFirst<C>) => {
  const insert = statement<[Rows]>((values) => insertInto(table, columns, values));
  return async (
    trx: Kysely<Tables>,
    rows: readonly NewRow<T, C | ('company_id' & Column<T>)>[],
  ): Promise<void> => {
    if (rows.length > 0) await later(trx, insert(trx, valuesOf(columns, rows)));
  };
};

/**
 * Locks until the end of the transaction. Sent with its next statement; then `onRows` gets the rows.
 * @param index of the key: MySQL would weigh all indexes that begin with the company, for each of the rows.
 */
export const lockRows = <T extends Table, C extends Column<T>>(
  table: T,
  columns: readonly C[],
  key: CompanyFirst<Column<T>>,
  index: string,
) => {
  type Row = Pick<Selectable<Tables[T]>, C & keyof Selectable<Tables[T]>>;
  const select = statement<[Keys], Row>(
    (keys) =>
      sql`
        SELECT /*+ INDEX(${sql.table(table)} ${sql.raw(index)}) */ ${names(columns)} FROM ${sql.table(table)}
        WHERE (${names(key)}) IN (${keys}) FOR UPDATE`,
  );
  return (trx: Kysely<Tables>, keys: Keys, onRows: (rows: readonly Row[]) => void): Promise<void> =>
    later(trx, select(trx, keys), ({ rows }) => onRows(rows));
};

type Keys = readonly (readonly [companyId: number, value: string | number])[];

/**
 * Reads as an upsert, and takes half as long as a join with the new values. Every column without a default
 * has to be among `columns`, even if it never changes. Sent with the transaction's next statement.
 */
export const updateRows = <T extends Table, C extends Column<T>, K extends Column<T>>(
  table: T,
  columns: readonly C[],
  key: CompanyFirst<K>,
) => {
  const given = [...key, ...columns];
  const newValues = sql.join(columns.map((column) => sql`${sql.ref(column)} = VALUES(${sql.ref(column)})`));
  const update = statement<[Rows]>(
    (values) => sql`${insertInto(table, given, values)} ON DUPLICATE KEY UPDATE ${newValues}`,
  );
  return async (
    trx: Kysely<Tables>,
    rows: readonly Pick<Selectable<Tables[T]>, (C | K | 'company_id') & keyof Selectable<Tables[T]>>[],
  ): Promise<void> => {
    if (rows.length > 0) await later(trx, update(trx, valuesOf(given, rows)));
  };
};

const insertInto = (table: Table, columns: readonly string[], values: RawBuilder<unknown>) =>
  sql`INSERT INTO ${sql.table(table)} (${names(columns)}) VALUES ${values}`;

const valuesOf = (columns: readonly string[], rows: readonly object[]): Rows =>
  rows.map((row) => columns.map((column) => (row as Record<string, Value>)[column] ?? null));

const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
