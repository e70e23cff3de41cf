import { setTimeout as sleep } from 'node:timers/promises';
import { leaseMs as contractLeaseMs } from '@causeway/proto';
import {
  type Bus,
  createMissedReport,
  type Database,
  isPassing,
  type Log,
  type Metrics,
  type Tracer,
} from '@causeway/runtime';
import { webhooksMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';
import { startEventConsumer } from './event-consumer.ts';
import { type EventKey, fanOutEvents } from './fan-out-events.ts';
import { ensureStreams } from './streams.ts';
import { startSweeper } from './sweeper.ts';
import { tracedFanOut, withTraces } from './tracing.ts';
import { openWakes } from './wakes.ts';

export interface FanOut {
  /** Takes no more events. Resolves when those taken are fanned out or returned. */
  drain(): Promise<void>;
}

export interface FanOutOptions {
  readonly bus: Bus;
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
  /** Copies of each stream in the NATS cluster. */
  readonly replicas: number;
  readonly now: () => Date;
  /** Length of the lease that a wake gives to a dispatcher. */
  readonly leaseMs?: number;
  /** Events that one transaction takes at most. */
  readonly batchSize?: number;
  /** Transactions at a time. */
  readonly maxBatches?: number;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota?: number;
}

/**
 * Turns committed events into deliveries, as one of any number of replicas. Events arrive by the stream; the sweeper
 * finds those that the stream lost. Waits while the database or NATS is unreachable.
 */
export const startFanOut = async (options: FanOutOptions): Promise<FanOut> => {
  const { bus, db, log, metrics, tracer, replicas, now, batchSize = 500, maxBatches = 2 } = options;
  const { leaseMs = contractLeaseMs, waitingQuota } = options;
  const events = metrics.counter(webhooksMetrics.webhooks_events_fanned_out_total).cell();
  const deliveries = metrics.counter(webhooksMetrics.webhooks_deliveries_made_total).cell();
  const batches = metrics.counter(webhooksMetrics.webhooks_fan_out_batches_total).cell();

  const reportMissed = createMissedReport({
    log,
    metrics,
    metric: webhooksMetrics.webhooks_events_missed_total,
  });

  let ensuring: Promise<void> | undefined;
  const ensure = (): Promise<void> => {
    ensuring ??= ensureStreams(bus, replicas).finally(() => {
      ensuring = undefined;
    });
    return ensuring;
  };
  const ensureSometime = () =>
    void ensure().catch((error: unknown) => log.debug({ error }, 'streams not created'));
  const wakes = openWakes({ bus, db, log, metrics, now, onFailure: ensureSometime });
  bus.onReconnect(ensureSometime);

  /** @returns how many of them it has fanned out. */
  const fanOut = async (keys: readonly EventKey[]): Promise<number> => {
    let done = 0;
    for (let left = keys; left.length > 0; ) {
      const made = await fanOutEvents(db, left, {
        now,
        publishes: wakes.possible(),
        leaseMs,
        waitingQuota,
      });
      wakes.publish(tracer ? withTraces(made.announced, keys) : made.announced, made.dueMs);
      done += made.events;
      events.value += made.events;
      deliveries.value += made.deliveries;
      batches.value++;
      reportMissed(made.missed);
      left = made.left;
    }
    return done;
  };

  /** If a batch fails because of one event, fans out the others without it. */
  const fanOutEach = async (keys: readonly EventKey[]): Promise<number> => {
    try {
      return await fanOut(keys);
    } catch (error) {
      if (isPassing(error)) throw error;
      const [only] = keys;
      if (keys.length > 1) {
        const half = keys.length >> 1;
        return (await fanOutEach(keys.slice(0, half))) + (await fanOutEach(keys.slice(half)));
      }
      log.error({ error, company: only?.company_id, event: only?.event_id }, 'fan-out of an event failed');
      return 0;
    }
  };

  const persist = async (keys: readonly EventKey[], signal: AbortSignal): Promise<boolean> => {
    for (let attempt = 0; ; attempt++) {
      try {
        await fanOutEach(keys);
        return true;
      } catch (error) {
        if (attempt === 0) log.warn({ error, events: keys.length }, 'fan-out waits for the database');
      }
      if (signal.aborted) return false;
      await sleep(Math.min(maxPauseMs, 50 * 2 ** attempt), undefined, { signal }).catch(() => {});
    }
  };

  await ensure().catch((error: unknown) => log.warn({ error }, 'streams not created yet'));
  const work = tracer ? tracedFanOut(tracer, persist) : persist;
  const consumer = startEventConsumer({ bus, log, metrics, ensure, work, batchSize, maxBatches });
  const sweeper = startSweeper({ db, log, metrics, now, work: fanOutEach });
  return {
    drain: async () => {
      await Promise.all([consumer.drain(), sweeper.stop()]);
      await wakes.drain();
    },
  };
};

const maxPauseMs = 2_000;
