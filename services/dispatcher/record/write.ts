import {
  admitWaiting,
  type DeliveryKey,
  type DeliveryQueueRow,
  type DeliveryRow,
  raiseSubscriptionsVersion,
  takeBackMissed,
  type WaitingEvent,
} from '@causeway/deliveries';
import { auditRow } from '@causeway/proto';
import { acrossTenants, type Database, rowList, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Finished } from '../attempt/attempts.ts';
import { isBeingEnabled } from '../commands/apply-change.ts';
import { deliveryName, hasNoRow, type QueueKey, queueName } from '../job.ts';
import { ensureQueues, holdOrDrop } from '../queues/queues.ts';
import { addRows, isOneOfDeliveries, isOneOfQueues } from '../store.ts';
import { perCount, type Tables } from '../tables.ts';
import { countFailures } from './count-failures.ts';
import { attemptColumns, attemptRow, type Change, changeOf, countedAsMissed, countReplays } from './rows.ts';

export interface WriteOptions {
  readonly now: Date;
  readonly probeIntervalMs: number;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
}

/** The health of a subscription after its results are written. */
export interface Health extends QueueKey {
  readonly failures: number;
  /** The failures before these results. */
  readonly before: number;
  readonly disabledReason: string | null;
}

export interface Written {
  /** The results as recorded. At the quota of waiting deliveries, some that were to be retried have failed instead. */
  readonly recorded: readonly Finished[];
  readonly health: readonly Health[];
  /** Events that made room for retries: they are missed by their subscriptions. */
  readonly missed: readonly WaitingEvent[];
}

/**
 * Writes the results of attempts in one transaction: their rows, the states of their deliveries, and the failure
 * counts and due times of the queues. A second run changes nothing: the row of an attempt exists already, and a
 * delivery whose lease has changed is not counted.
 *
 * Most attempts succeed for a subscription without failures; two statements write any number of these. Everything
 * else is read under its lock first, queues before deliveries, as in every transaction.
 */
export const createWriter = (): ((
  db: Database<Tables>,
  finished: readonly Finished[],
  options: WriteOptions & { readonly hasFailures: (key: QueueKey) => boolean },
) => Promise<Written>) => {
  const insertAttempts = perCount<ReturnType<typeof attemptRow>>(
    (rows) => rows.flatMap((row) => attemptColumns.map((column) => row[column])),
    (db, rows) =>
      db
        .insertInto('delivery_attempts')
        .values([...rows])
        .onDuplicateKeyUpdate({ attempt: sql`delivery_attempts.attempt` })
        .compile(),
  );

  return (db, ended, { hasFailures, ...options }) =>
    transaction(db, async (trx) => {
      const all = acrossTenants(trx, 'a dispatcher records attempts of many companies in one batch');
      await takeBackMissed(all, await countedAsMissed(all, ended, options.now));
      const { finished, missed } = await admitRetries(all, ended, options);
      const counted = finished.filter(
        ({ decision, job }) => decision.outcome !== 'succeeded' || job.probe || hasFailures(job),
      );
      const queues = await lockQueues(all, counted);
      const checked = finished.filter((one) => !isPlain(one));
      await addRows(
        all,
        checked.map(({ job }) => job).filter(({ event }) => event),
        { queues, now: options.now, holder: null },
      );
      const rows = await lockDeliveries(all, checked);
      await insertAttempts(all, finished.map(attemptRow));
      await succeed(all, finished.filter(isPlain), options.now);
      const changes = new Map(checked.map((one) => [one, changeOf(one, rows.get(deliveryName(one.job)))]));
      await change(all, changes, options.now);
      await countReplays(all, changes);
      const health = await updateQueues(all, queues, counted, changes, options);
      return { recorded: finished, health, missed };
    });
};

/**
 * A failed first attempt gets its row now, and waits for its retry. At the quota of waiting deliveries it is not
 * retried: its delivery has failed.
 */
const admitRetries = async (
  db: Kysely<Tables>,
  ended: readonly Finished[],
  { now, waitingQuota: quota }: WriteOptions,
): Promise<{ readonly finished: readonly Finished[]; readonly missed: readonly WaitingEvent[] }> => {
  const retries = ended.filter(({ job, decision }) => decision.outcome === 'retry' && hasNoRow(job));
  if (retries.length === 0) return { finished: ended, missed: [] };
  const jobs = retries.map(({ job }) => job);
  const { refused, dropped } = await admitWaiting(db, jobs, { quota, now, makesRoom: true });
  if (refused.length === 0) return { finished: ended, missed: dropped };
  const failed = new Set(refused);
  const finished = ended.map((one): Finished => {
    const { job, decision } = one;
    if (!failed.has(job) || decision.outcome !== 'retry') return one;
    return { ...one, decision: { ...decision, outcome: 'failed' } };
  });
  return { finished, missed: dropped };
};

