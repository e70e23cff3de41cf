import type { DeliveryKey, DeliveryQueueRow } from '@causeway/deliveries';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type QueueKey, queueName } from '../delivery.ts';
import type { Tables } from '../tables.ts';

type ProbedQueue = QueueKey & Pick<DeliveryQueueRow, 'probe_turn' | 'failed_types'>;

/**
 * The deliveries that failing subscriptions are probed with: in turn the oldest due, the newest event, and one of a type that has not failed
 * since the last success, or else of the type that failed longest ago. A backlog is looked at from both ends only. Reads without locks.
 * @returns by `queueName`; undefined for the oldest
 */
export const findProbes = async (
  db: Kysely<Tables>,
  queues: readonly ProbedQueue[],
  now: Date,
): Promise<ReadonlyMap<string, DeliveryKey>> => {
  const parts = queues.flatMap((queue) => partOf(queue, now));
  if (parts.length === 0) return new Map();
  const { rows } = await sql<DeliveryKey>`${sql.join(parts, sql` UNION ALL `)}`.execute(db);
  return new Map(rows.map((row) => [queueName(row), row]));
};

export const nextTurn = ({ probe_turn }: ProbedQueue): number => ((probe_turn ?? 0) + 1) % 3;

const partOf = (queue: ProbedQueue, now: Date): readonly RawBuilder<unknown>[] => {
  const { probe_turn, failed_types } = queue;
  if (probe_turn === 1)
    return [
      sql`
      (SELECT ${keyColumns} FROM ${dueOf(queue, now, sql`DESC`)} AS newest ORDER BY event_id DESC LIMIT 1)`,
    ];
  if (probe_turn !== 2 || !failed_types || failed_types.length === 0) return [];
  return [
    sql`
    (SELECT ${keyColumns} FROM (
      SELECT * FROM ${dueOf(queue, now, sql`ASC`)} AS oldest
      UNION SELECT * FROM ${dueOf(queue, now, sql`DESC`)} AS newest
    ) AS ends ORDER BY FIELD(event_type, ${sql.join(failed_types)}), due_utc LIMIT 1)`,
  ];
};

const keyColumns = sql.raw('company_id, event_id, subscription_id, replay_id, created_utc');

const dueOf = ({ company_id, subscription_id }: QueueKey, now: Date, order: RawBuilder<unknown>) => sql`
  (SELECT ${keyColumns}, event_type, due_utc FROM deliveries FORCE INDEX (by_state)
  WHERE company_id = ${company_id} AND subscription_id = ${subscription_id} AND state = 'waiting' AND due_utc <= ${now}
  ORDER BY due_utc ${order} LIMIT ${sql.lit(lookedAt)})`;

const lookedAt = 500;
