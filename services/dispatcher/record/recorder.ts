import { type Database, isPassing, type Log, type Metrics, type Tracer, traced } from '@causeway/runtime';
import type { QueueKey } from '../job.ts';
import type { Tables } from '../tables.ts';
import type { Finished } from './finished.ts';
import { createWriter, type Fares } from './write.ts';

/** Keeps the results of attempts until they are in the database. */
export interface Recorder {
  add(finished: Finished): void;
  /** Results that are not recorded yet. */
  pending(): number;
  /** The database does not take them: nothing more may be begun. */
  stalled(): boolean;
  /** Resolves when all are recorded. */
  settle(): Promise<void>;
}

/**
 * What ends while a transaction is at work waits and becomes the next one: an idle dispatcher records each result
 * at once, a busy one many together. A batch that cannot be written for want of a database is kept and tried again
 * until it can; so is one whose commit has no answer, as writing twice changes nothing. One that is refused for
 * what is in it is written result by result, so that no result is lost for another's sake.
 */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { db, now, probeIntervalMs, inStreak, onFares, onRecorded, onRoom, log, metrics, tracer } = options;
  const write = createWriter();
  const flushes = metrics
    ?.counter('dispatcher_record_batches_total', 'Transactions that recorded results')
    .cell();
  const recorded = metrics?.counter('dispatcher_recorded_total', 'Results that were recorded').cell();
  const lost = metrics
    ?.counter('dispatcher_record_refused_total', 'Results that could not be recorded')
    .cell();
  const took = metrics?.timing('dispatcher_record_seconds', 'How long recording a batch took');
  let waiting: Finished[] = [];
  let inFlushes = 0;
  let running = 0;
  let newestMs = 0;
  let patience: NodeJS.Timeout | undefined;
  let failing = false;
  let idle: (() => void) | undefined;

  const start = (): void => {
    while (waiting.length > 0 && mayStart()) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(batch.length);
      running++;
      inFlushes += batch.length;
      newestMs = performance.now();
      void flush(batch).finally(() => {
        running--;
        inFlushes -= batch.length;
        onRoom();
        start();
      });
    }
    if (waiting.length === 0 && running === 0) idle?.();
    if (waiting.length === 0 || running === maxFlushes || patience) return;
    patience = setTimeout(() => {
      patience = undefined;
      start();
    }, patienceMs).unref();
  };
  const mayStart = (): boolean =>
    running === 0 || (!failing && running < maxFlushes && performance.now() - newestMs >= patienceMs);

  const flush = async (batch: readonly Finished[]): Promise<void> => {
    const startedMs = performance.now();
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        const parents = batch.map(({ span }) => span);
        const fares = await traced(tracer, 'record attempts', { kind: 'internal', parents }, () =>
          write(db, batch, { now: now(), probeIntervalMs, inStreak }),
        );
        for (const span of parents) span?.end();
        if (failing) log.info({ results: batch.length }, 'results are recorded again');
        failing = false;
        if (flushes) flushes.value++;
        if (recorded) recorded.value += batch.length;
        took?.observe(performance.now() - startedMs);
        for (const one of fares) onFares(one);
        onRecorded(batch);
        return;
      } catch (error) {
        if (!isPassing(error)) return await split(batch, error);
        if (!failing) log.warn({ error, results: batch.length }, 'results cannot be recorded; they are kept');
        failing = true;
        await new Promise((done) => setTimeout(done, pauseMs));
      }
    }
  };
  const split = async (batch: readonly Finished[], error: unknown): Promise<void> => {
    if (batch.length > 1) {
      for (const one of batch) await flush([one]);
      return;
    }
    if (lost) lost.value++;
    batch[0]!.span?.end();
    const { company_id, event_id, subscription_id, attempt } = batch[0]!.job;
    log.error({ error, company_id, event_id, subscription_id, attempt }, 'a result cannot be recorded');
  };

  return {
    add: (finished) => {
      waiting.push(finished);
      start();
    },
    pending: () => waiting.length + inFlushes,
    stalled: () => failing,
    settle: async () => {
      if (waiting.length + running > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
};

const maxBatch = 256;
const maxFlushes = 2;
/** One transaction at a time makes the largest batches; but one that waits for a lock must not hold up all. */
const patienceMs = 50;
const maxPauseMs = 1_000;

export interface RecorderOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  readonly probeIntervalMs: number;
  /** Whether failures of this subscription were seen, so that a success has something to reset. */
  readonly inStreak: (key: QueueKey) => boolean;
  /** Called with how subscriptions fare after their results. */
  readonly onFares: (fares: Fares) => void;
  /** Called with each batch that is in the database. */
  readonly onRecorded: (recorded: readonly Finished[]) => void;
  /** Called when a batch is over: more results may be had. */
  readonly onRoom: () => void;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
}
