import {
  admitWaiting,
  type DeliveryKey,
  type DeliveryQueueRow,
  type DeliveryRow,
  raiseSubscriptionsVersion,
  takeBackMissed,
  type WaitingEvent,
} from '@causeway/deliveries';
import { failuresUntilProbing } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  later,
  type Rows,
  rowList,
  statement,
  transaction,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type AttemptedDelivery, deliveryName, hasNoRow, queueName, queuesOf } from '../delivery.ts';
import type { Health, HealthChange } from '../health.ts';
import { ensureQueues } from '../queue-rows.ts';
import { addRows, isOneOfDeliveries, isOneOfQueues } from '../store.ts';
import type { Tables } from '../tables.ts';
import { countFailures, type FirstFailure } from './count-failures.ts';
import { disable } from './disable.ts';
import { setFormerApart } from './former-url.ts';
import { openIncidents, recoverIncidents } from './incidents.ts';
import { noteGivenUp } from './notices.ts';
import { type Change, changeOf, countedAsMissed, countReplays, insertAttempts } from './rows.ts';

interface WriteOptions {
  readonly now: Date;
  readonly probeIntervalMs: number;
  readonly waitingQuota: number;
  readonly health: Pick<Health, 'failuresOf'>;
}

interface WrittenChange extends HealthChange {
  readonly disabledReason: string | null;
}

interface WrittenResults {
  readonly recorded: readonly AttemptedDelivery[];
  readonly changes: readonly WrittenChange[];
  readonly missed: readonly WaitingEvent[];
}

/**
 * One transaction. A second run changes nothing: the row of an attempt exists already, and a delivery whose
 * lease has changed is not counted. Most attempts succeed for a subscription without failures; two statements
 * write any number of these. Everything else is read under its lock first, queues before deliveries.
 */
export const writeResults = (
  db: Database<Tables>,
  attempted: readonly AttemptedDelivery[],
  options: WriteOptions,
): Promise<WrittenResults> =>
  transaction(db, async (trx) => {
    const { now, health } = options;
    const all = acrossTenants(trx, 'a dispatcher records attempts of many companies in one batch');
    await takeBackMissed(all, await countedAsMissed(all, attempted, now));
    const { recorded: admitted, missed } = await admitRetries(all, attempted, options);
    const isCounted = (one: AttemptedDelivery): boolean =>
      one.decision.outcome !== 'succeeded' || one.probe || health.failuresOf(one) > 0;
    const queues = await lockQueues(all, admitted.filter(isCounted));
    const { recorded, former } = await setFormerApart(all, admitted, admitted.filter(isCounted), now);
    const counted = recorded.filter(isCounted);
    const checked = recorded.filter((one) => !isPlain(one));
    await addRows(
      all,
      checked.filter(({ event }) => event),
      { queues, now, holder: null },
    );
    const rows = await lockDeliveries(all, checked);
    await insertAttempts(all, recorded);
    await succeed(all, recorded.filter(isPlain), now);
    const changes = new Map(checked.map((one) => [one, changeOf(one, rows.get(deliveryName(one)))]));
    await change(all, changes, now);
    await countReplays(all, changes);
    const changed = await updateQueues(all, { queues, counted, changes, former }, options);
    const givenUp = counted.filter((one) => changes.get(one)?.state === 'failed' && one.replay_id === 0);
    await noteGivenUp(all, givenUp, now);
    return { recorded, missed, changes: changed };
  });

/** A failed first attempt gets a row to wait for its retry. At the quota it has failed for good. */
const admitRetries = async (
  db: Kysely<Tables>,
  attempted: readonly AttemptedDelivery[],
  { now, waitingQuota: quota }: WriteOptions,
): Promise<Pick<WrittenResults, 'recorded' | 'missed'>> => {
  const retries = attempted.filter((one) => one.decision.outcome === 'retry' && hasNoRow(one));
  const { refused, dropped } = await admitWaiting(db, retries, { quota, now, makesRoom: true });
  if (refused.length === 0) return { recorded: attempted, missed: dropped };
  const failed = new Set(refused);
  const recorded = attempted.map((one): AttemptedDelivery => {
    const { decision } = one;
    if (!failed.has(one) || decision.outcome !== 'retry') return one;
    return { ...one, decision: { ...decision, outcome: 'failed' } };
  });
  return { recorded, missed: dropped };
};

const isPlain = ({ decision, replay_id }: AttemptedDelivery): boolean =>
  decision.outcome === 'succeeded' && replay_id === 0;

