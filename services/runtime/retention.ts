import { type Kysely, sql } from 'kysely';
import { isLockWaitTimeout } from './database/errors.ts';
import type { Database } from './database/handle.ts';
import { acrossTenants } from './database/tenant-guard.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { type Repeated, repeat } from './repeat.ts';

/** Runs on the replica that gets the lock. */
export const startRetention = <DB>(
  options: RetentionOptions<DB> & { readonly metrics: Metrics },
): Repeated => {
  const { log, metrics, tables } = options;
  const pass = async (): Promise<number> => {
    // Nothing is dropped because one clock, the database's or our own, is days ahead.
    await keepDays({ ...options, now: () => new Date(Math.min(options.now().getTime(), Date.now())) });
    return 0;
  };
  return repeat(pass, {
    pauseMs,
    removes: { of: tables.join(', '), metrics },
    onError: (error) => {
      if (isLockWaitTimeout(error))
        log.info('partition change postponed: a long transaction holds the table');
      else log.error({ error }, 'partition change failed');
    },
  });
};

/**
 * A partition change waits at most a second for its exclusive lock, because all other queries wait behind it.
 * @returns false if another replica is changing the table. @throws MySQL's 1205
 */
export const keepDays = <DB>(options: RetentionOptions<DB>): Promise<boolean> => {
  const { db, log, tables, lock, days, now, onDropped } = options;
  return acrossTenants(db, 'retention works on whole tables')
    .connection()
    .execute(async (alone) => {
      if (!(await take(alone, lock))) return false;
      try {
        for (const table of tables) {
          const { add, drop } = planPartitions(await readPartitions(alone, table), now(), days);
          if (add.length > 0) await addDays(alone, table, add);
          for (const name of drop) await dropPartition(alone, table, name);
          if (drop.length > 0) await onDropped?.(table);
          if (add.length + drop.length > 0)
            log.info({ table, added: add, dropped: drop }, 'partitions changed');
        }
        return true;
      } finally {
        await release(alone, lock);
      }
    });
};

/** Rare, because a pass that gives up has blocked the table's queries for a second; there is a week to succeed. */
const pauseMs = 600_000;

interface RetentionOptions<DB> {
  readonly db: Database<DB>;
  readonly log: Log;
  readonly tables: readonly string[];
  /** At most 20 characters. */
  readonly lock: string;
  readonly days: number;
  readonly now: () => Date;
  readonly onDropped?: (table: string) => Promise<void>;
}

/** Contains the database's name: named locks are server-wide, and another database has retention too. */
const nameOf = (lock: string) => sql`CONCAT(${lock}, ' ', LEFT(SHA2(DATABASE(), 256), 40))`;

const take = async <DB>(alone: Kysely<DB>, lock: string): Promise<boolean> => {
  const { rows } = await sql<Readonly<Record<string, unknown>>>`SELECT GET_LOCK(${nameOf(lock)}, 0)`.execute(
    alone,
  );
  // Vitess names the column in its own way.
  if (Object.values(rows[0] ?? {})[0] !== 1) return false;
  await sql`SET SESSION lock_wait_timeout = 1`.execute(alone);
  return true;
};

const defaultLockWaitS = 31_536_000;

const release = async <DB>(alone: Kysely<DB>, lock: string): Promise<void> => {
  await sql`SET SESSION lock_wait_timeout = ${sql.lit(defaultLockWaitS)}`.execute(alone);
  await sql`SELECT RELEASE_LOCK(${nameOf(lock)})`.execute(alone);
};

interface PartitionPlan {
  readonly add: readonly string[];
  readonly drop: readonly string[];
}

/**
 * One partition for today and each of the next days, and none that is all older than `keepDays` days.
 * `future` takes later rows. It is split a week ahead, while it is empty, which only changes metadata.
 */
export const planPartitions = (names: readonly string[], now: Date, keepDays: number): PartitionPlan => {
  const days = names.filter((name) => name !== future).map((name) => name.slice(1));
  const today = startOfDay(now);
  const last = days.toSorted().at(-1);
  const firstMissing =
    last === undefined ? today : Math.max(fromDay(last) + dayMs, oldestKept(now, keepDays));
  const add: string[] = [];
  for (let ms = firstMissing; ms <= today + daysAhead * dayMs; ms += dayMs) add.push(toDay(ms));
  const drop = days.filter((day) => fromDay(day) < oldestKept(now, keepDays)).map((day) => `p${day}`);
  return { add, drop };
};

const oldestKept = (now: Date, keepDays: number): number => startOfDay(now) - keepDays * dayMs;

const daysAhead = 7;
const dayMs = 86_400_000;
const future = 'future';

const startOfDay = (now: Date): number => Math.floor(now.getTime() / dayMs) * dayMs;
const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
const fromDay = (day: string): number => Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);

export const readPartitions = async <DB>(db: Kysely<DB>, table: string): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    SELECT partition_name AS name FROM information_schema.partitions
    WHERE table_schema = DATABASE() AND table_name = ${table} ORDER BY partition_ordinal_position`.execute(
    db,
  );
  return rows.map(({ name }) => name);
};

const addDays = async <DB>(db: Kysely<DB>, table: string, days: readonly string[]): Promise<void> => {
  const parts = days.map((day) => {
    const end = new Date(fromDay(day) + dayMs).toISOString().slice(0, 10);
    return sql`PARTITION ${sql.id(`p${day}`)} VALUES LESS THAN (${sql.lit(end)})`;
  });
  await sql`ALTER TABLE ${sql.table(table)} REORGANIZE PARTITION ${sql.id(future)} INTO
    (${sql.join([...parts, sql`PARTITION ${sql.id(future)} VALUES LESS THAN (MAXVALUE)`])})`.execute(db);
};

const dropPartition = async <DB>(db: Kysely<DB>, table: string, name: string): Promise<void> => {
  await sql`ALTER TABLE ${sql.table(table)} DROP PARTITION ${sql.id(name)}`.execute(db);
};
