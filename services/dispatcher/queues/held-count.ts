import { countHeldAfterMs } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  type Log,
  type Repeated,
  repeat,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { QueueKey } from '../job.ts';
import { candidates, takeFirst } from '../store/take-first.ts';
import type { Tables } from '../tables.ts';

/**
 * Adds to the count of a subscription's held deliveries, in the transaction that changes their rows.
 * @param by negative if deliveries are no longer held.
 */
export const addHeld = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  by: number,
  now: Date,
): Promise<void> => {
  if (by === 0) return;
  await sql`
    UPDATE delivery_queues
    SET held_deliveries = GREATEST(CAST(held_deliveries AS SIGNED) + ${by}, 0),
      count_held_utc = ${new Date(now.getTime() + countHeldAfterMs)}
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}`.execute(db);
};

/** Corrects the count of one subscription whose recount is due. @returns how many were due, 0 or 1. */
export const correctHeld = async ({ db, now }: Pick<HeldCountOptions, 'db' | 'now'>): Promise<number> => {
  const due = await acrossTenants(db, 'held deliveries are counted for a due subscription of any company')
    .selectFrom('delivery_queues')
    .select(['company_id', 'subscription_id'])
    .where('count_held_utc', '<=', now())
    .orderBy('count_held_utc')
    .limit(candidates)
    .execute();
  return (await takeFirst(due, (key) => correctOne(db, key, now()))) ?? 0;
};

const correctOne = (db: Database<Tables>, key: QueueKey, now: Date): Promise<1 | undefined> =>
  transaction(db, async (trx) => {
    // Transactions that change the count wait for this lock; those that committed earlier are included.
    const due = await trx
      .selectFrom('delivery_queues')
      .select(['company_id', 'subscription_id'])
      .where('company_id', '=', key.company_id)
      .where('subscription_id', '=', key.subscription_id)
      .where('count_held_utc', '<=', now)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!due) return undefined;
    const { held } = await trx
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<number>().as('held'))
      .where('company_id', '=', due.company_id)
      .where('subscription_id', '=', due.subscription_id)
      .where('state', '=', 'held')
      .executeTakeFirstOrThrow();
    await trx
      .updateTable('delivery_queues')
      .set({ held_deliveries: held, count_held_utc: null })
      .where('company_id', '=', due.company_id)
      .where('subscription_id', '=', due.subscription_id)
      .execute();
    return 1;
  });

/** Corrects counts when they are due, on any replica. A count takes about a second for 600,000 rows. */
export const startHeldCount = (options: HeldCountOptions): Repeated =>
  repeat(() => correctHeld(options), {
    pauseMs: 5_000,
    onError: (error) => options.log.warn({ error }, 'count of held deliveries failed'),
  });

interface HeldCountOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly now: () => Date;
}