/** The common case: it has arrived, and nothing else depends on that. */
const isPlain = ({ decision, job }: Finished): boolean =>
  decision.outcome === 'succeeded' && job.replay_id === 0;

type Queue = Omit<DeliveryQueueRow, 'held_deliveries' | 'count_held_utc'>;

const lockQueues = async (
  db: Kysely<Tables>,
  finished: readonly Finished[],
): Promise<ReadonlyMap<string, Queue>> => {
  const keys = new Map<string, QueueKey>(finished.map(({ job }) => [queueName(job), job]));
  if (keys.size === 0) return new Map();
  const lock = async (): Promise<readonly Queue[]> => {
    const { rows } = await sql<Queue>`
      SELECT company_id, subscription_id, next_due_utc, probe_due_utc, consecutive_failures, failed_attempts
      FROM delivery_queues FORCE INDEX (PRIMARY)
      WHERE ${isOneOfQueues([...keys.values()])} FOR UPDATE`.execute(db);
    return rows;
  };
  let rows = await lock();
  if (rows.length < keys.size) {
    await ensureQueues(db, [...keys.values()], null);
    rows = await lock();
  }
  return new Map(rows.map((row) => [queueName(row), row]));
};

const lockDeliveries = async (
  db: Kysely<Tables>,
  finished: readonly Finished[],
): Promise<ReadonlyMap<string, Pick<DeliveryRow, 'state' | 'due_utc'>>> => {
  if (finished.length === 0) return new Map();
  const { rows } = await sql<DeliveryKey & Pick<DeliveryRow, 'state' | 'due_utc'>>`
    SELECT company_id, event_id, subscription_id, replay_id, state, due_utc
    FROM deliveries FORCE INDEX (PRIMARY)
    WHERE ${isOneOfDeliveries(finished.map(({ job }) => job))} FOR UPDATE`.execute(db);
  return new Map(rows.map((row) => [deliveryName(row), row]));
};

/**
 * A success counts even if another process holds the lease by now, or the subscription was disabled. Most of these
 * deliveries had no row until now.
 */
const succeed = async (db: Kysely<Tables>, finished: readonly Finished[], now: Date): Promise<void> => {
  if (finished.length === 0) return;
  const rows = finished.map(({ job, result: { statusCode } }) => [
    job.company_id,
    job.event_id,
    job.subscription_id,
    job.replay_id,
    job.created_utc,
    job.event_type,
    'succeeded',
    job.attempt,
    statusCode,
    now,
  ]);
  // MySQL assigns in this order. The state comes last, because the conditions use its previous value.
  await sql`
    INSERT INTO deliveries (company_id, event_id, subscription_id, replay_id, created_utc,
      event_type, state, attempts, last_status, updated_utc)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE
      attempts = IF(${isOpen}, GREATEST(attempts, VALUES(attempts)), attempts),
      last_status = IF(${isOpen}, VALUES(last_status), last_status),
      last_error = IF(${isOpen}, NULL, last_error),
      updated_utc = IF(${isOpen}, VALUES(updated_utc), updated_utc),
      due_utc = IF(${isOpen}, NULL, due_utc),
      state = IF(${isOpen}, 'succeeded', state)`.execute(db);
};

const isOpen = sql`state IN ('waiting', 'held')`;

const change = async (
  db: Kysely<Tables>,
  changes: ReadonlyMap<Finished, Change | undefined>,
  now: Date,
): Promise<void> => {
  const rows = [...changes].flatMap(([{ job, result }, to]) =>
    to
      ? [
          [
            job.company_id,
            job.event_id,
            job.subscription_id,
            job.replay_id,
            job.created_utc,
            job.event_type,
            to.state,
            to.dueMs === null ? null : new Date(to.dueMs),
            job.attempt,
            result.statusCode,
            result.errorClass,
            now,
          ],
        ]
      : [],
  );
  if (rows.length === 0) return;
  // They exist and are locked, so nothing is inserted.
  await sql`
    INSERT INTO deliveries (company_id, event_id, subscription_id, replay_id, created_utc,
      event_type, state, due_utc, attempts, last_status, last_error, updated_utc)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE
      state = VALUES(state), due_utc = VALUES(due_utc), leased_by = NULL,
      attempts = GREATEST(attempts, VALUES(attempts)), last_status = VALUES(last_status),
      last_error = VALUES(last_error), updated_utc = VALUES(updated_utc)`.execute(db);
};

