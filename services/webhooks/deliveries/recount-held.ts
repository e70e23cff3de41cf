import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Schedules a recount for all subscriptions: dropping partitions may have removed held deliveries. */
export const recountHeld = async (db: Kysely<Tables>, now: Date): Promise<void> => {
  await db
    .updateTable('delivery_queues')
    .set({ count_held_utc: now })
    .where('held_deliveries', '>', 0)
    .execute();
};
