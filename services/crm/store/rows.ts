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
 * What a statement does about rows that another transaction has locked: it waits for them, it fails (`isLockedNoWait`), or it
 * skips them, and tells of each.
 */
export type Waits = 'wait' | 'fail' | 'skip';

const locking = { 'FOR UPDATE': sql`FOR UPDATE`, 'FOR SHARE': sql`FOR SHARE` } as const;
const waiting = { wait: sql``, fail: sql`NOWAIT`, skip: sql`SKIP LOCKED` } as const;

/**
 * Locks rows by their keys until the end of the transaction. Sent with its next statement; then `onRows` gets the rows.
 * @param index of the key: MySQL would weigh all indexes that begin with the company, for each of the rows.
 */
export const lockRows = <T extends Table, C extends Column<T>, K extends Column<T>>(
  table: T,
  columns: readonly C[],
  key: CompanyFirst<K>,
  { index = 'PRIMARY', lock = 'FOR UPDATE' as keyof typeof locking } = {},
) => {
  type Row<C extends Column<T>> = Pick<Selectable<Tables[T]>, C & keyof Selectable<Tables[T]>>;
  const select = <C extends Column<T>>(columns: readonly C[], how: RawBuilder<unknown>) =>
    statement<[Keys], Row<C>>(
      (keys) =>
        sql`
          SELECT /*+ INDEX(${sql.table(table)} ${sql.raw(index)}) */ ${names(columns)} FROM ${sql.table(table)}
          WHERE (${names(key)}) IN (${keys}) ${how}`,
    );
  const lockThat = (waits: Waits) => select(columns, sql`${locking[lock]} ${waiting[waits]}`);
  const locks = { wait: lockThat('wait'), fail: lockThat('fail'), skip: lockThat('skip') };
  type KeyColumn = K | ('company_id' & Column<T>);
  const read = select<KeyColumn>(key as unknown as readonly KeyColumn[], sql``);
  return async (
    trx: Kysely<Tables>,
    keys: Keys,
    waits: Waits,
    onRows: (rows: readonly Row<C>[]) => void,
    /** If locked rows are skipped: the keys of all rows. */
    onAll: (rows: readonly Row<KeyColumn>[]) => void,
  ): Promise<void> => {
    await later(trx, locks[waits](trx, keys), ({ rows }) => onRows(rows));
    if (waits === 'skip') await later(trx, read(trx, keys), ({ rows }) => onAll(rows));
  };
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
  const givenColumns = [...key, ...columns];
  const newValues = sql.join(columns.map((column) => sql`${sql.ref(column)} = VALUES(${sql.ref(column)})`));
  const update = statement<[Rows]>(
    (values) => sql`${insertInto(table, givenColumns, values)} ON DUPLICATE KEY UPDATE ${newValues}`,
  );
  return async (
    trx: Kysely<Tables>,
    rows: readonly Pick<Selectable<Tables[T]>, (C | K | 'company_id') & keyof Selectable<Tables[T]>>[],
  ): Promise<void> => {
    if (rows.length > 0) await later(trx, update(trx, valuesOf(givenColumns, rows)));
  };
};

const insertInto = (table: Table, columns: readonly string[], values: RawBuilder<unknown>) =>
  sql`INSERT INTO ${sql.table(table)} (${names(columns)}) VALUES ${values}`;

const valuesOf = (columns: readonly string[], rows: readonly object[]): Rows =>
  rows.map((row) => columns.map((column) => (row as Record<string, Value>)[column] ?? null));

const names = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));
