import { admitWaiting, type ElapsedColumn } from '@causeway/deliveries';
import { elapsedBoundsMs } from '@causeway/proto';
import {
  acrossTenants,
  after,
  type Batch,
  byShard,
  createBatch,
  createBatchWriter,
  createTally,
  type Database,
  rowList,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import {
  type AttemptedDelivery,
  companyOf,
  hasNoRow,
  idsOf,
  type LeasedDelivery,
  type QueueKey,
  queueName,
  queuesOf,
  type TakenEvent,
} from '../delivery.ts';
import type { Health, SharedHealth } from '../health.ts';
import { dispatcherMetrics } from '../metrics.ts';
import { scheduleQueues } from '../queue-rows.ts';
import { createSignal } from '../signal.ts';
import { addRows, forShare, isOneOfDue, lockOutbox, withoutRows } from '../store.ts';
import type { Tables } from '../tables.ts';
import { type OpenEvents, trackOpenEvents } from './open-events.ts';
import { writeResults } from './write.ts';

export interface Recorder {
  /** The event leaves the outbox when all its deliveries have rows. */
  take(event: TakenEvent): void;
  attempted(delivery: AttemptedDelivery): void;
  giveBack(deliveries: readonly LeasedDelivery[]): void;
  /** False while results cannot be written, or too many are not written yet: no attempt may begin. */
  isReady(): boolean;
  readonly onRoom: (listener: () => void) => void;
  drain(): Promise<void>;
}

/**
 * Results that arrive during a transaction become the next one. A batch is retried until it is written, also
 * if its commit had no answer, because writing a result twice changes nothing.
 */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { db, now, waitingQuota, probeIntervalMs, maxUnrecorded, health, onMissed, log, metrics } = options;
  const refused = metrics.counter(dispatcherMetrics.dispatcher_record_refused_total).cell();
  const openEvents = trackOpenEvents(options);
  const giveBack = createGiveBack({ ...options, openEvents });
  const minutes = createMinutes(options);
  const room = createSignal();
  let failing = false;

  const record = async (results: readonly AttemptedDelivery[], shard: Database<Tables>): Promise<void> => {
    const { recorded, changes, missed } = await writeResults(shard, results, {
      now: now(),
      probeIntervalMs,
      waitingQuota,
      health,
    });
    if (failing) log.info({ results: results.length }, 'results are recorded again');
    failing = false;
    options.sharedHealth.changed(changes);
    for (const { company_id: companyId, subscription_id: subscriptionId, disabledReason } of changes)
      if (disabledReason) log.warn({ companyId, subscriptionId, disabledReason }, 'subscription disabled');
    onMissed(missed);
    openEvents.written(recorded);
  };
  const write = createBatchWriter({
    db,
    companyOf,
    write: record,
    pauseMs: (failures, error, { length }) => {
      if (!failing) log.warn({ error, results: length }, 'results cannot be recorded; they are kept');
      failing = true;
      return Math.min(leastPauseMs * 2 ** (failures - 1), maxPauseMs);
    },
    onRefused: (delivery, error) => {
      refused.value++;
      const { attempt } = delivery;
      log.error({ error, ...idsOf(delivery), attempt }, 'a result was refused by the database; it is lost');
    },
  });
  const results: Batch<AttemptedDelivery> = createBatch<AttemptedDelivery>({
    name: 'attempt-results',
    metrics,
    when: queueMicrotask,
    maxItems: maxBatch,
    maxFlushes: 2,
    overlapAfterMs,
    // While the database is away, one batch at a time finds out when it is back.
    allowed: () => (failing && results.underWay() > 0 ? 0 : maxBatch),
    flush: async (batch) => void (await write(batch)),
    onFlushed: room.send,
  });
  const unrecorded = (): number => results.waiting() + results.underWay();
  metrics.gauge(dispatcherMetrics.dispatcher_unrecorded, unrecorded);

  return {
    take: openEvents.add,
    attempted: (delivery) => {
      results.add(delivery);
      minutes.add(delivery);
    },
    giveBack: giveBack.add,
    isReady: () => !failing && unrecorded() < maxUnrecorded,
    onRoom: room.on,
    drain: async () => {
      await Promise.all([results.drain(), giveBack.drain(), minutes.drain()]);
      await openEvents.drain();
    },
  };
};

const maxBatch = 256;
/** One transaction at a time makes the largest batches; but one that waits for a lock must not delay the others. */
const overlapAfterMs = 50;
const leastPauseMs = 50;
const maxPauseMs = 250;

export interface RecorderOptions
  extends Pick<Context, 'bus' | 'db' | 'now' | 'waitingQuota' | 'onMissed' | 'log' | 'metrics'> {
  readonly health: Health;
  readonly sharedHealth: Pick<SharedHealth, 'changed'>;
  /** The events of which this process makes deliveries that have no rows yet. */
  readonly openEvents: Set<TakenEvent>;
  readonly holderId: () => number;
  readonly probeIntervalMs: number;
  /** No more results than this may pile up behind a slow database. */
  readonly maxUnrecorded: number;
}

/** Batches the deliveries of some milliseconds in one transaction. */
interface GiveBack {
  add(deliveries: readonly LeasedDelivery[]): void;
  drain(): Promise<void>;
}

