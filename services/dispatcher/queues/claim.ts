import type { DeliveryKey, DeliveryQueueRow } from '@causeway/deliveries';
import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, type Database, rowList, transaction } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type QueueKey, queueName } from '../delivery.ts';
import { holdOrDrop } from '../queue-rows.ts';
import {
  type FoundTarget,
  isOneOfDeliveries,
  isOneOfQueues,
  isQueue,
  readTargets,
  type WaitingDelivery,
} from '../store.ts';
import type { Tables } from '../tables.ts';
import { type GrantLog, grantOf, type Pace, slackMs, withGrant } from './pace.ts';
import { findProbes, nextTurn } from './probes.ts';

export interface Claim {
  readonly target: FoundTarget;
  readonly deliveries: readonly WaitingDelivery[];
  /** More may be due than were taken. */
  readonly more: boolean;
  /** On the monotonic clock: paced attempts begin before. */
  readonly startBeforeMs: number | undefined;
}

interface ClaimOptions {
  readonly queues: readonly QueueKey[];
  readonly allot: (targets: readonly FoundTarget[]) => readonly number[];
  readonly now: Date;
  /** The same moment or an earlier one, on the monotonic clock. */
  readonly nowMs: number;
  readonly leaseMs: number;
  readonly holderId: number;
}

/**
 * A fixed number of statements for any number of queues. Other replicas skip locked queues, so they never
 * wait for each other. They also skip locked deliveries: a transaction that locks one has locked its queue
 * before, or is about to set the queue's due time. While a subscription fails, its queue is due only after
 * the one attempt taken must have ended: a probe (`probes.ts`). A paused queue is looked at once a minute. How many attempts a pace
 * grants is decided by MySQL's clock, and written here, so it holds for all dispatchers and outlives them.
 */
export const claimDue = (
  db: Database<Tables>,
  options: ClaimOptions,
): Promise<{ readonly claims: readonly Claim[]; readonly leaseMs: number }> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher claims due deliveries of any company');
    const { now } = options;
    const leaseMs = now.getTime() + options.leaseMs;
    const queues = await lockQueues(all, options);
    if (queues.length === 0) return { claims: [], leaseMs };
    const targets = await readTargets(all, queues, now);
    const next: NextDue[] = [];
    const open: FoundTarget[] = [];
    const paused: FoundTarget[] = [];
    for (const queue of queues) {
      const target = targets.get(queueName(queue));
      if (target?.enabled) {
        (target.paused_utc ? paused : open).push(target);
        continue;
      }
      const isDone = await holdOrDrop(all, queue, target ? 'held' : 'dropped', now);
      if (isDone && !target) await deleteQueue(all, queue);
      else next.push({ queue, dueMs: isDone ? null : now.getTime() });
    }
    const counts = options.allot(open);
    const locked = new Map(queues.map((queue) => [queueName(queue), queue]));
    const paces = open.map((target) => paceOf(target, locked.get(queueName(target))!));
    const takes = open.map((target, at) => ({
      target,
      count: Math.min(counts[at]!, paces[at]?.grant.count ?? counts[at]!),
    }));
    const probed = takes.filter(({ target, count }) => count > 0 && isFailing(target));
    const probes = await findProbes(
      all,
      probed.map(({ target }) => locked.get(queueName(target))!),
      now,
    );
    const due = await lockDue(all, takes, probes, now);
    await lease(all, due, { leaseMs, holderId: options.holderId });

    const byQueue = Map.groupBy(due, queueName);
    const claims = takes.map(({ target, count }, at): Claim => {
      const deliveries = byQueue.get(queueName(target)) ?? [];
      const paced = paces[at];
      return {
        target,
        deliveries,
        more: deliveries.length === count && count === counts[at],
        startBeforeMs: paced && options.nowMs + slackMs(paced.pace),
      };
    });
    const emptied: FoundTarget[] = [];
    const granted: PacedQueue[] = [];
    for (const [at, { target, deliveries, more }] of claims.entries()) {
      if (counts[at] === 0) continue;
      const paced = paces[at];
      const after = paced && deliveries.length > 0 ? granting(paced, deliveries.length) : paced;
      if (after && after !== paced) granted.push(after);
      // A failing queue stays guarded by its lease. Other queues that may hold more are due again now, behind
      // those that are already due: a company's queues take turns.
      if (isFailing(target) && deliveries.length > 0)
        next.push({
          ...{ queue: target, dueMs: leaseMs, probeMs: leaseMs },
          turn: nextTurn(locked.get(queueName(target))!),
        });
      else if (after && deliveries.length === takes[at]!.count && !more)
        next.push({ queue: target, dueMs: now.getTime() + waitMs(after) });
      else if (more) next.push({ queue: target, dueMs: now.getTime() });
      else emptied.push(target);
    }
    const earliest = await readEarliest(all, [...emptied, ...paused]);
    for (const target of emptied)
      next.push({ queue: target, dueMs: earliest.get(queueName(target))?.getTime() ?? null });
    for (const target of paused)
      next.push({
        queue: target,
        dueMs: earliest.has(queueName(target)) ? now.getTime() + pausedLookMs : null,
      });
    await setNextDue(all, next);
    await setPaced(all, granted);
    return { claims, leaseMs };
  });

/** Resuming makes the queue due; this is for a change that was not applied. */
const pausedLookMs = 60_000;

interface PacedQueue {
  readonly target: FoundTarget;
  readonly pace: Pace;
  readonly log: GrantLog;
  readonly clockMs: number;
  readonly grant: { readonly count: number };
}

