import type { DeliveryQueueRow } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

/**
 * Holds what waits for a subscription that has just been switched off: a first chunk here, the rest by the
 * dispatcher that takes the queue, which is due from now on. So the transaction stays short however long the
 * backlog is.
 */
export const holdWaiting = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<DeliveryQueueRow, 'company_id' | 'subscription_id'>,
  now: Date,
): Promise<void> => {
  await trx
    .updateTable('deliveries')
    .set({ state: 'held', due_utc: null, updated_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    // Of all states, only a waiting delivery has a due time; this way the index finds them.
    .where('due_utc', 'is not', null)
    .orderBy('due_utc')
    .limit(chunk)
    .execute();
  await makeDue(trx, { company_id, subscription_id }, now);
};

/** Has a dispatcher look after the subscription's queue at once. */
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

const chunk = 1_000;
