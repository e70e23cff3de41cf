import { type RawBuilder, sql } from 'kysely';

export type Value = string | number | Date | Buffer | null;

/**
 * Rows as one parameter of a query, which the driver writes as `(1, 2), (3, 4)`: for `(a, b) IN (…)` and `VALUES …`. The
 * query is the same for any number of rows; one with a placeholder for each value would have to be built for each number.
 */
export const rowList = (rows: readonly (readonly Value[])[]): RawBuilder<unknown> => {
  if (rows.length === 0) throw new Error('a list in a query needs at least one row');
  return sql`${rows}`;
};
