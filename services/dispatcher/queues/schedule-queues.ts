import { acrossTenants, nextDueSql } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type QueueKey, queueName } from '../job.ts';
import { isOneOfQueues } from '../store/keys.ts';
import type { Tables } from '../tables.ts';
import { ensureQueues } from './ensure-queues.ts';

/**
 * Moves the due time of these queues to `due` at the latest, and makes those that are missing (`ensureQueues`).
 * @returns the names of those that exist now. This transaction has locked them.
 */
export const scheduleQueues = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
  due: Date,
): Promise<ReadonlySet<string>> => {
  if (keys.length === 0) return new Set();
  const all = acrossTenants(db, 'each queue names its company');
  const { numAffectedRows = 0n } = await sql`
    UPDATE delivery_queues FORCE INDEX (PRIMARY) SET next_due_utc = ${nextDueSql(due)}
    WHERE ${isOneOfQueues(keys)}`.execute(all);
  if (Number(numAffectedRows) === keys.length) return new Set(keys.map(queueName));
  await ensureQueues(db, keys, due);
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(keys)}`.execute(all);
  return new Set(rows.map(queueName));
};
