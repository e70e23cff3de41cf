import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * A query about any number of rows, whose text depends on nothing but that number: it is built, checked and
 * compiled once for each. Building one anew takes as long as MySQL needs to run it.
 * Compiled queries belong to one database handle, and so does what this returns.
 * @param valuesOf the query's parameters, in its order; `more` are those that concern all rows.
 */
export const perCount = <Row, More = undefined, Result = unknown>(
  valuesOf: (rows: readonly Row[], more: More) => readonly unknown[],
  build: (db: Kysely<Tables>, rows: readonly Row[], more: More) => CompiledQuery<unknown>,
): ((db: Kysely<Tables>, rows: readonly Row[], more: More) => Promise<QueryResult<Result>>) => {
  const compiled = new Map<number, CompiledQuery<unknown>>();
  return (db, rows, more) => {
    const parameters = valuesOf(rows, more);
    let query = compiled.get(rows.length);
    if (!query) {
      query = build(db, rows, more);
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
