import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import { later } from './deferred.ts';

/** Runs a query about any number of rows. */
export interface PerCount<DB, Row, Result, More> {
  (
    db: Kysely<DB>,
    rows: readonly Row[],
    ...more: undefined extends More ? [] : [More]
  ): Promise<QueryResult<Result>>;
  /** Sends it with the transaction's next statement: see `later`. */
  later(
    trx: Kysely<DB>,
    rows: readonly Row[],
    onResult?: (result: QueryResult<Result>) => void,
  ): Promise<void>;
}

/**
 * Makes queries about any number of rows whose text depends only on that number. Each number's query is built,
 * checked and compiled once for each database handle; building a query of twenty rows takes as long as MySQL needs to
 * run it.
 */
export const perCountFor =
  <DB>() =>
  /** @param valuesOf the query's parameters in order; `more` are those that apply to all rows. */
  <Row, Result = unknown, More = undefined>(
    valuesOf: (rows: readonly Row[], more: More) => readonly unknown[],
    build: (db: Kysely<DB>, rows: readonly Row[], more: More) => CompiledQuery<unknown>,
  ): PerCount<DB, Row, Result, More> => {
    const perHandle = new WeakMap<object, Map<number, CompiledQuery<unknown>>>();
    const queryOf = (db: Kysely<DB>, rows: readonly Row[], more: More): CompiledQuery<Result> => {
      const parameters = valuesOf(rows, more);
      // The guard: each handle refuses queries that another's guard has checked.
      const guard = db.getExecutor().plugins[0] ?? perHandle;
      const compiled = perHandle.get(guard) ?? new Map<number, CompiledQuery<unknown>>();
      perHandle.set(guard, compiled);
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
      return { ...query, parameters } as CompiledQuery<Result>;
    };
    return Object.assign(
      (db: Kysely<DB>, rows: readonly Row[], ...more: readonly unknown[]) =>
        db.executeQuery(queryOf(db, rows, more[0] as More)),
      {
        later: (trx: Kysely<DB>, rows: readonly Row[], onResult?: (result: QueryResult<Result>) => void) =>
          later(trx, queryOf(trx, rows, undefined as More), onResult),
      },
    );
  };
