import { nextDueSql } from '@causeway/deliveries';
import { countHeldAfterMs, type DeliveryState, failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, type Trx, tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type QueueKey, queueName } from './delivery.ts';
import { isOneOfQueues, isQueue } from './store.ts';
import type { Tables } from './tables.ts';

/**
 * Makes queues due at `due` at the latest, and makes missing queues.
 * @returns the names of those that exist; all are locked.
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

/** A probe under way goes on alone. */
export const endBackOff = async (trx: Trx<Tables>, key: QueueKey, now: Date): Promise<void> => {
  const queue = await trx
    .selectFrom('delivery_queues')
    .select('probe_due_utc')
    .where(isQueue(key))
    .where('consecutive_failures', '>=', failuresUntilProbing)
    .where('probe_due_utc', '>', now)
    .forUpdate()
    .executeTakeFirst();
  if (!queue) return;
  const probe = await trx
    .selectFrom('deliveries')
    .select('event_id')
    .where(isQueue(key))
    .where('state', '=', 'waiting')
    .where('due_utc', '=', queue.probe_due_utc)
    .where('leased_by', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (probe) return;
  await trx
    .updateTable('delivery_queues')
    .set({ next_due_utc: now, probe_due_utc: now })
    .where(isQueue(key))
    .execute();
};

/**
 * A new subscription has no queue until the dispatchers learn of it. A deleted one gets none.
 * @param due null if nothing waits in it.
 */
export const ensureQueues = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
  due: Date | null,
): Promise<void> => {
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc)
    SELECT company_id, subscription_id, ${due} FROM subscriptions FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(keys)}
    ON DUPLICATE KEY UPDATE subscription_id = delivery_queues.subscription_id`.execute(
    acrossTenants(db, 'each queue names its company'),
  );
};

/**
 * Holds a disabled subscription's waiting deliveries, or drops a deleted one's, also with an attempt in
 * flight, whose result is still recorded.
 * @param until only deliveries of events until then.
 * @returns whether none is left.
 */
export const holdOrDrop = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  state: Extract<DeliveryState, 'held' | 'dropped'>,
  now: Date,
  until: Date | null = null,
): Promise<boolean> => {
  const { numAffectedRows = 0n } = await sql`
    UPDATE deliveries FORCE INDEX (by_state)
    SET state = ${state}, due_utc = NULL, updated_utc = ${now}
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}
      AND state = 'waiting' ${until ? sql`AND created_utc <= ${until}` : sql``}
    LIMIT ${sql.lit(chunk)}`.execute(db);
  const count = Number(numAffectedRows);
  if (state === 'held') await addHeld(db, { company_id, subscription_id }, count, now);
  return count < chunk;
};

const chunk = 1_000;

/** Call it in the transaction that changes the deliveries' rows. */
export const addHeld = async (
  db: Kysely<Tables>,
  { company_id, subscription_id }: QueueKey,
  by: number,
  now: Date,
): Promise<void> => {
  if (by === 0) return;
  await sql`
    UPDATE delivery_queues
    SET held_deliveries = GREATEST(CAST(held_deliveries AS SIGNED) + ${by}, 0),
      count_held_utc = ${new Date(now.getTime() + countHeldAfterMs)}
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}`.execute(db);
};

export const selectChange = (trx: Kysely<Tables>, key: QueueKey) =>
  trx
    .selectFrom('subscription_changes')
    .select(['company_id', 'subscription_id', 'changed_utc', 'hold_utc', 'resets_failures'])
    .where(isQueue(key));

/** Enabled, or given another URL, with failures that are not set to zero yet. Locks the subscription. */
export const isResetPending = async (db: Kysely<Tables>, key: QueueKey): Promise<boolean> => {
  await db.selectFrom('subscriptions').select('subscription_id').where(isQueue(key)).forUpdate().execute();
  const change = await selectChange(db, key).executeTakeFirst();
  return change?.resets_failures === 1;
};
