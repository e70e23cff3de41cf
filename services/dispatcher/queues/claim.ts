import { failuresUntilProbing } from '@causeway/proto';
import { acrossTenants, type Database, rowList, transaction } from '@causeway/runtime';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { type QueueKey, queueName } from '../job.ts';
import {
  type FoundTarget,
  isOneOfDeliveries,
  isOneOfQueues,
  readTargets,
  type WaitingDelivery,
} from '../store.ts';
import { perCount, type Tables } from '../tables.ts';
import { holdOrDrop } from './queues.ts';

/** Deliveries taken from a queue, all under one lease. */
export interface Claim {
  readonly target: FoundTarget;
  readonly deliveries: readonly WaitingDelivery[];
  /** More may be due than were taken. */
  readonly more: boolean;
}

export interface Claimed {
  readonly claims: readonly Claim[];
  readonly leaseMs: number;
}

export interface ClaimOptions {
  /** Queues that were due a moment ago. */
  readonly queues: readonly QueueKey[];
  /** How many deliveries to take from each. */
  readonly share: (targets: readonly FoundTarget[]) => readonly number[];
  readonly now: Date;
  /** Lease of the taken deliveries. */
  readonly leaseMs: number;
  /** Who takes them. */
  readonly holder: number;
}

/**
 * Takes due deliveries of due queues in one transaction, with a fixed number of statements for any number of queues.
 *
 * The replica that locks a queue's row takes from it. Other replicas skip locked rows, so they never wait for each
 * other here. They also skip locked deliveries: a transaction that locks one has locked its queue before, or is about
 * to set the queue's due time. A queue is due at the earliest due time of its waiting deliveries, leases included.
 * While its subscription fails, it is due only after the one attempt taken must have ended: a probe.
 */
export const createClaim = (): ((db: Database<Tables>, options: ClaimOptions) => Promise<Claimed>) => {
  const lockDue = perCount<Take, WaitingDelivery, Date>(
    (takes, now) =>
      takes.flatMap(({ target, take }) => [target.company_id, target.subscription_id, now, take]),
    (db, takes, now) =>
      unionOf(
        takes.map((take) => dueOf(take, now)),
        db,
      ),
  );
  const earliest = perCount<QueueKey, QueueKey & { due_utc: Date }>(
    (keys) => keys.flatMap((key) => [key.company_id, key.subscription_id]),
    (db, keys) => unionOf(keys.map(earliestOf), db),
  );

  return (db, options) =>
    transaction(db, async (trx) => {
      const all = acrossTenants(trx, 'a dispatcher claims due deliveries of any company');
      const { now } = options;
      const leaseMs = now.getTime() + options.leaseMs;
      const queues = await lockQueues(all, options);
      if (queues.length === 0) return { claims: [], leaseMs };
      const targets = await readTargets(all, queues);
      const closed: { readonly queue: QueueKey; readonly dueMs: number | null }[] = [];
      for (const queue of queues) {
        const target = targets.get(queueName(queue));
        if (target?.enabled) continue;
        const isDone = await holdOrDrop(all, queue, target ? 'held' : 'dropped', now);
        if (isDone && !target) await deleteQueue(all, queue);
        else closed.push({ queue, dueMs: isDone ? null : now.getTime() });
      }
      const open = queues.flatMap((queue) => {
        const target = targets.get(queueName(queue));
        return target?.enabled ? [target] : [];
      });
      const counts = options.share(open);
      const takes = open.map((target, at) => ({ target, take: counts[at]! }));
      const taking = takes.filter(({ take }) => take > 0);
      const due = taking.length > 0 ? (await lockDue(all, taking, now)).rows : [];
      await lease(all, due, { leaseMs, holder: options.holder });

      const byQueue = Map.groupBy(due, queueName);
      const claims = taking.map(({ target, take }) => {
        const deliveries = byQueue.get(queueName(target)) ?? [];
        return { target, deliveries, more: deliveries.length === take };
      });
      // A failing queue stays guarded by its lease. Other queues that may hold more are due again now, behind those
      // that are already due: a company's queues take turns.
      const guarded = claims.filter(({ target, deliveries }) => isFailing(target) && deliveries.length > 0);
      const read = claims
        .filter((claim) => !guarded.includes(claim) && !claim.more)
        .map(({ target }) => target);
      const next = read.length > 0 ? (await earliest(all, read)).rows : [];
      const nextMs = new Map(next.map((row) => [queueName(row), row.due_utc.getTime()]));
      await setNextDue(all, [
        ...closed,
        ...claims
          .filter((claim) => !guarded.includes(claim) && claim.more)
          .map(({ target }) => ({ queue: target, dueMs: now.getTime() })),
        ...guarded.map(({ target }) => ({ queue: target, dueMs: leaseMs, probeMs: leaseMs })),
        ...read.map((target) => ({ queue: target, dueMs: nextMs.get(queueName(target)) ?? null })),
      ]);
      const full = takes.filter(({ take }) => take === 0);
      return {
        claims: [...claims, ...full.map(({ target }) => ({ target, deliveries: [], more: true }))],
        leaseMs,
      };
    });
};

