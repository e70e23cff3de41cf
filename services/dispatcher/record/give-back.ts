import { setTimeout as sleep } from 'node:timers/promises';
import { admitWaiting, type WaitingEvent } from '@causeway/deliveries';
import {
  acrossTenants,
  after,
  byShard,
  createBatch,
  type Database,
  isPassing,
  type Log,
  type Metrics,
  spansShards,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { OpenEvents } from '../intake/open-events.ts';
import { hasNoRow, type LeasedDelivery, type QueueKey, queueName } from '../job.ts';
import { dispatcherMetrics } from '../metrics.ts';
import { addRows, forShare, isOneOfDue, lockOutbox, withoutRows } from '../store.ts';
import type { Tables } from '../tables.ts';
import { scheduleQueues } from './queues.ts';

/** Ends the leases of deliveries that this process will not attempt. */
export interface LeaseRelease {
  /** Makes them due at once, through their queues; if that fails, they are due when their leases end. */
  release(deliveries: readonly LeasedDelivery[]): void;
  /** Resolves when all leases have been released. */
  settle(): Promise<void>;
}

/** Releases the deliveries of some milliseconds in one transaction. */
export const createLeaseRelease = (options: LeaseReleaseOptions): LeaseRelease => {
  const { db, now, waitingQuota: quota, openEvents, onDropped, log, metrics } = options;
  const returned = metrics.counter(dispatcherMetrics.dispatcher_given_back_total).cell();
  const release = async (deliveries: readonly LeasedDelivery[], own: Database<Tables>): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const { missed, dropped } = await releaseLeases(own, deliveries, { quota, now: now() });
        onDropped(dropped);
        openEvents.missed(missed);
        openEvents.written(deliveries);
        return;
      } catch (error) {
        if (spansShards(error)) throw error;
        if (!isPassing(error) || attempt === maxAttempts) {
          log.warn({ error }, 'deliveries could not be given back; they are due when their leases end');
          return;
        }
        await sleep(retryAfterMs);
      }
    }
  };
  const batch = createBatch<LeasedDelivery>({
    name: 'returned-deliveries',
    metrics,
    when: after(10),
    maxItems: 1_000,
    flush: async (deliveries) => {
      await byShard(db, deliveries, ({ company_id }) => company_id, release);
    },
  });
  return {
    release: (deliveries) => {
      returned.value += deliveries.length;
      for (const one of deliveries) batch.add(one);
    },
    settle: batch.drain,
  };
};

/** For ten seconds: about as long as a database takes to be replaced. */
const maxAttempts = 40;
const retryAfterMs = 250;

export interface LeaseReleaseOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  /** Deliveries of one company that may wait. */
  readonly waitingQuota: number;
  readonly openEvents: Pick<OpenEvents, 'written' | 'missed'>;
  /** Called with events of other deliveries, which made room and count as missed. */
  readonly onDropped: (events: readonly WaitingEvent[]) => void;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Released {
  /** Deliveries without room. They count as missed when their event leaves the outbox. */
  readonly missed: readonly LeasedDelivery[];
  readonly dropped: readonly WaitingEvent[];
}

/**
 * Locks queues before deliveries, as every transaction does. If another dispatcher has taken an event because its lease
 * had ended, the event's deliveries without rows are left to that one.
 */
const releaseLeases = (
  db: Database<Tables>,
  deliveries: readonly LeasedDelivery[],
  { quota, now }: { readonly quota: number; readonly now: Date },
): Promise<Released> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher returns deliveries of many companies in one batch');
    const queues = new Map<string, QueueKey>(deliveries.map((one) => [queueName(one), one]));
    const unwritten = deliveries.filter(hasNoRow);
    const events = await lockOutbox(all, unwritten, forShare);
    const own = unwritten.filter(({ event_id }) => events.has(event_id));
    const { admitted, refused, dropped } = await admitWaiting(all, own, { quota, now, makesRoom: true });
    const existing = await scheduleQueues(all, [...queues.values()], now);
    await addRows(all, admitted, { queues: existing, now, holder: null });
    await sql`
      UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${now}, leased_by = NULL
      WHERE ${isOneOfDue(deliveries, ({ leaseMs }) => new Date(leaseMs))} AND state = 'waiting'`.execute(all);
    return { missed: await withoutRows(all, refused), dropped };
  });
