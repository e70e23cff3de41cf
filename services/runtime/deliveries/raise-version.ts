import { type Kysely, sql } from 'kysely';
import { rowList } from '../database/row-list.ts';
import { acrossTenants } from '../database/tenant-guard.ts';

/**
 * Raises the version of the subscriptions of these companies. Every transaction that inserts, changes or deletes a
 * subscription calls it, best last: events of the company wait from here to the commit. So an event that is committed
 * after the change carries the new version, and no dispatcher matches it against an older copy.
 */
export const raiseSubscriptionsVersion = async <DB>(
  db: Kysely<DB>,
  companyIds: readonly number[],
): Promise<void> => {
  if (companyIds.length === 0) return;
  // In the order of the key, as events take their numbers, so that no two transactions deadlock.
  const rows = [...new Set(companyIds)].sort((a, b) => a - b).map((id) => [id, 0, 1]);
  await sql`
    INSERT INTO event_sequences (company_id, last_sequence, subscriptions_version)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE subscriptions_version = event_sequences.subscriptions_version + 1`.execute(
    acrossTenants(db, 'each version names its company'),
  );
};
