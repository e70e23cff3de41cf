import { later, type Rows, sendDeferred, statement, unsentId, type Value } from '@causeway/runtime';
import { type Insertable, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from '../tables.ts';

type Table = keyof Tables & string;
type Column<T extends Table> = keyof Tables[T] & string;

type NewRow<T extends Table, C extends Column<T>> = Pick<
  Insertable<Tables[T]>,
  C & keyof Insertable<Tables[T]>
>;

type CompanyFirst<C extends string> = readonly ['company_id', ...C[]];

/** Transactions with an unsent insert of new ids, which `LAST_INSERT_ID()` tells until the next such insert. */
const withUnsentIds = new WeakSet<object>();

/** Before anything else that may assign ids. */
const sendUnsentIds = async (trx: Kysely<Tables>): Promise<void> => {
  if (withUnsentIds.has(trx)) await sendDeferred(trx);
};

/**
 * Sent with the transaction's next statement; then each row has its id in `id`, and until then its `unsentId`. The ids are
 * consecutive because InnoDB knows their number beforehand ("simple inserts" of AUTO_INCREMENT, increment 1).
 */
export const insertRows = <T extends Table, C extends Column<T>, Id extends Column<T> = never>(
  table: T,
  columns: CompanyFirst<C>,
  id?: Id,
) => {
  const insert = statement<[Rows]>((values) => insertInto(table, columns, values));
  return async (
    trx: Kysely<Tables>,
    rows: readonly (NewRow<T, C | ('company_id' & Column<T>)> & Record<Id, number>)[],
  ): Promise<void> => {
    if (rows.length === 0) return;
    await sendUnsentIds(trx);
    const setIds = (idOf: (at: number) => number): void => {
      if (id) for (const [at, row] of rows.entries()) Object.assign(row, { [id]: idOf(at) });
    };
    setIds(unsentId);
    if (id) withUnsentIds.add(trx);
    await later(trx, insert(trx, valuesOf(columns, rows)), ({ insertId }) => {
      if (id) withUnsentIds.delete(trx);
      setIds((at) => Number(insertId) + at);
    });
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
    if (rows.length === 0) return;
    await sendUnsentIds(trx);
    await later(trx, update(trx, valuesOf(given, rows)));
  };
};

const insertInto = (table: Table, columns: readonly string[], values: RawBuilder<unknown>) =>
  sql`INSERT INTO ${sql.table(table)} (${names(columns)}) VALUES ${values}`;

const valuesOf = (columns: readonly string[], rows: readonly object[]): Rows =>
  rows.map((row) => columns.map((column) => (row as Record<string, Value>)[column] ?? null));

const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
