import { type RawBuilder, sql } from 'kysely';

/** A column's name, and its type as SQL writes it. */
export type Columns = Readonly<Record<string, string>>;
export type Value = string | number | null;

/**
 * Passes rows to a query as a table, in one parameter. The statement is the same for any number of rows, so it is
 * built once; a list of values would be built again for each number.
 * @param rows values in the order of the columns; times as `sqlTime` writes them.
 */
export const jsonTable = (columns: Columns, rows: readonly (readonly Value[])[]): RawBuilder<unknown> => {
  const paths = Object.entries(columns).map(([name, type], at) => `${name} ${type} PATH '$[${at}]'`);
  return sql`JSON_TABLE(${JSON.stringify(rows)}, '$[*]' COLUMNS (${sql.raw(paths.join(', '))}))`;
};

/** A time as DATETIME(3) reads it. */
export const sqlTime = (time: Date | number): string =>
  new Date(time).toISOString().slice(0, 23).replace('T', ' ');

export const bigint = 'BIGINT UNSIGNED';
export const datetime = 'DATETIME(3)';