const createGiveBack = (options: GiveBackOptions): GiveBack => {
  const { db, now, waitingQuota: quota, openEvents, onMissed, log, metrics } = options;
  const onFailed = (error: unknown): void =>
    log.warn({ error }, 'giving deliveries back failed; they are due when their leases end');
  const write = createBatchWriter<Tables, LeasedDelivery, void>({
    db,
    companyOf,
    write: async (deliveries, shard) => {
      const { missed, dropped } = await endLeases(shard, deliveries, { quota, now: now() });
      onMissed(dropped);
      openEvents.missed(missed);
      openEvents.written(deliveries);
    },
    pauseMs: (failures) => (failures < maxTries ? retryAfterMs : undefined),
    onRefused: (_, error) => onFailed(error),
  });
  const batch = createBatch<LeasedDelivery>({
    name: 'returned-deliveries',
    metrics,
    when: after(10),
    maxItems: 1_000,
    flush: async (deliveries) => void (await write(deliveries).catch(onFailed)),
  });
  return {
    add: (deliveries) => {
      for (const one of deliveries) batch.add(one);
    },
    drain: batch.drain,
  };
};

/** Ten seconds: about as long as a database takes to be replaced. */
const maxTries = 40;
const retryAfterMs = 250;

interface GiveBackOptions
  extends Pick<Context, 'db' | 'now' | 'waitingQuota' | 'onMissed' | 'log' | 'metrics'> {
  readonly openEvents: Pick<OpenEvents, 'written' | 'missed'>;
}

/**
 * Deliveries without rows of an event that another dispatcher has taken are left to it.
 * @returns the deliveries without room, which count as missed when their event leaves the outbox, and events
 * of others that made room.
 */
const endLeases = (
  db: Database<Tables>,
  deliveries: readonly LeasedDelivery[],
  { quota, now }: { readonly quota: number; readonly now: Date },
) =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher returns deliveries of many companies in one batch');
    const unwritten = deliveries.filter(hasNoRow);
    const events = await lockOutbox(all, unwritten, forShare);
    const ofEvents = unwritten.filter(({ event_id }) => events.has(event_id));
    const { admitted, refused, dropped } = await admitWaiting(all, ofEvents, { quota, now, makesRoom: true });
    const existing = await scheduleQueues(all, queuesOf(deliveries), now);
    await addRows(all, admitted, { queues: existing, now, holder: null });
    await sql`
      UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${now}, leased_by = NULL
      WHERE ${isOneOfDue(deliveries, ({ leaseMs }) => new Date(leaseMs))} AND state = 'waiting'`.execute(all);
    return { missed: await withoutRows(all, refused), dropped };
  });

interface Minutes {
  add(delivery: AttemptedDelivery): void;
  drain(): Promise<void>;
}

/** A killed process loses unwritten counts, but no attempt. */
const createMinutes = ({ db, log, metrics }: MinutesOptions): Minutes => {
  const writeAll = async (sums: readonly Sum[]): Promise<void> => {
    try {
      await write(db, sums);
    } catch (error) {
      log.warn({ error, rows: sums.length }, 'writing counts of attempts per minute failed; they are lost');
    }
  };
  const tally = createTally<string, Sum>({
    name: 'attempts-per-minute',
    metrics,
    everyMs: 5_000,
    flush: writeAll,
  });

  return {
    add: ({ company_id, subscription_id, startedMs, result, decision }) => {
      const minuteMs = startedMs - (startedMs % 60_000);
      const key = { company_id, subscription_id };
      const sum = tally.of(`${queueName(key)}.${minuteMs}`, () => ({
        ...key,
        minuteMs,
        counts: columns.map(() => 0),
      }));
      sum.counts[decision.outcome === 'succeeded' ? 0 : 1]!++;
      sum.counts[2 + bucketOf(result.elapsedMs)]!++;
    },
    drain: tally.drain,
  };
};

interface Sum extends QueueKey {
  readonly minuteMs: number;
  /** In the order of `columns`. */
  readonly counts: number[];
}

const columns: readonly ('succeeded' | 'failed' | ElapsedColumn)[] = [
  'succeeded',
  'failed',
  ...elapsedBoundsMs.map((bound) => `upto_${bound}` as const),
  'above',
];

const bucketOf = (elapsedMs: number): number => {
  const at = elapsedBoundsMs.findIndex((bound) => elapsedMs <= bound);
  return at === -1 ? elapsedBoundsMs.length : at;
};

const names = sql.join(columns.map((column) => sql.ref(column)));
const sumsOf = sql.join(
  columns.map(
    (column) => sql`${sql.ref(column)} = delivery_minutes.${sql.ref(column)} + VALUES(${sql.ref(column)})`,
  ),
);

const write = async (db: Database<Tables>, sums: readonly Sum[]): Promise<void> => {
  const rows = sums.toSorted(
    (a, b) => a.company_id - b.company_id || a.minuteMs - b.minuteMs || a.subscription_id - b.subscription_id,
  );
  for (let at = 0; at < rows.length; at += perStatement)
    await byShard(db, rows.slice(at, at + perStatement), companyOf, add);
};

const add = async (rows: readonly Sum[], db: Database<Tables>): Promise<void> => {
  await sql`
      INSERT INTO delivery_minutes (company_id, subscription_id, minute_utc, ${names})
    VALUES ${rowList(rows.map((sum) => [sum.company_id, sum.subscription_id, new Date(sum.minuteMs), ...sum.counts]))}
    ON DUPLICATE KEY UPDATE ${sumsOf}`.execute(
    acrossTenants(db, 'a dispatcher sums attempts of many companies in one batch'),
  );
};

const perStatement = 500;

type MinutesOptions = Pick<Context, 'db' | 'log' | 'metrics'>;
