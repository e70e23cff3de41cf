import { setTimeout as sleep } from 'node:timers/promises';
import {
  acrossTenants,
  admitWaiting,
  after,
  byShard,
  createBatch,
  type Database,
  isPassing,
  type Log,
  type Metrics,
  noteMissed,
  spansShards,
  transaction,
  type WaitingEvent,
} from '@causeway/runtime';
import { sql } from 'kysely';
import { hasNoRow, type LeasedDelivery } from '../intake/taken-events.ts';
import { type QueueKey, queueName } from '../job.ts';
import { dispatcherMetrics } from '../metrics.ts';
import { addRows } from '../store/add-rows.ts';
import { isOneOfDue } from '../store/keys.ts';
import type { Tables } from '../tables.ts';
import { scheduleQueues } from './schedule-queues.ts';

/** Ends the leases of deliveries that this process will not attempt. */
export interface LeaseRelease {
  /** Makes them due at once, through their queues; if that fails, they are due when their leases end. */
  release(deliveries: readonly LeasedDelivery[]): void;
  /** Resolves when all leases have been released. */
  settle(): Promise<void>;
}

/** Releases the deliveries of some milliseconds in one transaction. */
export const createLeaseRelease = (options: LeaseReleaseOptions): LeaseRelease => {
  const { db, now, waitingQuota: quota, onWritten, onMissed, log, metrics } = options;
  const returned = metrics.counter(dispatcherMetrics.dispatcher_given_back_total).cell();
  const release = async (deliveries: readonly LeasedDelivery[], own: Database<Tables>): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        onMissed(await releaseLeases(own, deliveries, { quota, now: now() }));
        onWritten(deliveries);
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
  /** Called with deliveries that have rows now, and with events that are missed because of the quota. */
  readonly onWritten: (deliveries: readonly LeasedDelivery[]) => void;
  readonly onMissed: (events: readonly WaitingEvent[]) => void;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Locks queues before deliveries, as every transaction does. @returns events that have no room and are missed. */
const releaseLeases = (
  db: Database<Tables>,
  deliveries: readonly LeasedDelivery[],
  { quota, now }: { readonly quota: number; readonly now: Date },
): Promise<readonly WaitingEvent[]> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher returns deliveries of many companies in one batch');
    const queues = new Map<string, QueueKey>(deliveries.map((one) => [queueName(one), one]));
    const { admitted, refused, dropped } = await admitWaiting(all, deliveries.filter(hasNoRow), {
      quota,
      now,
      makesRoom: true,
    });
    await noteMissed(all, refused);
    const existing = await scheduleQueues(all, [...queues.values()], now);
    await addRows(all, admitted, { queues: existing, now, holder: null });
    await sql`
      UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${now}, leased_by = NULL
      WHERE ${isOneOfDue(deliveries, ({ leaseMs }) => new Date(leaseMs))} AND state = 'waiting'`.execute(all);
    return [...refused, ...dropped];
  });