const paceOf = (target: FoundTarget, { paced, clock_ms }: LockedQueue): PacedQueue | undefined => {
  const { pace_limit: limit, pace_seconds: seconds } = target;
  if (limit === null || seconds === null) return undefined;
  const pace = { limit, seconds };
  const log = paced ?? [];
  const clockMs = Number(clock_ms);
  return { target, pace, log, clockMs, grant: grantOf(log, pace, clockMs) };
};

const granting = (queue: PacedQueue, count: number): PacedQueue => ({
  ...queue,
  log: withGrant(queue.log, queue.pace, queue.clockMs, count),
});

/** Until the next attempt may be granted. */
const waitMs = ({ log, pace, clockMs }: PacedQueue): number =>
  Math.max(0, grantOf(log, pace, clockMs).nextMs - clockMs);

interface NextDue {
  readonly queue: QueueKey;
  readonly dueMs: number | null;
  readonly probeMs?: number;
  readonly turn?: number;
}

interface Take {
  readonly target: FoundTarget;
  readonly count: number;
}

const isFailing = ({ consecutive_failures }: FoundTarget): boolean =>
  consecutive_failures >= failuresUntilProbing;

interface LockedQueue extends QueueKey, Pick<DeliveryQueueRow, 'probe_turn' | 'failed_types'> {
  readonly paced: GrantLog | null;
  readonly clock_ms: number | string;
}

const lockQueues = async (
  db: Kysely<Tables>,
  { now, queues }: ClaimOptions,
): Promise<readonly LockedQueue[]> => {
  const { rows } = await sql<LockedQueue>`
    SELECT company_id, subscription_id, probe_turn, failed_types, paced, ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000) AS clock_ms
    FROM delivery_queues FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(queues)} AND next_due_utc <= ${now}
    FOR UPDATE SKIP LOCKED`.execute(db);
  return rows;
};

const lockDue = async (
  db: Kysely<Tables>,
  takes: readonly Take[],
  probes: ReadonlyMap<string, DeliveryKey>,
  now: Date,
): Promise<readonly WaitingDelivery[]> => {
  const columns = sql.raw(
    'company_id, event_id, subscription_id, replay_id, created_utc, event_type, attempts, due_utc',
  );
  const parts = takes
    .filter(({ count }) => count > 0)
    .map(({ target, count }) => {
      const probe = probes.get(queueName(target));
      if (probe)
        return sql`
          (SELECT ${columns} FROM deliveries FORCE INDEX (PRIMARY)
          WHERE ${isOneOfDeliveries([probe])} AND state = 'waiting' AND due_utc <= ${now} FOR UPDATE SKIP LOCKED)`;
      return sql`
        (SELECT ${columns} FROM deliveries FORCE INDEX (by_state)
        WHERE company_id = ${target.company_id} AND subscription_id = ${target.subscription_id}
          AND state = 'waiting' AND due_utc <= ${now}
        ORDER BY due_utc LIMIT ${count} FOR UPDATE SKIP LOCKED)`;
    });
  return parts.length === 0 ? [] : (await unionOf<WaitingDelivery>(parts).execute(db)).rows;
};

const readEarliest = async (
  db: Kysely<Tables>,
  queues: readonly QueueKey[],
): Promise<ReadonlyMap<string, Date>> => {
  if (queues.length === 0) return new Map();
  const parts = queues.map(
    ({ company_id, subscription_id }) => sql`
      (SELECT company_id, subscription_id, due_utc FROM deliveries FORCE INDEX (by_state)
      WHERE company_id = ${company_id} AND subscription_id = ${subscription_id} AND state = 'waiting'
      ORDER BY due_utc LIMIT 1)`,
  );
  const { rows } = await unionOf<QueueKey & { due_utc: Date }>(parts).execute(db);
  return new Map(rows.map((row) => [queueName(row), row.due_utc]));
};

const unionOf = <Row>(parts: readonly RawBuilder<unknown>[]): RawBuilder<Row> =>
  sql`${sql.join(parts, sql` UNION ALL `)}`;

const lease = async (
  db: Kysely<Tables>,
  deliveries: readonly WaitingDelivery[],
  { leaseMs, holderId }: Pick<ClaimOptions, 'leaseMs' | 'holderId'>,
): Promise<void> => {
  if (deliveries.length === 0) return;
  await sql`
    UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${new Date(leaseMs)}, leased_by = ${holderId}
    WHERE ${isOneOfDeliveries(deliveries)}`.execute(db);
};

const setNextDue = async (db: Kysely<Tables>, next: readonly NextDue[]): Promise<void> => {
  if (next.length === 0) return;
  const rows = next.map(({ queue, dueMs, probeMs, turn = null }) => [
    queue.company_id,
    queue.subscription_id,
    dueMs === null ? null : new Date(dueMs),
    probeMs === undefined ? null : new Date(probeMs),
    turn,
  ]);
  // They exist and are locked, so nothing is inserted.
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc, probe_due_utc, probe_turn)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE next_due_utc = VALUES(next_due_utc), probe_due_utc = VALUES(probe_due_utc),
      probe_turn = COALESCE(VALUES(probe_turn), delivery_queues.probe_turn)`.execute(db);
};

const setPaced = async (db: Kysely<Tables>, queues: readonly PacedQueue[]): Promise<void> => {
  if (queues.length === 0) return;
  const rows = queues.map(({ target, log }) => [
    target.company_id,
    target.subscription_id,
    JSON.stringify(log),
  ]);
  // They exist and are locked, so nothing is inserted.
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, paced) VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE paced = VALUES(paced)`.execute(db);
};

const deleteQueue = async (db: Kysely<Tables>, queue: QueueKey): Promise<void> => {
  await db.deleteFrom('delivery_queues').where(isQueue(queue)).execute();
};
