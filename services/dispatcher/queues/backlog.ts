import { failuresUntilProbing, leaseMs } from '@causeway/proto';
import { acrossTenants, createMeasurement, type Metrics, repeat } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';

/**
 * For alerts and the autoscaler. A queue with attempts under way waits for its receiver, and one of a failing subscription is late by
 * design, so they are measured separately; paused ones are not measured. Held deliveries have no due time and are measured by their age.
 */
export const watchBacklog = ({ db, now, log, metrics }: BacklogOptions): { stop(): Promise<void> } => {
  const open = createMeasurement<Lateness>(6 * everyMs);
  const served = createMeasurement<Lateness>(6 * everyMs);
  const late = createMeasurement<LateQueues>(6 * everyMs);
  const failing = createMeasurement<Lateness>(6 * everyMs);
  const held = createMeasurement<Lateness>(3 * heldEveryMs);
  let lookedForHeldMs = 0;
  for (const [kind, { read }] of Object.entries({ open, served, failing, held })) {
    metrics?.gauge(dispatcherMetrics.dispatcher_oldest_due_seconds, () => read()?.oldestSeconds, { kind });
    metrics?.gauge(dispatcherMetrics.dispatcher_waiting_queues, () => read()?.queues, { kind });
  }
  metrics?.gauge(dispatcherMetrics.dispatcher_late_queues, () => late.read()?.queues);
  metrics?.gauge(dispatcherMetrics.dispatcher_late_companies, () => late.read()?.companies);
  const look = async (): Promise<number> => {
    const all = acrossTenants(db, 'the backlog is measured across all companies');
    const at = now();
    const [works, fails] = await Promise.all([readLateness(all, '<', at), readLateness(all, '>=', at)]);
    const isLate = works.open.oldestSeconds > lateSeconds;
    late.set(isLate ? await readLate(all, at) : { queues: 0, companies: 0 });
    open.set(works.open);
    served.set(works.served);
    failing.set(fails.open);
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

const lateSeconds = 60;
const maxLate = 1_000;

interface Lateness {
  readonly oldestSeconds: number;
  readonly queues: number;
}

interface LateQueues {
  readonly queues: number;
  readonly companies: number;
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

type Compared = '<' | '>=';

const readLateness = async (
  db: ReturnType<typeof acrossTenants<Tables>>,
  compared: Compared,
  now: Date,
): Promise<{ readonly open: Lateness; readonly served: Lateness }> => {
  const { rows } = await sql<{ is_served: number; oldest: Date; queues: number }>`
    SELECT is_served, MIN(due_utc) AS oldest, COUNT(*) AS queues
    FROM (${waitingQueues(compared, now)}) AS waiting GROUP BY is_served`.execute(db);
  const of = (isServed: number): Lateness => {
    const row = rows.find(({ is_served }) => is_served === isServed);
    const lateMs = row ? now.getTime() - row.oldest.getTime() : 0;
    return { oldestSeconds: Math.max(0, lateMs) / 1000, queues: row?.queues ?? 0 };
  };
  return { open: of(0), served: of(1) };
};

const readLate = async (db: ReturnType<typeof acrossTenants<Tables>>, now: Date): Promise<LateQueues> => {
  const { rows } = await sql<{ company_id: number }>`
    SELECT company_id FROM (${waitingQueues('<', now)}) AS waiting
    WHERE is_served = 0 AND due_utc < ${new Date(now.getTime() - lateSeconds * 1000)} LIMIT ${sql.lit(maxLate)}`.execute(
    db,
  );
  return { queues: rows.length, companies: new Set(rows.map(({ company_id }) => company_id)).size };
};

/**
 * Each turn resets a queue's due time, so its first delivery shows how late it is. Deliveries of a paced queue wait by design, and its
 * due time is when its pace grants the next attempt: it is late if no turn came by then.
 */
const waitingQueues = (compared: Compared, now: Date) => sql`
  SELECT q.company_id, IF(q.next_due_utc > ${now} OR s.pace_limit IS NOT NULL, q.next_due_utc, COALESCE((
    SELECT d.due_utc FROM deliveries AS d FORCE INDEX (by_state)
    WHERE d.company_id = q.company_id AND d.subscription_id = q.subscription_id AND d.state = 'waiting'
    ORDER BY d.due_utc LIMIT 1
  ), q.next_due_utc)) AS due_utc, ${compared === '<' ? isServed(now) : sql`0`} AS is_served
  FROM delivery_queues AS q
  LEFT JOIN subscriptions AS s ON s.company_id = q.company_id AND s.subscription_id = q.subscription_id
  WHERE q.next_due_utc IS NOT NULL AND s.paused_utc IS NULL AND q.consecutive_failures ${sql.raw(compared)} ${failuresUntilProbing}`;

/** Leases end after their attempts. */
const isServed = (now: Date) => sql`EXISTS (
    SELECT 1 FROM deliveries AS l FORCE INDEX (by_state)
    WHERE l.company_id = q.company_id AND l.subscription_id = q.subscription_id AND l.state = 'waiting'
      AND l.due_utc > ${now} AND l.due_utc <= ${new Date(now.getTime() + leaseMs)} AND l.leased_by IS NOT NULL
  )`;

interface BacklogOptions extends Pick<Context, 'db' | 'now' | 'log'> {
  readonly metrics?: Metrics | undefined;
}
