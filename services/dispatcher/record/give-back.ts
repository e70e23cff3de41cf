import { admitWaiting } from '@causeway/deliveries';
import {
  acrossTenants,
  after,
  createBatch,
  createBatchWriter,
  type Database,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { companyOf, hasNoRow, type LeasedDelivery, queuesOf } from '../delivery.ts';
import { scheduleQueues } from '../queue-rows.ts';
import { addRows, forShare, isOneOfDue, lockOutbox, withoutRows } from '../store.ts';
import type { Tables } from '../tables.ts';
import type { OpenEvents } from './open-events.ts';

/** Batches the deliveries of some milliseconds in one transaction. */
interface GiveBack {
  add(deliveries: readonly LeasedDelivery[]): void;
  drain(): Promise<void>;
}

export const createGiveBack = (options: GiveBackOptions): GiveBack => {
  const { db, now, waitingQuota: quota, openEvents, onMissed, log, metrics } = options;
  const onFailed = (error: unknown): void =>
    log.warn({ error }, 'giving deliveries back failed; they are due when their leases end');
  const write = createBatchWriter<Tables, LeasedDelivery, void>({
    db,
    companyOf,
    write: async (deliveries, own) => {
      const { missed, dropped } = await endLeases(own, deliveries, { quota, now: now() });
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
    const own = unwritten.filter(({ event_id }) => events.has(event_id));
    const { admitted, refused, dropped } = await admitWaiting(all, own, { quota, now, makesRoom: true });
    const existing = await scheduleQueues(all, queuesOf(deliveries), now);
    await addRows(all, admitted, { queues: existing, now, holder: null });
    await sql`
      UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${now}, leased_by = NULL
      WHERE ${isOneOfDue(deliveries, ({ leaseMs }) => new Date(leaseMs))} AND state = 'waiting'`.execute(all);
    return { missed: await withoutRows(all, refused), dropped };
  });
