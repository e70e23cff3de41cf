import { type CompiledQuery, createQueryId, type Kysely, type QueryResult, RawNode } from 'kysely';

/** A statement that is sent with the next one. */
export interface DeferredQuery extends CompiledQuery {
  /** Gets the result once the statement has run. */
  readonly onResult: (result: QueryResult<unknown>) => void;
}

export const isDeferred = (query: CompiledQuery): query is DeferredQuery => 'onResult' in query;

/**
 * Adds a statement to the transaction without waiting for it: it is sent in one round trip with the next statement that
 * is not deferred, at the latest with COMMIT. If it fails, that one fails with its error, and the transaction can only
 * be rolled back.
 */
export const later = async <Result>(
  trx: Pick<Kysely<unknown>, 'executeQuery'>,
  query: CompiledQuery<Result>,
  onResult: (result: QueryResult<Result>) => void = () => {},
): Promise<void> => {
  await trx.executeQuery({ ...query, onResult } as DeferredQuery);
};

/** Sends the deferred statements now, if there are any. */
export const sendDeferred = async (trx: Pick<Kysely<unknown>, 'executeQuery'>): Promise<void> => {
  await trx.executeQuery(nothing);
};

/** A query without a statement. */
export const nothing: CompiledQuery = {
  query: RawNode.createWithSql(''),
  queryId: createQueryId(),
  sql: '',
  parameters: [],
};
