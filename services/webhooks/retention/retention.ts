import {
  acrossTenants,
  type Database,
  isLockWaitTimeout,
  type Log,
  type Metrics,
  type Repeated,
  repeat,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { recountHeld } from '../deliveries/recount-held.ts';
import { webhooksMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { addDays, datedTables, dropPartition, planPartitions, readPartitions } from './partitions.ts';

/**
 * Keeps events, deliveries, attempts and minutes for a number of days. Runs at the start and every ten minutes, on the
 * replica that gets the lock.
 */
export const startRetention = (options: RetentionOptions): Repeated => {
  const { log, metrics } = options;
  const failed = metrics?.counter(webhooksMetrics.webhooks_retention_failed_total).cell();
  const pass = async (): Promise<number> => {
    await keepDays(options);
    return 0;
  };
  return repeat(pass, {
    pauseMs,
    onError: (error) => {
      if (failed) failed.value++;
      if (isLockWaitTimeout(error))
        log.info('partition change postponed: a long transaction holds the table');
      else log.error({ error }, 'partition change failed');
    },
  });
};

/**
 * Adds the partitions of the coming days, and drops those past retention.
 *
 * A partition change needs an exclusive lock on the table. While it waits for the lock, all other queries wait behind
 * it, so it waits for a second at most.
 * @returns false if another replica is changing the table.
 * @throws MySQL's 1205 if a long transaction holds the table.
 */
export const keepDays = ({ db, log, days, now }: RetentionOptions): Promise<boolean> =>
  acrossTenants(db, 'retention works on whole tables')
    .connection()
    .execute(async (alone) => {
      if (!(await lock(alone))) return false;
      try {
        for (const table of datedTables) {
          const { add, drop } = planPartitions(await readPartitions(alone, table), now(), days);
          if (add.length > 0) await addDays(alone, table, add);
          for (const name of drop) await dropPartition(alone, table, name);
          if (table === 'deliveries' && drop.length > 0) await recountHeld(alone, now());
          if (add.length + drop.length > 0)
            log.info({ table, added: add, dropped: drop }, 'partitions changed');
        }
        return true;
      } finally {
        await unlock(alone);
      }
    });

/** Rare, because a pass that gives up has blocked the table's queries for a second; there is a week to succeed. */
const pauseMs = 600_000;

export interface RetentionOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  /** Whole days to keep rows. */
  readonly days: number;
  readonly now: () => Date;
}

/** Contains the database's name: named locks are server-wide, and another database has retention too. */
const lockName = sql`CONCAT('retention ', LEFT(SHA2(DATABASE(), 256), 40))`;

const lock = async (alone: Kysely<Tables>): Promise<boolean> => {
  const { rows } = await sql<{ taken: number | null }>`SELECT GET_LOCK(${lockName}, 0) AS taken`.execute(
    alone,
  );
  if (rows[0]?.taken !== 1) return false;
  await sql`SET SESSION lock_wait_timeout = 1`.execute(alone);
  return true;
};

/** A lost connection releases both by itself. */
const unlock = async (alone: Kysely<Tables>): Promise<void> => {
  await sql`SET SESSION lock_wait_timeout = DEFAULT`.execute(alone);
  await sql`SELECT RELEASE_LOCK(${lockName})`.execute(alone);
};
