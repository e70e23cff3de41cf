import type { DeliveryQueueRow } from '@causeway/proto';
import { type Trx, tenantIn } from '@causeway/runtime';
import { sql } from 'kysely';
import { addHeld } from '../deliveries/held.ts';
import type { Tables } from '../tables.ts';

/**
 * Holds the waiting deliveries of a subscription that has just been disabled: a first chunk here; the dispatcher that
 * takes the queue, which is due now, holds the rest. So the transaction stays short however long the backlog is.
 */
export const holdWaiting = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'>,
  now: Date,
): Promise<void> => {
  const { numAffectedRows = 0n } = await sql`
    UPDATE deliveries FORCE INDEX (by_state)
    SET state = 'held', due_utc = NULL, updated_utc = ${now}
    WHERE company_id in ${tenantIn(company_id)} AND subscription_id = ${subscription_id}
      AND state = 'waiting'
    LIMIT ${sql.lit(chunk)}`.execute(trx);
  await addHeld(trx, { company_id, subscription_id }, Number(numAffectedRows), now);
  await makeDue(trx, { company_id, subscription_id }, now);
};

/** Makes the subscription's queue due now, so that a dispatcher takes it. */
export const makeDue = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'>,
  now: Date,
): Promise<void> => {
  await trx
    .updateTable('delivery_queues')
    .set({ next_due_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .execute();
};

/** Resets the consecutive failures of a subscription that has just been enabled. */
export const resetQueue = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'>,
  now: Date,
): Promise<void> => {
  await trx
    .updateTable('delivery_queues')
    .set({ consecutive_failures: 0, failed_attempts: 0, next_due_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .execute();
};

const chunk = 1_000;
