import { type Batch, createBatch, createBatchWriter, type Database } from '@causeway/runtime';
import type { Context } from '../context.ts';
import { type AttemptedDelivery, companyOf, type LeasedDelivery, type TakenEvent } from '../delivery.ts';
import type { Health, SharedHealth } from '../health.ts';
import { dispatcherMetrics } from '../metrics.ts';
import { createSignal } from '../signal.ts';
import type { Tables } from '../tables.ts';
import { createGiveBack } from './give-back.ts';
import { createMinutes } from './minutes.ts';
import { trackOpenEvents } from './open-events.ts';
import { writeResults } from './write.ts';

export interface Recorder {
  /** The event leaves the outbox when all its deliveries have rows. */
  take(event: TakenEvent): void;
  attempted(delivery: AttemptedDelivery): void;
  giveBack(deliveries: readonly LeasedDelivery[]): void;
  /** The events of which this process makes deliveries that have no rows yet. */
  openEvents(): ReadonlySet<number>;
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

  const record = async (results: readonly AttemptedDelivery[], own: Database<Tables>): Promise<void> => {
    const { recorded, changes, missed } = await writeResults(own, results, {
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
      log.error({ error, ...idsOf(delivery) }, 'a result was refused by the database; it is lost');
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
    openEvents: openEvents.ids,
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
  readonly holderId: () => number;
  readonly probeIntervalMs: number;
  /** No more results than this may pile up behind a slow database. */
  readonly maxUnrecorded: number;
}

const idsOf = ({ company_id, event_id, subscription_id, attempt }: AttemptedDelivery) => ({
  companyId: company_id,
  eventId: event_id,
  subscriptionId: subscription_id,
  attempt,
});