interface Take {
  readonly target: FoundTarget;
  readonly take: number;
}

const isFailing = ({ consecutive_failures }: FoundTarget): boolean =>
  consecutive_failures >= failuresUntilProbing;

/** Locks the queues that are still due and not locked by another transaction. */
const lockQueues = async (
  db: Kysely<Tables>,
  { now, queues }: ClaimOptions,
): Promise<readonly QueueKey[]> => {
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (PRIMARY)
    WHERE ${isOneOfQueues(queues)} AND next_due_utc <= ${now}
    FOR UPDATE SKIP LOCKED`.execute(db);
  return rows;
};

const dueOf = ({ target, take }: Take, now: Date) => sql`
  (SELECT company_id, event_id, subscription_id, replay_id, created_utc, event_type, attempts, due_utc
  FROM deliveries FORCE INDEX (by_state)
  WHERE company_id = ${target.company_id} AND subscription_id = ${target.subscription_id}
    AND state = 'waiting' AND due_utc <= ${now}
  ORDER BY due_utc LIMIT ${take} FOR UPDATE SKIP LOCKED)`;

const earliestOf = ({ company_id, subscription_id }: QueueKey) => sql`
  (SELECT company_id, subscription_id, due_utc FROM deliveries FORCE INDEX (by_state)
  WHERE company_id = ${company_id} AND subscription_id = ${subscription_id} AND state = 'waiting'
  ORDER BY due_utc LIMIT 1)`;

const unionOf = (parts: readonly ReturnType<typeof dueOf>[], db: Kysely<Tables>): CompiledQuery<unknown> =>
  sql`${sql.join(parts, sql` UNION ALL `)}`.compile(db);

const lease = async (
  db: Kysely<Tables>,
  deliveries: readonly WaitingDelivery[],
  { leaseMs, holder }: Pick<ClaimOptions, 'leaseMs' | 'holder'>,
): Promise<void> => {
  if (deliveries.length === 0) return;
  await sql`
    UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${new Date(leaseMs)}, leased_by = ${holder}
    WHERE ${isOneOfDeliveries(deliveries)}`.execute(db);
};

const setNextDue = async (
  db: Kysely<Tables>,
  next: readonly {
    readonly queue: QueueKey;
    readonly dueMs: number | null;
    readonly probeMs?: number;
  }[],
): Promise<void> => {
  if (next.length === 0) return;
  const rows = next.map(({ queue, dueMs, probeMs }) => [
    queue.company_id,
    queue.subscription_id,
    dueMs === null ? null : new Date(dueMs),
    probeMs === undefined ? null : new Date(probeMs),
  ]);
  // They exist and are locked, so nothing is inserted.
  await sql`
    INSERT INTO delivery_queues (company_id, subscription_id, next_due_utc, probe_due_utc)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE next_due_utc = VALUES(next_due_utc), probe_due_utc = VALUES(probe_due_utc)`.execute(
    db,
  );
};

const deleteQueue = async (db: Kysely<Tables>, { company_id, subscription_id }: QueueKey): Promise<void> => {
  await db
    .deleteFrom('delivery_queues')
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .execute();
};