const updateQueues = async (
  db: Kysely<Tables>,
  queues: ReadonlyMap<string, Queue>,
  counted: readonly Finished[],
  changes: ReadonlyMap<Finished, Change | undefined>,
  { now, probeIntervalMs }: WriteOptions,
): Promise<readonly Health[]> => {
  const updates = [...Map.groupBy(counted, ({ job }) => queueName(job))].flatMap(([name, finished]) => {
    const queue = queues.get(name);
    if (!queue) return [];
    const results = finished.map((one) => {
      const { job, decision } = one;
      const to = changes.get(one);
      const succeeded = decision.outcome === 'succeeded';
      return {
        succeeded,
        probe: job.probe,
        counts: job.replay_id === 0 && (succeeded || to?.isOurs === true),
        retryMs: to?.dueMs ?? null,
        notBeforeMs: decision.outcome === 'succeeded' ? 0 : decision.notBeforeMs,
      };
    });
    const before = {
      failures: queue.consecutive_failures,
      failedAttempts: queue.failed_attempts,
      nextMs: queue.next_due_utc?.getTime() ?? null,
      probeMs: queue.probe_due_utc?.getTime() ?? null,
    };
    const count = countFailures(before, results, { nowMs: now.getTime(), probeIntervalMs });
    const gone = finished.find(({ decision }) => decision.outcome !== 'succeeded' && decision.gone);
    const reason = gone ? goneReason : count.isDisabling ? failuresReason : null;
    const nextMs = reason ? now.getTime() : count.nextMs;
    return [{ ...queue, ...count, before: before.failures, reason, nextMs, url: gone?.job.target.url }];
  });
  if (updates.length === 0) return [];
  const rows = updates.map((queue) => [
    queue.company_id,
    queue.subscription_id,
    queue.failures,
    queue.failedAttempts,
    queue.nextMs === null ? null : new Date(queue.nextMs),
    queue.probeMs === null ? null : new Date(queue.probeMs),
  ]);
  // They exist and are locked, so nothing is inserted.
  await sql`
    INSERT INTO delivery_queues
      (company_id, subscription_id, consecutive_failures, failed_attempts, next_due_utc, probe_due_utc)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE consecutive_failures = VALUES(consecutive_failures),
      failed_attempts = VALUES(failed_attempts), next_due_utc = VALUES(next_due_utc),
      probe_due_utc = VALUES(probe_due_utc)`.execute(db);
  const disabled: number[] = [];
  for (const { reason, ...queue } of updates)
    if (reason && (await disable(db, queue, reason, now))) disabled.push(queue.company_id);
  await raiseSubscriptionsVersion(db, disabled);
  return updates.map(({ company_id, subscription_id, failures, before, reason }) => ({
    company_id,
    subscription_id,
    failures,
    before,
    disabledReason: reason,
  }));
};

const goneReason = 'the receiver answered 410 Gone';
const failuresReason = '20 consecutive failures';

/**
 * Disables a subscription and holds its waiting deliveries: a first part here, the rest in the dispatcher that claims
 * its queue.
 * @param url the URL that answered 410: the subscription may have another one by now.
 * @returns whether it was enabled until now.
 */
const disable = async (
  db: Kysely<Tables>,
  { url, ...key }: QueueKey & { readonly url: string | undefined },
  reason: string,
  now: Date,
): Promise<boolean> => {
  // Its failures were before it was enabled.
  if (url === undefined && (await isBeingEnabled(db, key))) return false;
  const enabled = db
    .updateTable('subscriptions')
    .set({ enabled: 0, disabled_reason: reason, disabled_utc: now, auto_disabled: 1, updated_utc: now })
    .where('company_id', '=', key.company_id)
    .where('subscription_id', '=', key.subscription_id)
    .where('enabled', '=', 1);
  const { numUpdatedRows } = await (url === undefined
    ? enabled
    : enabled.where('url', '=', url)
  ).executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  await holdOrDrop(db, key, 'held', now);
  await auditDisabled(db, key, reason, now);
  return true;
};

/** The audit log names the system, because no person did it. */
const auditDisabled = async (db: Kysely<Tables>, key: QueueKey, reason: string, at: Date): Promise<void> => {
  const { name, url } = await db
    .selectFrom('subscriptions')
    .select(['name', 'url'])
    .where('company_id', '=', key.company_id)
    .where('subscription_id', '=', key.subscription_id)
    .executeTakeFirstOrThrow();
  const entry = auditRow({
    companyId: key.company_id,
    by: { kind: 'system', id: null, name: 'Causeway', address: null, userAgent: null, requestId: null },
    action: 'subscription.disabled',
    target: { kind: 'subscription', id: key.subscription_id, name: name ?? url },
    before: { enabled: true },
    after: { enabled: false, reason },
    at,
  });
  await db.insertInto('audit_log').values(entry).execute();
};
