import {
  type CompiledQuery,
  createQueryId,
  type DatabaseConnection,
  type Driver,
  type Kysely,
  type QueryResult,
  RawNode,
} from 'kysely';
import type { ResultSetHeader } from 'mysql2';
import {
  CommitOutcomeUnknown,
  isConnectionLost,
  isDeadlock,
  isLockWaitTimeout,
  isShardSwitch,
  isUnavailable,
  isUndone,
  spansShards,
} from './errors.ts';
import type { Pool } from './pool.ts';
import type { ServerConnection } from './server-connection.ts';
import { throughShardSwitch } from './shards.ts';

/**
 * Kysely's driver over the pool. It discards a connection in an unknown state, refuses further statements in
 * a transaction that the server has rolled back, limits the wait for each answer, and sends BEGIN and
 * deferred statements (`later`) together with the next statement.
 */
export const createDriver = (options: DriverOptions): Driver => {
  const { pool, onAcquired } = options;
  const connections = new WeakMap<ServerConnection, Connection>();
  const prepared = (server: ServerConnection): Connection => {
    const connection = connections.get(server) ?? createConnection(server, options);
    connections.set(server, connection);
    return connection;
  };
  return {
    init: async () => {},
    async acquireConnection() {
      const startedMs = performance.now();
      const connection = prepared(await pool.acquire());
      onAcquired?.(performance.now() - startedMs);
      return connection;
    },
    async releaseConnection(connection) {
      (connection as Connection).release();
    },
    beginTransaction: (connection) => (connection as Connection).begin(),
    commitTransaction: (connection) => (connection as Connection).commit(),
    rollbackTransaction: (connection) => (connection as Connection).rollback(),
    destroy: async () => {},
  };
};

interface DriverOptions {
  readonly pool: Pool;
  readonly check: (query: CompiledQuery) => void;
  readonly onAcquired?: ((elapsedMs: number) => void) | undefined;
  readonly onSpansShards?: (() => void) | undefined;
  /** A change of a table has ten minutes. */
  readonly statementTimeoutMs: number;
}

interface Connection extends DatabaseConnection {
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  release(): void;
}

interface Statement {
  readonly sql: string;
  readonly values?: readonly unknown[];
}

interface UnsentStatement extends Statement {
  readonly onResult?: (result: QueryResult<unknown>) => void;
}

const beginning: UnsentStatement = { sql: 'begin' };

const createConnection = (server: ServerConnection, options: DriverOptions): Connection => {
  const { pool, check, onSpansShards, statementTimeoutMs } = options;
  const { raw } = server;
  // After a deadlock the server has ended the transaction, and a further statement would commit on its own. So it
  // would after a lock wait with `innodb_rollback_on_timeout`.
  let broken: Error | undefined;
  let doubtful = false;
  let inTransaction = false;
  let unsent: UnsentStatement[] = [];

  const send = async (statements: readonly Statement[]): Promise<readonly unknown[]> => {
    const [first, ...more] = statements;
    const isChange = statements.some(({ sql }) => changesTables.test(sql));
    const limitMs = isChange ? changeTimeoutMs : statementTimeoutMs;
    try {
      const result = await server.ask<unknown>(limitMs, (done) => {
        if (more.length === 0) raw.query(first!.sql, first!.values as unknown[], done);
        else
          raw.query(
            statements.map(({ sql, values = [] }) => raw.format(sql, values as unknown[])).join('; '),
            done,
          );
      });
      return more.length === 0 ? [result] : (result as readonly unknown[]);
    } catch (error) {
      if (onSpansShards && spansShards(error)) onSpansShards();
      if (isConnectionLost(error) || (isUnavailable(error) && !isShardSwitch(error))) doubtful = true;
      const isEnded = inTransaction && (isDeadlock(error) || isLockWaitTimeout(error));
      if (doubtful || isEnded) broken = error as Error;
      throw error;
    }
  };

  const runWithUnsent = async (...statements: readonly Statement[]): Promise<unknown> => {
    const before = unsent;
    unsent = [];
    let results: readonly unknown[];
    try {
      results = await send([...before, ...statements]);
    } catch (error) {
      // Statements of work that went on in the meantime may not have run.
      if (before.some((one) => one !== beginning)) broken ??= error as Error;
      // COMMIT, or a statement that commits by itself.
      if (!inTransaction && !isUndone(error) && statements.some(({ sql }) => !reads.test(sql)))
        throw new CommitOutcomeUnknown('the answer does not tell whether it was done', { cause: error });
      throw error;
    }
    for (const [at, { onResult }] of before.entries()) onResult?.(asQueryResult(results[at]));
    return results[before.length];
  };

  return {
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      if (query === nothing) {
        if (unsent.some((one) => one !== beginning)) await runWithUnsent();
        return { rows: [] };
      }
      check(query);
      if (query.sql.includes(';')) throw new Error(`a statement may hold no semicolon: ${query.sql}`);
      if (broken) throw broken;
      const statement = { sql: query.sql, values: query.parameters };
      if (!isDeferred(query)) {
        const ask = () => runWithUnsent(statement);
        const isAlone = !inTransaction && reads.test(query.sql);
        return asQueryResult(await (isAlone ? throughShardSwitch(ask) : ask()));
      }
      if (!inTransaction) throw new Error('only a transaction can defer a statement');
      unsent.push({ ...statement, onResult: query.onResult });
      return { rows: [] };
    },
    // biome-ignore lint/correctness/useYield: there is nothing to yield.
    async *streamQuery() {
      throw new Error('results are not streamed; read them in pages');
    },
    async begin() {
      broken = undefined;
      inTransaction = true;
      unsent = [beginning];
    },
    async commit() {
      if (broken) throw broken;
      inTransaction = false;
      if (unsent.length === 1 && unsent[0] === beginning) return void unsent.pop();
      await runWithUnsent({ sql: 'commit' });
    },
    async rollback() {
      inTransaction = false;
      const begun = unsent[0] !== beginning;
      unsent = [];
      if (doubtful || !begun) return;
      try {
        await send([{ sql: 'rollback' }]);
      } catch (error) {
        doubtful = true;
        throw error;
      }
    },
    release() {
      broken = undefined;
      pool.release(server, !doubtful);
    },
  };
};

const asQueryResult = <Row>(result: unknown): QueryResult<Row> =>
  Array.isArray(result) ? { rows: result as Row[] } : asWritten(result as ResultSetHeader);

const asWritten = <Row>({ insertId, affectedRows, changedRows }: ResultSetHeader): QueryResult<Row> => ({
  ...(insertId ? { insertId: BigInt(insertId) } : {}),
  numAffectedRows: BigInt(affectedRows),
  numChangedRows: BigInt(changedRows ?? 0),
  rows: [],
});

const reads = /^\s*(?:\(?\s*select|with|set|do)\b/i;
const changesTables = /^\s*(?:alter|create|drop|truncate|optimize)\b/i;
const changeTimeoutMs = 600_000;

interface DeferredQuery extends CompiledQuery {
  readonly onResult: (result: QueryResult<unknown>) => void;
}

const isDeferred = (query: CompiledQuery): query is DeferredQuery => 'onResult' in query;

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

const nothing: CompiledQuery = {
  query: RawNode.createWithSql(''),
  queryId: createQueryId(),
  sql: '',
  parameters: [],
};
