import type { DeliveryRow, ReplayRow } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import { sql } from 'kysely';
import { scheduleQueues } from '../queues/schedule-queues.ts';
import type { Tables } from '../tables.ts';

/** An event that a replay delivers again. */
export type ReplayedEvent = Pick<DeliveryRow, 'event_id' | 'created_utc' | 'event_type'>;

/** Writes a replay's deliveries as waiting and due. Existing ones stay as they are. */
export const addReplayed = async (
  trx: Trx<Tables>,
  { company_id, subscription_id, replay_id }: ReplayRow,
  events: readonly ReplayedEvent[],
  now: Date,
): Promise<void> => {
  if (events.length === 0) return;
  const rows = events.map(({ event_id, created_utc, event_type }) => ({
    company_id,
    event_id,
    subscription_id,
    replay_id,
    created_utc,
    event_type,
    state: 'waiting' as const,
    attempts: 0,
    due_utc: now,
    last_status: null,
    last_error: null,
    updated_utc: now,
  }));
  await trx
    .insertInto('deliveries')
    .values(rows)
    .onDuplicateKeyUpdate({ event_id: sql`deliveries.event_id` })
    .execute();
  await scheduleQueues(trx, [{ company_id, subscription_id }], now);
};
