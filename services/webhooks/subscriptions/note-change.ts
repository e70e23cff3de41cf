import type { SubscriptionRow } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

/**
 * Writes the command row of a subscription that was created, disabled, enabled, deleted or given another URL, in the
 * transaction of that change. A dispatcher applies it to the subscription's queue and deliveries; `askDispatcher` makes it do so at once.
 */
export const noteChange = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<SubscriptionRow, 'company_id' | 'subscription_id'>,
  what: 'created' | 'disabled' | 'enabled' | 'moved' | 'deleted',
  now: Date,
): Promise<void> => {
  // A change that is not applied yet stays to be applied beside this one.
  const change = {
    changed_utc: now,
    ...(what === 'disabled' && { hold_utc: now }),
    ...(what === 'enabled' && { resets_failures: 1 }),
  };
  await trx
    .insertInto('subscription_changes')
    .values({ company_id, subscription_id, ...change })
    .onDuplicateKeyUpdate(change)
    .execute();
};