type QueueRow = Omit<DeliveryQueueRow, 'held_deliveries' | 'count_held_utc' | 'probe_turn' | 'paced'>;

const lockQueues = async (
  db: Kysely<Tables>,
  attempted: readonly AttemptedDelivery[],
): Promise<ReadonlyMap<string, QueueRow>> => {
  const keys = queuesOf(attempted);
  if (keys.length === 0) return new Map();
  const lock = async (): Promise<readonly QueueRow[]> => {
    const { rows } = await sql<QueueRow>`
      SELECT company_id, subscription_id, next_due_utc, probe_due_utc, consecutive_failures, failed_attempts,
        failed_types, failing_since_utc, first_status, first_error
      FROM delivery_queues FORCE INDEX (PRIMARY)
      WHERE ${isOneOfQueues(keys)} FOR UPDATE`.execute(db);
    return rows;
  };
  let rows = await lock();
  if (rows.length < keys.length) {
    await ensureQueues(db, keys, null);
    rows = await lock();
  }
  return new Map(rows.map((row) => [queueName(row), row]));
};

const lockDeliveries = async (
  db: Kysely<Tables>,
  attempted: readonly AttemptedDelivery[],
): Promise<ReadonlyMap<string, Pick<DeliveryRow, 'state' | 'due_utc'>>> => {
  if (attempted.length === 0) return new Map();
  const { rows } = await sql<DeliveryKey & Pick<DeliveryRow, 'state' | 'due_utc'>>`
    SELECT company_id, event_id, subscription_id, replay_id, state, due_utc
    FROM deliveries FORCE INDEX (PRIMARY)
    WHERE ${isOneOfDeliveries(attempted)} FOR UPDATE`.execute(db);
  return new Map(rows.map((row) => [deliveryName(row), row]));
};

const succeed = async (
  db: Kysely<Tables>,
  succeeded: readonly AttemptedDelivery[],
  now: Date,
): Promise<void> => {
  if (succeeded.length === 0) return;
  const rows = succeeded.map((attempt) => [
    attempt.company_id,
    attempt.event_id,
    attempt.subscription_id,
    attempt.replay_id,
    attempt.created_utc,
    attempt.event_type,
    'succeeded',
    attempt.attempt,
    attempt.result.statusCode,
    now,
  ]);
  await later(db, insertSucceeded(db, rows));
};

const isOpen = sql`state IN ('waiting', 'held')`;
/** MySQL assigns in this order. The state comes last, because the conditions use its previous value. */
const insertSucceeded = statement<[Rows]>(
  (rows) => sql`
    INSERT INTO deliveries (company_id, event_id, subscription_id, replay_id, created_utc,
      event_type, state, attempts, last_status, updated_utc)
    VALUES ${rows}
    ON DUPLICATE KEY UPDATE
      attempts = IF(${isOpen}, GREATEST(attempts, VALUES(attempts)), attempts),
      last_status = IF(${isOpen}, VALUES(last_status), last_status),
      last_error = IF(${isOpen}, NULL, last_error),
      updated_utc = IF(${isOpen}, VALUES(updated_utc), updated_utc),
      due_utc = IF(${isOpen}, NULL, due_utc),
      state = IF(${isOpen}, 'succeeded', state)`,
);

