import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2';
import { isDeferred, nothing } from './deferred.ts';
import { CommitOutcomeUnknown, DatabaseUnavailable, isConnectionLost, isDeadlock } from './errors.ts';
import type { Send, Statement } from './traced.ts';

/**
 * Kysely's driver over mysql2's pool. Beyond Kysely's own driver it limits the wait for a connection, sets each
 * connection's session, discards a connection in an unknown state, refuses further statements in a transaction that
 * the server has rolled back, passes each query to `check` before sending it, and saves round trips: BEGIN and deferred
 * statements (`later`) are sent together with the next statement.
 */
export const createDriver = (options: DriverOptions): Driver & PoolState => {
  const { pool, where, session, acquireTimeoutMs, check, traced, onAcquired } = options;
  const connections = new WeakMap<PoolConnection, Connection>();
  let inUse = 0;
  let waiting = 0;
  let up = true;

  const acquire = (): Promise<PoolConnection> =>
    new Promise((resolve, reject) => {
      let late = false;
      waiting++;
      const timer = setTimeout(() => {
        late = true;
        waiting--;
        reject(busy(`no connection to MySQL at ${where} within ${acquireTimeoutMs} ms, ${inUse} are in use`));
      }, acquireTimeoutMs);
      pool.getConnection((error, connection) => {
        if (late) return connection?.release();
        clearTimeout(timer);
        waiting--;
        if (!error) return resolve(connection);
        const cause = unavailable(error, where);
        if (cause.kind === 'unreachable') up = false;
        reject(cause);
      });
    });

  const prepare = async (raw: PoolConnection): Promise<Connection> => {
    const known = connections.get(raw);
    if (known) return known;
    const connection = createConnection(raw, check, traced);
    try {
      await connection.run([{ sql: session }]);
    } catch (error) {
      raw.destroy();
      throw unavailable(error as Error, where);
    }
    connections.set(raw, connection);
    return connection;
  };

  return {
    use: () => ({ inUse, waiting }),
    up: () => up,
    init: async () => {},
    async acquireConnection() {
      const startedMs = performance.now();
      const connection = await prepare(await acquire());
      inUse++;
      up = true;
      onAcquired?.(performance.now() - startedMs);
      return connection;
    },
    async releaseConnection(connection) {
      inUse--;
      (connection as Connection).release();
    },
    beginTransaction: (connection) => (connection as Connection).begin(),
    commitTransaction: (connection) => (connection as Connection).commit(),
    rollbackTransaction: (connection) => (connection as Connection).rollback(),
    // The pool's creator closes it, not Kysely.
    destroy: async () => {},
  };
};

export interface PoolState {
  /** The pool's current use. */
  use(): { readonly inUse: number; readonly waiting: number };
  /** False if the last connection attempt did not reach the server. */
  up(): boolean;
}

export interface DriverOptions {
  readonly pool: Pool;
  /** Names the server in errors. */
  readonly where: string;
  /** Run once on each new connection. */
  readonly session: string;
  readonly acquireTimeoutMs: number;
  /** Throws at a query that may not run. */
  readonly check: (query: CompiledQuery) => void;
  /** Wraps every statement. */
  readonly traced?: ((send: Send) => Send) | undefined;
  readonly onAcquired?: ((elapsedMs: number) => void) | undefined;
}

interface Connection extends DatabaseConnection {
  readonly run: Send;
  begin(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  release(): void;
}

/** A statement that waits to be sent with the next one, and what to do with its result. */
interface Unsent extends Statement {
  readonly onResult?: (result: QueryResult<unknown>) => void;
}

const beginning: Unsent = { sql: 'begin' };

const createConnection = (
  raw: PoolConnection,
  check: DriverOptions['check'],
  traced: DriverOptions['traced'],
): Connection => {
  // Set while only a rollback is allowed. After a deadlock the server has ended the transaction, and a further
  // statement would commit on its own.
  let broken: Error | undefined;
  let doubtful = false;
  let inTransaction = false;
  let unsent: Unsent[] = [];
  // An idle connection that dies emits an error here; the pool removes it.
  raw.on('error', () => {});

  const send: Send = (statements) =>
    new Promise((resolve, reject) => {
      const [first, ...more] = statements;
      const done = (error: Error | null, result: unknown): void => {
        if (error && isConnectionLost(error)) doubtful = true;
        if (error && (doubtful || isDeadlock(error))) broken = error;
        if (error) reject(error);
        else resolve(more.length === 0 ? [result] : (result as readonly unknown[]));
      };
      if (more.length === 0) raw.query(first!.sql, first!.values as unknown[], done);
      // Each with its own values, so that none can take those of its neighbour.
      else raw.query(statements.map(({ sql, values = [] }) => raw.format(sql, values)).join('; '), done);
    });

  const run = traced ? traced(send) : send;

  /** Sends the waiting statements and these in one round trip. The server stops at the first that fails. */
  const runWithUnsent = async (...statements: readonly Statement[]): Promise<unknown> => {
    const before = unsent;
    unsent = [];
    let results: readonly unknown[];
    try {
      results = await run([...before, ...statements]);
    } catch (error) {
      // Statements of work that went on in the meantime may not have run.
      if (before.some((one) => one !== beginning)) broken ??= error as Error;
      throw error;
    }
    for (const [at, { onResult }] of before.entries()) onResult?.(asQueryResult(results[at]));
    return results[before.length];
  };

  return {
    run,
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      if (query === nothing) {
        if (unsent.some((one) => one !== beginning)) await runWithUnsent();
        return { rows: [] };
      }
      check(query);
      // The server takes several statements at once, but only this file joins them.
      if (query.sql.includes(';')) throw new Error(`a statement may hold no semicolon: ${query.sql}`);
      if (broken) throw broken;
      const statement = { sql: query.sql, values: query.parameters };
      if (!isDeferred(query)) return asQueryResult(await runWithUnsent(statement));
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
      try {
        await runWithUnsent({ sql: 'commit' });
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        throw new CommitOutcomeUnknown('the connection was lost during COMMIT', { cause: error });
      }
    },
    async rollback() {
      inTransaction = false;
      const begun = unsent[0] !== beginning;
      unsent = [];
      if (doubtful || !begun) return;
      try {
        await run([{ sql: 'rollback' }]);
      } catch (error) {
        doubtful = true;
        throw error;
      }
    },
    release() {
      broken = undefined;
      if (doubtful) raw.destroy();
      else raw.release();
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

const busy = (message: string) => new DatabaseUnavailable('busy', message);

const unavailable = (error: NodeJS.ErrnoException, where: string): DatabaseUnavailable => {
  if (error.message === 'Queue limit reached.')
    return busy(`too many queries are waiting for a connection to ${where}`);
  if (error.message === 'Pool is closed.')
    return new DatabaseUnavailable('closed', `the connections to MySQL at ${where} were closed`);
  const reason = error.code ?? error.message;
  return new DatabaseUnavailable('unreachable', `cannot connect to MySQL at ${where}: ${reason}`, {
    cause: error,
  });
};
