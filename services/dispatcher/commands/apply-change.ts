import { nextDueSql, type SubscriptionChangeRow } from '@causeway/deliveries';
import type { Trx } from '@causeway/runtime';
import type { QueueKey } from '../delivery.ts';
import { endBackOff, ensureQueues, holdOrDrop, selectChange } from '../queue-rows.ts';
import { isQueue } from '../store.ts';
import type { Tables } from '../tables.ts';

/**
 * Call it with the row of the change locked. A long backlog is held chunk by chunk: then the row stays for
 * the rest. The dispatcher that takes a deleted subscription's queue drops its deliveries.
 */
export const applyChange = async (
  trx: Trx<Tables>,
  { company_id, subscription_id, hold_utc, resets_failures }: SubscriptionChangeRow,
  now: Date,
): Promise<void> => {
  const key = { company_id, subscription_id };
  const subscription = await trx
    .selectFrom('subscriptions')
    .select('enabled')
    .where(isQueue(key))
    .executeTakeFirst();
  if (subscription) await ensureQueues(trx, [key], null);
  if (!subscription || hold_utc || resets_failures)
    await trx
      .updateTable('delivery_queues')
      .set({
        next_due_utc: now,
        ...(resets_failures && { consecutive_failures: 0, failed_attempts: 0, failed_types: null }),
      })
      .where(isQueue(key))
      .execute();
  else {
    await endBackOff(trx, key, now);
    // It may have been resumed, or got another pace.
    await trx
      .updateTable('delivery_queues')
      .set({ next_due_utc: nextDueSql(now) })
      .where(isQueue(key))
      .where('next_due_utc', '>', now)
      .execute();
  }
  // If it was enabled again since, deliveries of later events stay waiting.
  const until = subscription?.enabled === 1 ? hold_utc : null;
  const allHeld = !subscription || !hold_utc || (await holdOrDrop(trx, key, 'held', now, until));
  if (allHeld) await trx.deleteFrom('subscription_changes').where(isQueue(key)).execute();
  else
    await trx
      .updateTable('subscription_changes')
      .set({ changed_utc: now, resets_failures: 0 })
      .where(isQueue(key))
      .execute();
};

/**
 * Before a replay continues, so that only what waited at a disabling is held.
 * @returns whether there was a change. Then the replay continues in the next transaction, because the change
 * has locked the queue.
 */
export const applyFirst = async (trx: Trx<Tables>, key: QueueKey, now: Date): Promise<boolean> => {
  const change = await selectChange(trx, key).forUpdate().executeTakeFirst();
  if (!change) return false;
  await applyChange(trx, change, now);
  return true;
};
