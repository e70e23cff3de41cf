import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, nextDueSql, type Trx } from '@causeway/runtime';
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

/** Makes the next probe of a failing subscription due now. A probe under way goes on alone. */
export const endBackOff = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: QueueKey,
  now: Date,
): Promise<void> => {
  const queue = await trx
    .selectFrom('delivery_queues')
    .select('probe_due_utc')
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('consecutive_failures', '>=', failuresUntilProbing)
    .where('probe_due_utc', '>', now)
    .forUpdate()
    .executeTakeFirst();
  if (!queue) return;
  const probe = await trx
    .selectFrom('deliveries')
    .select('event_id')
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('state', '=', 'waiting')
    .where('due_utc', '=', queue.probe_due_utc)
    .where('leased_by', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (probe) return;
  await trx
    .updateTable('delivery_queues')
    .set({ next_due_utc: now, probe_due_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .execute();
};
