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
import { recountHeld } from '../deliveries/held.ts';
import type { Tables } from '../tables.ts';
import { addDays, datedTables, dropPartition, planPartitions, readPartitions } from './partitions.ts';

/**
 * Keeps events, deliveries, attempts and minutes for some days: at the start and every ten minutes, whichever replica
 * comes first does what is to be done.
 */
export const startRetention = (options: RetentionOptions): Repeated => {
  const { log, metrics } = options;
  const failed = metrics
    ?.counter('webhooks_retention_failed_total', 'Passes that could not be finished')
    .cell();
  const pass = async (): Promise<number> => {
    await keepDays(options);
    return 0;
  };
  return repeat(pass, {
    pauseMs,
    onError: (error) => {
      if (failed) failed.value++;
      if (isLockWaitTimeout(error)) log.info('a long transaction is at work; days are changed later');
      else log.error({ error }, 'days of a table could not be changed');
    },
  });
};

/**
 * Makes the partitions of the days to come, and drops those whose days are over.
 *
 * Changing partitions needs the table for itself for a moment. While it waits for that, everybody else waits
 * behind it; so it waits for a second at most.
 * @returns false where another replica is at it.
 * @throws MySQL's 1205 where a transaction was too long to be waited for.
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
            log.info({ table, added: add, dropped: drop }, 'days of a table changed');
        }
        return true;
      } finally {
        await unlock(alone);
      }
    });

/** A pass that has to give up has held everybody up for a second, and there is a week's time. */
const pauseMs = 600_000;

export interface RetentionOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  /** For how many whole days everything is kept. */
  readonly days: number;
  readonly now: () => Date;
}

/** Named locks are the server's: another database of it has retention too. */
const lockName = sql`CONCAT('retention ', LEFT(SHA2(DATABASE(), 256), 40))`;

const lock = async (alone: Kysely<Tables>): Promise<boolean> => {
  const { rows } = await sql<{ taken: number | null }>`SELECT GET_LOCK(${lockName}, 0) AS taken`.execute(
    alone,
  );
  if (rows[0]?.taken !== 1) return false;
  await sql`SET SESSION lock_wait_timeout = 1`.execute(alone);
  return true;
};

/** A connection that is lost gives both back by itself. */
const unlock = async (alone: Kysely<Tables>): Promise<void> => {
  await sql`SET SESSION lock_wait_timeout = DEFAULT`.execute(alone);
  await sql`SELECT RELEASE_LOCK(${lockName})`.execute(alone);
};
