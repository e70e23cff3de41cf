import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * A query about any number of rows, whose text depends on nothing but that number: it is built, checked and
 * compiled once for each. Building one of twenty rows anew takes as long as MySQL needs to run it.
 * Compiled queries belong to one database handle, and so does what this returns.
 * @param valuesOf the query's parameters, in its order.
 */
export const perCount = <Row, Result = unknown>(
  valuesOf: (rows: readonly Row[]) => readonly unknown[],
  build: (db: Kysely<Tables>, rows: readonly Row[]) => CompiledQuery<unknown>,
): ((db: Kysely<Tables>, rows: readonly Row[]) => Promise<QueryResult<Result>>) => {
  const compiled = new Map<number, CompiledQuery<unknown>>();
  return (db, rows) => {
    const parameters = valuesOf(rows);
    let query = compiled.get(rows.length);
    if (!query) {
      query = build(db, rows);
      if (
        query.parameters.length !== parameters.length ||
        query.parameters.some((v, at) => v !== parameters[at])
      )
        throw new Error(`the values are not in the order of the query: ${query.sql}`);
      compiled.set(rows.length, query);
    }
    return db.executeQuery<Result>({ ...query, parameters } as CompiledQuery<Result>);
  };
};
