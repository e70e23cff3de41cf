import {
  type CompiledQuery,
  createQueryId,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  RawNode,
  sql,
} from 'kysely';

export type Value = string | number | Date | Buffer | InsertedId | null;

interface InsertedId {
  toSqlString(): string;
}

/** Rows as one parameter, written as `(1, 2), (3, 4)`: the query is the same for any number of rows. */
export const rowList = (rows: readonly (readonly Value[])[]): RawBuilder<unknown> => {
  if (rows.length === 0) throw new Error('a list in a query needs at least one row');
  return sql`${rows}`;
};

/** The id of a row of the transaction's latest insert into a table that assigns ids; the first row is 0. */
export const insertedId = (row: number): InsertedId => ({ toSqlString: () => `LAST_INSERT_ID() + ${row}` });

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
