import type { CompiledQuery, Kysely, QueryResult } from 'kysely';

/**
 * Makes queries about any number of rows whose text depends only on that number. Each number's query is built,
 * checked and compiled once; building a query of twenty rows takes as long as MySQL needs to run it. Compiled queries
 * belong to one database handle, and so does the function returned.
 */
export const perCountFor =
  <DB>() =>
  /** @param valuesOf the query's parameters in order; `more` are those that apply to all rows. */
  <Row, Result = unknown, More = undefined>(
    valuesOf: (rows: readonly Row[], more: More) => readonly unknown[],
    build: (db: Kysely<DB>, rows: readonly Row[], more: More) => CompiledQuery<unknown>,
  ): ((
    db: Kysely<DB>,
    rows: readonly Row[],
    ...more: undefined extends More ? [] : [More]
  ) => Promise<QueryResult<Result>>) => {
    const compiled = new Map<number, CompiledQuery<unknown>>();
    return (db, rows, ...given) => {
      const more = given[0] as More;
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
