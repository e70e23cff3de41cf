import {
  byShard,
  createBatch,
  type Database,
  isPassing,
  type Log,
  type Metrics,
  spansShards,
  type WaitingEvent,
} from '@causeway/runtime';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { type EventKey, fanOutEvents } from './fan-out-events.ts';
import { startSweeper } from './sweeper.ts';

/** Writes the deliveries of events as rows, for events that do not fit the normal path. */
export interface FanOut {
  /** Writes the deliveries of an event soon. If that fails, the sweeper takes the event when its lease ends. */
  write(event: EventKey): void;
  /** Resolves when every event that was added is written, and no sweep is under way. */
  stop(): Promise<void>;
}

/** Runs on every dispatcher. */
export const startFanOut = (options: FanOutOptions): FanOut => {
  const { db, log, metrics, now, waitingQuota, onMissed, onWritten } = options;
  const written = metrics.counter(dispatcherMetrics.dispatcher_events_written_total).cell();

  /** @returns how many of them it has fanned out. */
  const fanOut = async (keys: readonly EventKey[], own: Database<Tables>): Promise<number> => {
    let done = 0;
    for (let left = keys; left.length > 0; ) {
      const made = await fanOutEvents(own, left, { now, waitingQuota });
      done += made.events;
      written.value += made.events;
      onMissed(made.missed);
      if (made.deliveries > 0) onWritten();
      left = made.left;
    }
    return done;
  };

  /** If a batch fails because of one event, fans out the others without it. */
  const fanOutEach = async (keys: readonly EventKey[], own: Database<Tables>): Promise<number> => {
    try {
      return await fanOut(keys, own);
    } catch (error) {
      if (isPassing(error) || spansShards(error)) throw error;
      const [only] = keys;
      if (keys.length > 1) {
        const half = keys.length >> 1;
        return (await fanOutEach(keys.slice(0, half), own)) + (await fanOutEach(keys.slice(half), own));
      }
      log.error({ error, company: only?.company_id, event: only?.event_id }, 'fan-out of an event failed');
      return 0;
    }
  };

  const fanOutAll = async (keys: readonly EventKey[]): Promise<number> => {
    const counts = await byShard(db, keys, ({ company_id }) => company_id, fanOutEach);
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const batch = createBatch<EventKey>({
    name: 'events-to-write',
    metrics,
    when: setImmediate,
    maxItems: 500,
    maxWaiting: 10_000,
    flush: async (events) => {
      try {
        await fanOutAll(events);
      } catch (error) {
        log.warn({ error, events: events.length }, 'events not fanned out; taken when their leases end');
      }
    },
  });
  const sweeper = startSweeper({ db, log, metrics, now, work: fanOutAll });

  return {
    write: batch.add,
    stop: async () => {
      await sweeper.stop();
      await batch.drain();
    },
  };
};

export interface FanOutOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
  /** Called with events that are missed because of the quota. */
  readonly onMissed: (events: readonly WaitingEvent[]) => void;
  /** Called when deliveries are due that were just written. */
  readonly onWritten: () => void;
}
