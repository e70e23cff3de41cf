import type { WaitingEvent } from '@causeway/deliveries';
import {
  type Batch,
  byShard,
  createBatch,
  type Database,
  isPassing,
  type Log,
  type Metrics,
  type Tracer,
  traced,
} from '@causeway/runtime';
import type { Finished } from '../attempt/attempts.ts';
import type { QueueKey } from '../job.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { createWriter, type Health } from './write.ts';

/** Keeps the results of attempts until they are in the database. */
export interface Recorder {
  add(finished: Finished): void;
  /** Results that are not recorded yet. */
  pending(): number;
  /** The database takes no results: no attempt may begin. */
  stalled(): boolean;
  /** Resolves when all are recorded. */
  settle(): Promise<void>;
}

/**
 * Results that arrive during a transaction become the next one: an idle dispatcher records each result at once, a
 * busy one many together. While the database is away a batch is retried until it is written; so is one whose commit
 * had no answer, as writing twice changes nothing. A batch that the database refuses is written result by result, so
 * that no result is lost because of another one.
 */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { db, now, probeIntervalMs, waitingQuota, hasFailures } = options;
  const { onHealth, onMissed, onRecorded, onRoom, log, metrics, tracer } = options;
  const write = createWriter();
  const lost = metrics.counter(dispatcherMetrics.dispatcher_record_refused_total).cell();
  const took = metrics.timing(dispatcherMetrics.dispatcher_record_seconds);
  let failing = false;

  const record = async (results: readonly Finished[], own: Database<Tables>): Promise<void> => {
    const startedMs = performance.now();
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        const parents = results.map(({ span }) => span);
        const { recorded, health, missed } = await traced(
          tracer,
          'record attempts',
          { kind: 'internal', parents },
          () => write(own, results, { now: now(), probeIntervalMs, waitingQuota, hasFailures }),
        );
        for (const span of parents) span?.end();
        if (failing) log.info({ results: results.length }, 'results are recorded again');
        failing = false;
        took.observe(performance.now() - startedMs);
        onHealth(health);
        onMissed(missed);
        onRecorded(recorded);
        return;
      } catch (error) {
        if (!isPassing(error)) return await split(results, own, error);
        if (!failing)
          log.warn({ error, results: results.length }, 'results cannot be recorded; they are kept');
        failing = true;
        await new Promise((done) => setTimeout(done, pauseMs));
      }
    }
  };
  const split = async (
    results: readonly Finished[],
    own: Database<Tables>,
    error: unknown,
  ): Promise<void> => {
    if (results.length > 1) {
      for (const one of results) await record([one], own);
      return;
    }
    lost.value++;
    results[0]!.span?.end();
    const { company_id, event_id, subscription_id, attempt } = results[0]!.job;
    log.error({ error, company_id, event_id, subscription_id, attempt }, 'a result cannot be recorded');
  };
  const batch: Batch<Finished> = createBatch<Finished>({
    name: 'attempt-results',
    metrics,
    when: queueMicrotask,
    maxItems: maxBatch,
    maxFlushes: 2,
    overlapAfterMs,
    // While the database is away, one batch at a time finds out when it is back.
    allowed: () => (failing && batch.underWay() > 0 ? 0 : maxBatch),
    flush: async (results) => {
      await byShard(db, results, ({ job }) => job.company_id, record);
    },
    onFlushed: onRoom,
  });

  return {
    add: batch.add,
    pending: () => batch.waiting() + batch.underWay(),
    stalled: () => failing,
    settle: batch.drain,
  };
};

const maxBatch = 256;
/** One transaction at a time makes the largest batches; but one that waits for a lock must not delay the others. */
const overlapAfterMs = 50;
const maxPauseMs = 250;

export interface RecorderOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  readonly probeIntervalMs: number;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
  /** Whether failures of this subscription were seen, which a success resets. */
  readonly hasFailures: (key: QueueKey) => boolean;
  /** Called with the health of subscriptions after their results. */
  readonly onHealth: (health: readonly Health[]) => void;
  /** Called with events that made room for retries and are missed. */
  readonly onMissed: (events: readonly WaitingEvent[]) => void;
  /** Called with each recorded batch. */
  readonly onRecorded: (recorded: readonly Finished[]) => void;
  /** Called when a batch has ended: there is room for more results. */
  readonly onRoom: () => void;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
}
