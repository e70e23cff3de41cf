import { acrossTenants, datetime, nextDueSql, sqlTime } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { byQueue, type QueueKey } from '../job.ts';
import { onQueue, queueTable } from '../store/key-tables.ts';
import type { Tables } from '../tables.ts';
import { ensureQueues } from './ensure-queues.ts';

/** Moves the due time of these queues to `due` at the latest, and makes those that are missing (`ensureQueues`). */
export const scheduleQueues = async (
  db: Kysely<Tables>,
  keys: readonly QueueKey[],
  due: Date,
): Promise<void> => {
  if (keys.length === 0) return;
  const rows = keys.toSorted(byQueue);
  const { numAffectedRows = 0n } = await sql`
    UPDATE ${queueTable(rows, { due_utc: datetime }, () => [sqlTime(due)])} AS k
    STRAIGHT_JOIN delivery_queues AS q ON ${onQueue}
    SET q.next_due_utc = ${sql.raw(nextDueSql('q', 'k'))}`.execute(
    acrossTenants(db, 'each queue names its company'),
  );
  if (Number(numAffectedRows) < keys.length) await ensureQueues(db, keys, due);
};
