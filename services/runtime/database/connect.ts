import type { LookupFunction } from 'node:net';
import { type Dialect, Kysely, MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, sql } from 'kysely';
import { createInFlight } from '../in-flight.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';
import { createServerClock } from './clock.ts';
import { createDriver } from './driver.ts';
import type { Database, DatabaseHandle } from './handle.ts';
import { createPool } from './pool.ts';
import { type SessionLimits, sessionSql } from './session.ts';
import { createShards, readVitessShards } from './shards.ts';
import { createTenantGuard } from './tenant-guard.ts';
import { describeAddress, parseMysqlUrl } from './url.ts';

/**
 * Opens a pool; nothing is connected before the first query or `ping`.
 * DATETIME(3) returns a `Date`, BIGINT a number up to 2^53 - 1 and a string beyond, DECIMAL a string,
 * TINYINT(1) 0 or 1, BLOB a Buffer. `numAffectedRows` counts the matched rows, `numChangedRows` those that
 * changed.
 */
export const connectDatabase = <DB>(options: DatabaseOptions): Database<DB> => {
  const { poolSize, tenantTables, log, metrics } = options;
  const { statementTimeoutMs = 10_000 } = options;
  const address = parseMysqlUrl(options.url);
  const where = describeAddress(address);
  const guard = createTenantGuard({ tenantTables, log });
  const acquired = metrics?.timing(runtimeMetrics.database_acquire_seconds);
  const expired = metrics?.counter(runtimeMetrics.database_unanswered_total).cell();
  const pool = createPool({
    address,
    where,
    session: sessionSql(
      {
        lockWaitTimeoutS: 2,
        selectTimeoutMs: statementTimeoutMs - 1_000,
        idleTimeoutS: 3,
        ...options.session,
      },
      options.shards === 'vtgate',
    ),
    size: poolSize,
    queueLimit: options.queueLimit ?? 100 * poolSize,
    acquireTimeoutMs: options.acquireTimeoutMs ?? 5_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    lookup: options.lookup,
    isVtgate: options.shards === 'vtgate',
    log,
    onExpired: () => {
      if (expired) expired.value++;
    },
  });
  const driver = createDriver({
    pool,
    check: guard.assertChecked,
    onAcquired: acquired && ((elapsedMs) => acquired.observe(elapsedMs)),
    onSpansShards:
      options.shards &&
      (() => void shards?.learn().catch((error) => log?.warn({ error }, 'shards not learned'))),
    statementTimeoutMs,
  });
  metrics?.gauge(runtimeMetrics.database_connections_in_use, () => pool.use().inUse);
  metrics?.gauge(runtimeMetrics.database_connections_waiting, () => pool.use().waiting);
  metrics?.gauge(runtimeMetrics.database_reachable, () => (pool.isReachable() ? 1 : 0));
  const retries = metrics?.counter(runtimeMetrics.database_transaction_retries_total);

  const kysely = new Kysely<DB>({ dialect: dialectOf(driver), plugins: [guard.plugin] });
  const shards = options.shards && createShards(() => readVitessShards(kysely, address.database));
  const effects = createInFlight();
  const clock = createServerClock({ ask: () => askTime(kysely) });
  metrics?.gauge(runtimeMetrics.database_clock_offset_seconds, () =>
    clock.silentMs() < clockMaxAgeMs ? clock.offsetMs() / 1000 : undefined,
  );
  metrics?.gauge(runtimeMetrics.database_silent_seconds, () => clock.silentMs() / 1000);
  let closing: Promise<void> | undefined;

  const handle: DatabaseHandle = {
    ping: clock.measure,
    now: clock.now,
    isUp: pool.isReachable,
    use: pool.use,
    background: (effect) => {
      effects.begin();
      void Promise.resolve()
        .then(effect)
        .catch((error: unknown) => log?.error({ error }, 'a side effect after a commit failed'))
        .finally(effects.end);
    },
    retried: (reason) => {
      if (retries) retries.cell(reason).value++;
    },
    shards,
    close: () => (closing ??= pool.close(() => pool.use().inUse === 0 && effects.count() === 0)),
  };
  return Object.assign(kysely, handle);
};

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly tenantTables: ReadonlySet<string>;
  readonly connectTimeoutMs?: number;
  readonly acquireTimeoutMs?: number;
  readonly queueLimit?: number;
  /** How long a statement may go without an answer. Then its connection is closed, and its result unknown. */
  readonly statementTimeoutMs?: number;
  readonly session?: Partial<SessionLimits>;
  readonly shards?: 'vtgate' | undefined;
  readonly lookup?: LookupFunction;
  readonly log?: Log | undefined;
  readonly metrics?: Metrics | undefined;
}

const clockMaxAgeMs = 60_000;

const dialectOf = (driver: ReturnType<typeof createDriver>): Dialect => ({
  createAdapter: () => new MysqlAdapter(),
  createDriver: () => driver,
  createQueryCompiler: () => new MysqlQueryCompiler(),
  createIntrospector: (db) => new MysqlIntrospector(db),
});

const askTime = async <DB>(kysely: Kysely<DB>): Promise<number> => {
  const { rows } = await sql<{ server_time: Date }>`SELECT UTC_TIMESTAMP(3) AS server_time`.execute(kysely);
  return rows[0]!.server_time.getTime();
};