const change = async (
  db: Kysely<Tables>,
  changes: ReadonlyMap<AttemptedDelivery, Change | undefined>,
  now: Date,
): Promise<void> => {
  const rows = [...changes].flatMap(([delivery, to]) =>
    to
      ? [
          [
            delivery.company_id,
            delivery.event_id,
            delivery.subscription_id,
            delivery.replay_id,
            delivery.created_utc,
            delivery.event_type,
            to.state,
            to.dueMs === null ? null : new Date(to.dueMs),
            delivery.attempt,
            delivery.result.statusCode,
            delivery.result.errorClass,
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

interface CountedResults {
  readonly queues: ReadonlyMap<string, QueueRow>;
  readonly counted: readonly AttemptedDelivery[];
  readonly changes: ReadonlyMap<AttemptedDelivery, Change | undefined>;
  readonly former: ReadonlySet<AttemptedDelivery>;
}

const updateQueues = async (
  db: Kysely<Tables>,
  { queues, counted, changes, former }: CountedResults,
  { now, probeIntervalMs }: WriteOptions,
): Promise<readonly WrittenChange[]> => {
  const updates = [...Map.groupBy(counted, queueName)].flatMap(([name, attempted]) => {
    const queue = queues.get(name);
    if (!queue) return [];
    const results = attempted.map((attempt) => {
      const { decision } = attempt;
      const to = changes.get(attempt);
      const succeeded = decision.outcome === 'succeeded';
      return {
        ...{ succeeded, type: attempt.event_type, probe: attempt.probe && !former.has(attempt) },
        counts:
          !former.has(attempt) &&
          (attempt.replay_id > 0
            ? succeeded && attempt.probe
            : decision.outcome === 'succeeded' || (to?.isOurs === true && !decision.isUncounted)),
        failure: failureOf(attempt),
        retryMs: to?.dueMs ?? null,
        notBeforeMs: decision.outcome === 'succeeded' ? 0 : decision.notBeforeMs,
      };
    });
    const before = {
      failures: queue.consecutive_failures,
      failedAttempts: queue.failed_attempts,
      nextMs: queue.next_due_utc?.getTime() ?? null,
      probeMs: queue.probe_due_utc?.getTime() ?? null,
      types: queue.failed_types ?? [],
      first: firstOf(queue),
    };
    const count = countFailures(before, results, { nowMs: now.getTime(), probeIntervalMs });
    const gone = attempted.find(({ decision }) => decision.outcome !== 'succeeded' && decision.gone);
    const first = count.first ?? (gone ? failureOf(gone) : null);
    const reason = gone ? goneReason : count.isDisabling ? failuresReason : null;
    const nextMs = reason ? now.getTime() : count.nextMs;
    return [{ ...queue, ...count, first, before: before.failures, reason, nextMs, url: gone?.target.url }];
  });
  if (updates.length === 0) return [];
  const rows = updates.map((queue) => [
    queue.company_id,
    queue.subscription_id,
    queue.failures,
    queue.failedAttempts,
    queue.nextMs === null ? null : new Date(queue.nextMs),
    queue.probeMs === null ? null : new Date(queue.probeMs),
    queue.types.length === 0 ? null : JSON.stringify(queue.types),
    queue.first?.sinceUtc ?? null,
    queue.first?.statusCode ?? null,
    queue.first?.errorClass ?? null,
  ]);
  await sql`
    INSERT INTO delivery_queues
      (company_id, subscription_id, consecutive_failures, failed_attempts, next_due_utc, probe_due_utc, failed_types,
        failing_since_utc, first_status, first_error)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE consecutive_failures = VALUES(consecutive_failures),
      failed_attempts = VALUES(failed_attempts), next_due_utc = VALUES(next_due_utc),
      probe_due_utc = VALUES(probe_due_utc), failed_types = VALUES(failed_types),
      failing_since_utc = VALUES(failing_since_utc), first_status = VALUES(first_status),
      first_error = VALUES(first_error)`.execute(db);
  const disabled = new Set<string>();
  for (const { reason, ...queue } of updates)
    if (reason && (await disable(db, queue, reason, now))) disabled.add(queueName(queue));
  await openIncidents(
    db,
    updates.flatMap(({ company_id, subscription_id, before, failures, first }) => {
      const key = { company_id, subscription_id };
      const breaks = before < failuresUntilProbing && failures >= failuresUntilProbing;
      return first && (breaks || disabled.has(queueName(key))) ? [{ ...key, first }] : [];
    }),
    now,
  );
  await recoverIncidents(
    db,
    updates.filter(
      ({ before, failures }) => before >= failuresUntilProbing && failures < failuresUntilProbing,
    ),
    now,
  );
  await raiseSubscriptionsVersion(
    db,
    updates.filter((queue) => disabled.has(queueName(queue))).map(({ company_id }) => company_id),
  );
  return updates.map(({ company_id, subscription_id, failures, before, reason }) => ({
    company_id,
    subscription_id,
    failures,
    before,
    disabledReason: reason,
  }));
};

const failureOf = ({
  startedMs,
  result: { statusCode, errorClass },
}: AttemptedDelivery): FirstFailure | null =>
  errorClass && { sinceUtc: new Date(startedMs), statusCode, errorClass };

const firstOf = ({ failed_attempts, ...row }: QueueRow): FirstFailure | null =>
  failed_attempts > 0 && row.failing_since_utc && row.first_error
    ? { sinceUtc: row.failing_since_utc, statusCode: row.first_status, errorClass: row.first_error }
    : null;

const goneReason = 'the receiver answered 410 Gone';
const failuresReason = '20 consecutive failures';
