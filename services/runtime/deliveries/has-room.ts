import { type Kysely, sql } from 'kysely';
import { tenantIs } from '../database/tenant-raw.ts';
import { maxCounted } from './admit-waiting.ts';
import { countWaiting } from './count-waiting.ts';

/**
 * Whether the company may have one more waiting delivery (contract, "Quotas"). Locks and changes nothing: whoever
 * writes the delivery admits it.
 */
export const hasRoomForWaiting = async <DB>(
  db: Kysely<DB>,
  companyId: number,
  quota: number,
): Promise<boolean> => {
  const { rows } = await sql<{ waiting_bound: number }>`
    SELECT waiting_bound FROM webhook_companies WHERE company_id = ${tenantIs(companyId)}`.execute(db);
  const bound = rows[0]?.waiting_bound ?? 0;
  if (bound < quota) return true;
  return bound <= maxCounted && (await countWaiting(db, companyId)).total < quota;
};
