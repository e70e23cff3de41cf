import type { ReplaySelection } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Sets the count of missed events to zero, if the replay makes all of them (contract, "Quotas").
 * @returns how many rows it deleted.
 */
export const resetMissed = async (
  db: Kysely<Tables>,
  { companyId, subscriptionId, since }: Pick<ReplaySelection, 'companyId' | 'subscriptionId' | 'since'>,
): Promise<bigint> => {
  const { numDeletedRows } = await db
    .deleteFrom('missed_events')
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('since_utc', '>=', since)
    .executeTakeFirst();
  return numDeletedRows;
};
