import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, createMeasurement, type Metrics, repeat } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';

/**
 * For an alert. Queues of failing subscriptions are late by design, so they are measured separately; paused ones are not
 * measured. Held deliveries have no due time and are measured by their age.
 */
export const watchBacklog = ({ db, now, log, metrics }: BacklogOptions): { stop(): Promise<void> } => {
  const open = createMeasurement<Lateness>(6 * everyMs);
  const failing = createMeasurement<Lateness>(6 * everyMs);
  const held = createMeasurement<Lateness>(3 * heldEveryMs);
  let lookedForHeldMs = 0;
  for (const [kind, { read }] of Object.entries({ open, failing, held })) {
    metrics?.gauge(dispatcherMetrics.dispatcher_oldest_due_seconds, () => read()?.oldestSeconds, { kind });
    metrics?.gauge(dispatcherMetrics.dispatcher_waiting_queues, () => read()?.queues, { kind });
  }
  const look = async (): Promise<number> => {
    const all = acrossTenants(db, 'the backlog is measured across all companies');
    const at = now();
    const measured = await Promise.all([readLateness(all, '<', at), readLateness(all, '>=', at)]);
    open.set(measured[0]);
    failing.set(measured[1]);
    if (at.getTime() - lookedForHeldMs >= heldEveryMs) {
      held.set(await readHeld(all, at));
      lookedForHeldMs = at.getTime();
    }
    return 0;
  };
  return repeat(look, {
    pauseMs: everyMs,
    onError: (error) => log.warn({ error }, 'backlog not measured; retried'),
  });
};

const everyMs = 5_000;
const heldEveryMs = 60_000;

interface Lateness {
  readonly oldestSeconds: number;
  readonly queues: number;
}

/** Only the oldest held delivery of each disabled subscription. */
const readHeld = async (db: ReturnType<typeof acrossTenants<Tables>>, now: Date): Promise<Lateness> => {
  const { rows } = await sql<{ oldest: Date | null; queues: number }>`
    SELECT MIN(created_utc) AS oldest, COUNT(created_utc) AS queues
    FROM (
      SELECT (
        SELECT d.created_utc FROM deliveries AS d FORCE INDEX (by_state)
        WHERE d.company_id = s.company_id AND d.subscription_id = s.subscription_id
          AND d.state = 'held' AND d.due_utc IS NULL
        ORDER BY d.event_id LIMIT 1
      ) AS created_utc
      FROM subscriptions AS s WHERE s.enabled = 0
    ) AS disabled`.execute(db);
  const [row] = rows;
  return {
    oldestSeconds: row?.oldest ? Math.max(0, now.getTime() - row.oldest.getTime()) / 1000 : 0,
    queues: row?.queues ?? 0,
  };
};

const readLateness = async (
  db: ReturnType<typeof acrossTenants<Tables>>,
  compared: '<' | '>=',
  now: Date,
): Promise<Lateness> => {
  // Each turn resets a queue's due time, so its first delivery shows how late it is. Deliveries of a paced queue wait by
  // design, and its due time is when its pace grants the next attempt: it is late if no turn came by then.
  const { rows } = await sql<{ oldest: Date | null; queues: number }>`
    SELECT MIN(due_utc) AS oldest, COUNT(*) AS queues
    FROM (
      SELECT IF(q.next_due_utc > ${now} OR s.pace_limit IS NOT NULL, q.next_due_utc, COALESCE((
        SELECT d.due_utc FROM deliveries AS d FORCE INDEX (by_state)
        WHERE d.company_id = q.company_id AND d.subscription_id = q.subscription_id AND d.state = 'waiting'
        ORDER BY d.due_utc LIMIT 1
      ), q.next_due_utc)) AS due_utc
      FROM delivery_queues AS q
      LEFT JOIN subscriptions AS s ON s.company_id = q.company_id AND s.subscription_id = q.subscription_id
      WHERE q.next_due_utc IS NOT NULL AND s.paused_utc IS NULL AND q.consecutive_failures ${sql.raw(compared)} ${failuresUntilProbing}
    ) AS waiting`.execute(db);
  const row = rows[0] ?? { oldest: null, queues: 0 };
  const lateMs = row.oldest ? now.getTime() - row.oldest.getTime() : 0;
  return { oldestSeconds: Math.max(0, lateMs) / 1000, queues: row.queues };
};

interface BacklogOptions extends Pick<Context, 'db' | 'now' | 'log'> {
  readonly metrics?: Metrics | undefined;
}
