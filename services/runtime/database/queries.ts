import {
  type CompiledQuery,
  createQueryId,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  RawNode,
  sql,
} from 'kysely';

export type Value = string | number | Date | Buffer | null;

/** Rows as one parameter, written as `(1, 2), (3, 4)`: the query is the same for any number of rows. */
export const rowList = (rows: readonly (readonly Value[])[]): RawBuilder<unknown> => {
  if (rows.length === 0) throw new Error('a list in a query needs at least one row');
  return sql`${rows}`;
};

interface PerCount<DB, Row, Result, More> {
  (
    db: Kysely<DB>,
    rows: readonly Row[],
    ...more: undefined extends More ? [] : [More]
  ): Promise<QueryResult<Result>>;
  later(
    trx: Kysely<DB>,
    rows: readonly Row[],
    onResult?: (result: QueryResult<Result>) => void,
  ): Promise<void>;
}

/** Makes queries about any number of rows, each number's compiled once: building takes as long as running. */
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

interface DeferredQuery extends CompiledQuery {
  readonly onResult: (result: QueryResult<unknown>) => void;
}

export const isDeferred = (query: CompiledQuery): query is DeferredQuery => 'onResult' in query;

/**
 * Sent with the transaction's next statement, at the latest with COMMIT. If it fails, that statement fails
 * with its error, and the transaction must be rolled back.
 */
export const later = async <Result>(
  trx: Pick<Kysely<unknown>, 'executeQuery'>,
  query: CompiledQuery<Result>,
  onResult: (result: QueryResult<Result>) => void = () => {},
): Promise<void> => {
  await trx.executeQuery({ ...query, onResult } as DeferredQuery);
};

export const sendDeferred = async (trx: Pick<Kysely<unknown>, 'executeQuery'>): Promise<void> => {
  await trx.executeQuery(nothing);
};

export const nothing: CompiledQuery = {
  query: RawNode.createWithSql(''),
  queryId: createQueryId(),
  sql: '',
  parameters: [],
};
