import { setTimeout as sleep } from 'node:timers/promises';
import { type Dialect, Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, sql } from 'kysely';
import { createPool, type Pool } from 'mysql2';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { createServerClock } from './clock.ts';
import { createDriver, type PoolState } from './driver.ts';
import { type SessionLimits, sessionSql } from './session.ts';
import { createTenantGuard } from './tenant-guard.ts';
import { tracedSend } from './traced.ts';
import { describeAddress, parseMysqlUrl } from './url.ts';

/**
 * A service's handle on its database: Kysely's query builder with the tenant guard. Functions that work inside and
 * outside a transaction take `Kysely<DB>`; those that need a transaction take `Trx<DB>`.
 */
export type Database<DB> = Kysely<DB> & DatabaseHandle;

export interface DatabaseHandle {
  /** Resolves when the server answers, and sets the clock. @throws DatabaseUnavailable */
  ping(): Promise<void>;
  /** The server's time, updated by each `ping`; this process's own time before the first. */
  readonly now: () => Date;
  /** False after a failed connection until one succeeds; for readiness. */
  isUp(): boolean;
  /** The pool's current use. */
  use: PoolState['use'];
  /** Runs a side effect in the background; `close` waits for it. A failure is logged. */
  background(effect: () => unknown): void;
  readonly retried: (reason: string) => void;
  /** Waits up to five seconds for running queries, then closes every connection. */
  close(): Promise<void>;
}

/**
 * Opens a pool; nothing is connected before the first query or `ping`.
 *
 * Values are returned as follows. DATETIME(3): a `Date`, which can be used in a condition unchanged and which JSON
 * writes in ISO 8601 with milliseconds and `Z`. BIGINT: a number up to 2^53 - 1, a string beyond. DECIMAL: a string,
 * as written. TINYINT(1): 0 or 1. BLOB: a Buffer. `numAffectedRows` counts the matched rows, `numChangedRows` those
 * that changed.
 */
export const connectDatabase = <DB>(options: DatabaseOptions): Database<DB> => {
  const { poolSize, tenantTables, tenantColumn = 'company_id', log, metrics, tracer } = options;
  const address = parseMysqlUrl(options.url);
  const where = describeAddress(address);
  const pool = createPool({
    ...address,
    ...valueOptions,
    connectTimeout: options.connectTimeoutMs ?? 5_000,
    connectionLimit: poolSize,
    maxIdle: poolSize,
    queueLimit: options.queueLimit ?? 100 * poolSize,
    enableKeepAlive: true,
    trace: false,
  });
  const guard = createTenantGuard({ tenantTables, tenantColumn, log });
  const acquired = metrics?.timing(runtimeMetrics.database_acquire_seconds);
  const driver = createDriver({
    pool,
    where,
    session: sessionSql({ lockWaitTimeoutS: 2, selectTimeoutMs: 30_000, ...options.session }),
    acquireTimeoutMs: options.acquireTimeoutMs ?? 5_000,
    check: guard.assertChecked,
    traced: tracer && ((send) => tracedSend(tracer, address, send)),
    onAcquired: acquired && ((elapsedMs) => acquired.observe(elapsedMs)),
  });
  metrics?.gauge(runtimeMetrics.database_connections_in_use, () => driver.use().inUse);
  metrics?.gauge(runtimeMetrics.database_connections_waiting, () => driver.use().waiting);
  const retries = metrics?.counter(runtimeMetrics.database_transaction_retries_total);

  const kysely = new Kysely<DB>({ dialect: dialectOf(driver), plugins: [guard.plugin] });
  const effects = new Set<Promise<unknown>>();
  const clock = createServerClock({ ask: () => askTime(kysely) });
  metrics?.gauge(runtimeMetrics.database_clock_offset_seconds, () => clock.offsetMs() / 1000);
  let probing = false;
  let closing: Promise<void> | undefined;

  const handle: DatabaseHandle = {
    ping: clock.measure,
    now: clock.now,
    isUp: () => {
      // A process that is not ready gets no work, so without this it would never notice that the server is back.
      if (driver.up()) return true;
      if (!probing) {
        probing = true;
        clock
          .measure()
          .catch(() => {})
          .finally(() => {
            probing = false;
          });
      }
      return false;
    },
    use: driver.use,
    background: (effect) => {
      const running = Promise.resolve()
        .then(effect)
        .catch((error: unknown) => log?.error({ error }, 'a side effect after a commit failed'))
        .finally(() => effects.delete(running));
      effects.add(running);
    },
    retried: (reason) => {
      if (retries) retries.cell(reason).value++;
    },
    close: () => {
      closing ??= closePool(pool, () => driver.use().inUse === 0 && effects.size === 0);
      return closing;
    },
  };
  return Object.assign(kysely, handle);
};

export interface DatabaseOptions {
  /** See `parseMysqlUrl`. */
  readonly url: string;
  readonly poolSize: number;
  /** Tables whose rows each belong to one tenant; the guard checks every query on them. */
  readonly tenantTables: ReadonlySet<string>;
  /** The tenant column; `company_id` by default. */
  readonly tenantColumn?: string;
  readonly connectTimeoutMs?: number;
  /** How long a query may wait for a connection. */
  readonly acquireTimeoutMs?: number;
  /** How many queries may wait; further ones fail at once. */
  readonly queueLimit?: number;
  readonly session?: Partial<SessionLimits>;
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
}

const closeTimeoutMs = 5_000;

const valueOptions = {
  charset: 'utf8mb4_0900_ai_ci',
  timezone: 'Z',
  supportBigNumbers: true,
  bigNumberStrings: false,
  // Renders an object among the values as text, never as `column = value` pairs.
  stringifyObjects: true,
  // The driver joins statements, and refuses a query that holds more than one.
  multipleStatements: true,
} as const;

const dialectOf = (driver: ReturnType<typeof createDriver>): Dialect => ({
  createAdapter: () => new MysqlAdapter(),
  createDriver: () => driver,
  createQueryCompiler: () => new MysqlQueryCompiler(),
  createIntrospector: (db) => new MysqlIntrospector(db),
});

/** A new connection proves that the server answers; the query notices an idle one that has died. */
const askTime = async <DB>(kysely: Kysely<DB>): Promise<number> => {
  const { rows } = await sql<{ now: Date }>`SELECT UTC_TIMESTAMP(3) AS now`.execute(kysely);
  const [row] = rows;
  if (!row) throw new Error('MySQL returned no time');
  return row.now.getTime();
};

const closePool = async (pool: Pool, idle: () => boolean): Promise<void> => {
  const deadlineMs = performance.now() + closeTimeoutMs;
  while (!idle() && performance.now() < deadlineMs) await sleep(5);
  await new Promise<void>((resolve) => pool.end(() => resolve()));
};
