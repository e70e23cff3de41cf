import { type RawBuilder, sql } from 'kysely';

/** A column's name, and its type as SQL writes it. */
export type Columns = Readonly<Record<string, string>>;
export type Value = string | number | null;

/**
 * Rows as a table of a query, handed over as one parameter: the statement is the same for any number of them, so
 * it is built in no time, where a list of values would be built anew for each number.
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
