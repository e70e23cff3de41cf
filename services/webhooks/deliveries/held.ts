import { countHeldAfterMs, type DeliveryQueueRow } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  type Log,
  type Repeated,
  repeat,
  type Trx,
  tenantIn,
  transaction,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Adds to the count of a subscription's held deliveries, in the transaction that changes their rows.
 * @param by negative if deliveries are no longer held.
 */
export const addHeld = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'>,
  by: number,
  now: Date,
): Promise<void> => {
  if (by === 0) return;
  await sql`
    UPDATE delivery_queues
    SET held_deliveries = GREATEST(CAST(held_deliveries AS SIGNED) + ${by}, 0),
      count_held_utc = ${new Date(now.getTime() + countHeldAfterMs)}
    WHERE company_id in ${tenantIn(company_id)} AND subscription_id = ${subscription_id}`.execute(trx);
};

/** Counts the rows. Takes about a second for 600,000. */
export const countHeldRows = async (
  db: Kysely<Tables>,
  companyId: number,
  subscriptionId: number,
): Promise<number> => {
  const { held } = await db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('held'))
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'held')
    .executeTakeFirstOrThrow();
  return held;
};

/** Corrects the count of one subscription whose recount is due. @returns how many were due, 0 or 1. */
export const correctHeld = ({ db, now }: Pick<HeldCountOptions, 'db' | 'now'>): Promise<number> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'held deliveries are counted for a due subscription of any company');
    // Transactions that change the count wait for this lock; those that committed earlier are included.
    const due = await all
      .selectFrom('delivery_queues')
      .select(['company_id', 'subscription_id'])
      .where('count_held_utc', '<=', now())
      .orderBy('count_held_utc')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!due) return 0;
    const held = await countHeldRows(trx, due.company_id, due.subscription_id);
    await trx
      .updateTable('delivery_queues')
      .set({ held_deliveries: held, count_held_utc: null })
      .where('company_id', '=', due.company_id)
      .where('subscription_id', '=', due.subscription_id)
      .execute();
    return 1;
  });

/** Corrects counts when they are due, on any replica. */
export const startHeldCount = (options: HeldCountOptions): Repeated =>
  repeat(() => correctHeld(options), {
    pauseMs: 5_000,
    onError: (error) => options.log.warn({ error }, 'count of held deliveries failed'),
  });

/** Schedules a recount for all subscriptions: dropping partitions may have removed held deliveries. */
export const recountHeld = async (db: Kysely<Tables>, now: Date): Promise<void> => {
  await db
    .updateTable('delivery_queues')
    .set({ count_held_utc: now })
    .where('held_deliveries', '>', 0)
    .execute();
};

interface HeldCountOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly now: () => Date;
}
