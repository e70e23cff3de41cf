import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2';
import { CommitOutcomeUnknown, DatabaseUnavailable, isConnectionLost, isDeadlock } from './errors.ts';
import type { Send } from './traced.ts';

/**
 * Kysely's driver over mysql2's pool. Beyond the one that Kysely brings, it bounds the wait for a connection,
 * sets each connection's session, throws away a connection whose state is in doubt, refuses to go on in a
 * transaction that the server has already rolled back, and lets `check` see each query before it leaves.
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
      await connection.run(session);
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
    // The pool outlives Kysely's view of it: whoever made it closes it.
    destroy: async () => {},
  };
};

export interface PoolState {
  /** What the pool is doing now. */
  use(): { readonly inUse: number; readonly waiting: number };
  /** False while the last attempt at a connection did not reach the server. */
  up(): boolean;
}

export interface DriverOptions {
  readonly pool: Pool;
  /** Says in errors which server is meant. */
  readonly where: string;
  /** Run once on each new connection. */
  readonly session: string;
  readonly acquireTimeoutMs: number;
  /** Throws at a query that may not run. */
  readonly check: (query: CompiledQuery) => void;
  /** Puts itself around every statement. */
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

const createConnection = (
  raw: PoolConnection,
  check: DriverOptions['check'],
  traced: DriverOptions['traced'],
): Connection => {
  // Set while nothing but a rollback makes sense. After a deadlock the server has left the transaction, and
  // a next statement would commit by itself, alone.
  let broken: Error | undefined;
  let doubtful = false;
  // A connection that dies while idle says so here; the pool forgets it by itself.
  raw.on('error', () => {});

  const send: Send = (sql, values) =>
    new Promise((resolve, reject) => {
      raw.query(sql, values as unknown[], (error, result) => {
        if (!error) return resolve(result);
        if (isConnectionLost(error)) doubtful = true;
        if (doubtful || isDeadlock(error)) broken = error;
        reject(error);
      });
    });

  const run = traced ? traced(send) : send;

  return {
    run,
    async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
      check(query);
      if (broken) throw broken;
      const result = await run(query.sql, query.parameters);
      return Array.isArray(result) ? { rows: result as Row[] } : asWritten(result as ResultSetHeader);
    },
    // biome-ignore lint/correctness/useYield: there is nothing to yield.
    async *streamQuery() {
      throw new Error('results are not streamed; read them in pages');
    },
    async begin() {
      broken = undefined;
      await run('begin');
    },
    async commit() {
      if (broken) throw broken;
      try {
        await run('commit');
      } catch (error) {
        if (!isConnectionLost(error)) throw error;
        throw new CommitOutcomeUnknown('the connection was lost during COMMIT', { cause: error });
      }
    },
    async rollback() {
      if (doubtful) return;
      try {
        await run('rollback');
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

const asWritten = <Row>({ insertId, affectedRows, changedRows }: ResultSetHeader): QueryResult<Row> => ({
  ...(insertId ? { insertId: BigInt(insertId) } : {}),
  numAffectedRows: BigInt(affectedRows),
  numChangedRows: BigInt(changedRows ?? 0),
  rows: [],
});

const busy = (message: string) => new DatabaseUnavailable('busy', message);

const unavailable = (error: NodeJS.ErrnoException, where: string): DatabaseUnavailable => {
  if (error.message === 'Queue limit reached.') return busy(`too many wait for a connection to ${where}`);
  if (error.message === 'Pool is closed.')
    return new DatabaseUnavailable('closed', `the connections to MySQL at ${where} were closed`);
  const reason = error.code ?? error.message;
  return new DatabaseUnavailable('unreachable', `cannot connect to MySQL at ${where}: ${reason}`, {
    cause: error,
  });
};
