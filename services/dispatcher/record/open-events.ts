import { admitWaiting, noteMissed } from '@causeway/deliveries';
import { outboxLeaseMs } from '@causeway/proto';
import {
  acrossTenants,
  after,
  byShard,
  createBatch,
  type Database,
  type Rows,
  repeat,
  rowList,
  statement,
  transaction,
} from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Context } from '../context.ts';
import { companyOf, hasNoRow, type LeasedDelivery, queuesOf, type TakenEvent } from '../delivery.ts';
import { scheduleQueues } from '../queue-rows.ts';
import { addRows, deleteOutbox, forUpdate, lockOutbox } from '../store.ts';
import type { Tables } from '../tables.ts';

export interface OpenEvents {
  add(event: TakenEvent): void;
  /** An event leaves the outbox with the last of its deliveries. */
  written(deliveries: readonly LeasedDelivery[]): void;
  /** Deliveries without room count as missed when their event leaves the outbox. */
  missed(deliveries: readonly LeasedDelivery[]): void;
  drain(): Promise<void>;
}

/**
 * Removes events from the outbox when all their deliveries have rows. If this process is killed before,
 * another takes the event when its lease ends, and finds nothing left to do. Deliveries without room count as
 * missed in the transaction that takes their event from the outbox, so that each counts once.
 *
 * Deliveries that are unfinished long before the lease ends get waiting rows, under the longer leases of their
 * attempts, so that a process without processor time rarely loses them, and a receiver that hangs does not keep
 * its event in the outbox. This also happens after the end, as long as no other process has taken the event.
 */
export const trackOpenEvents = (options: OpenEventsOptions): OpenEvents => {
  const { db, now, waitingQuota: quota, openEvents: events, holderId, onMissed, log, metrics } = options;
  const finished = createBatch<TakenEvent>({
    name: 'finished-events',
    metrics,
    when: after(50),
    maxItems: 1_000,
    flush: async (batch) => {
      const incomplete = batch.filter(({ missed }) => missed.length > 0);
      const complete = batch.filter(({ missed }) => missed.length === 0);
      try {
        if (complete.length > 0) await byShard(db, complete, companyOf, remove);
        if (incomplete.length > 0)
          for (const missed of await byShard(db, incomplete, companyOf, removeIncomplete)) onMissed(missed);
      } catch (error) {
        log.debug({ error }, 'removing events from the outbox failed; they stay until their leases end');
      }
    },
  });
  const written = (deliveries: readonly LeasedDelivery[]): void => {
    for (const { event, subscription_id } of deliveries)
      if (event?.open.delete(subscription_id) && event.open.size === 0) {
        events.delete(event);
        finished.add(event);
      }
  };
  const missed = (deliveries: readonly LeasedDelivery[]): void => {
    for (const one of deliveries) if (hasNoRow(one)) one.event!.missed.push(one);
    written(deliveries);
  };
  const look = async (): Promise<number> => {
    const nowMs = now().getTime();
    const ending: TakenEvent[] = [];
    let deliveries = 0;
    for (const event of events) {
      if (deliveries >= perTransaction) break;
      if (event.leaseMs > nowMs + rowsBeforeMs) continue;
      ending.push(event);
      deliveries += event.open.size;
    }
    if (ending.length === 0) return 0;
    const counts = await byShard(db, ending, companyOf, writeRows);
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const writeRows = async (ending: readonly TakenEvent[], shard: Database<Tables>): Promise<number> => {
    const ownId = holderId();
    const at = now();
    const { own: heldEvents, admitted } = await write(shard, ending, { quota, now: at, holder: ownId });
    const kept = new Set(heldEvents);
    // Another process has taken those whose leases have ended.
    for (const event of ending) if (event.leaseMs <= at.getTime() && !kept.has(event)) events.delete(event);
    for (const delivery of admitted) delivery.holder = ownId;
    written(admitted);
    return admitted.length;
  };
  const looking = repeat(look, {
    pauseMs: () => (events.size > 0 ? everyMs : restMs),
    onError: (error) => log.debug({ error }, 'writing rows of unfinished deliveries failed; retried'),
  });

  return {
    add: (event) => {
      if (event.open.size === 0) return finished.add(event);
      if (events.size === 0) looking.wake();
      events.add(event);
    },
    written,
    missed,
    drain: async () => {
      await looking.stop();
      await finished.drain();
    },
  };
};

/**
 * Unfinished deliveries get rows so long before the event's lease ends. Renewing that lease instead would make
 * the events of a killed process late.
 */
const rowsBeforeMs = 900;
const everyMs = 100;
/** The first event ends it. */
const restMs = 60_000;
const perTransaction = 1_000;

/**
 * At the quota some deliveries get no row: the leases of their events are extended again and again, and they
 * get their rows with their results. An event whose lease another process has taken is left to that process.
 */
const write = (
  db: Database<Tables>,
  events: readonly TakenEvent[],
  { quota, now, holder }: { readonly quota: number; readonly now: Date; readonly holder: number },
): Promise<{ readonly own: readonly TakenEvent[]; readonly admitted: readonly LeasedDelivery[] }> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(
      trx,
      'a dispatcher defers unfinished deliveries of many companies in one batch',
    );
    const heldEvents = await lockOwn(all, events);
    const open = heldEvents.flatMap((event) => [...event.open.values()]);
    const { admitted, refused } = await admitWaiting(all, open, { quota, now, makesRoom: false });
    if (admitted.length > 0) {
      const lastLeaseMs = Math.max(...admitted.map(({ leaseMs }) => leaseMs));
      const existing = await scheduleQueues(all, queuesOf(admitted), new Date(lastLeaseMs));
      await addRows(all, admitted, { queues: existing, now, holder });
    }
    const extended = [...new Set(refused.flatMap(({ event }) => event ?? []))];
    if (extended.length > 0) {
      const untilMs = now.getTime() + outboxLeaseMs;
      await extend(all, extended, untilMs);
      trx.onCommit(() => {
        for (const event of extended) event.leaseMs = untilMs;
      });
    }
    return { own: heldEvents, admitted };
  });

const lockOwn = async (db: Kysely<Tables>, events: readonly TakenEvent[]): Promise<readonly TakenEvent[]> => {
  const { rows } = await sql<{ event_id: number }>`
    SELECT event_id FROM event_outbox FORCE INDEX (PRIMARY)
    WHERE ${isLeasedAs(events)} FOR UPDATE SKIP LOCKED`.execute(db);
  const ids = new Set(rows.map(({ event_id }) => event_id));
  return events.filter(({ event_id }) => ids.has(event_id));
};

const extend = async (db: Kysely<Tables>, events: readonly TakenEvent[], untilMs: number): Promise<void> => {
  await sql`
    UPDATE event_outbox FORCE INDEX (PRIMARY) SET leased_until = ${new Date(untilMs)}
    WHERE ${isLeasedAs(events)}`.execute(db);
};

const remove = async (events: readonly TakenEvent[], db: Database<Tables>): Promise<void> => {
  const all = acrossTenants(db, 'a dispatcher finishes events of many companies in one batch');
  await all.executeQuery(deleteLeased(all, leasesOf(events)));
};

const deleteLeased = statement<[Rows]>(
  (leases) => sql`
    DELETE /*+ INDEX(event_outbox PRIMARY) */ FROM event_outbox
    WHERE (company_id, event_id, leased_until) IN (${leases})`,
);

/** Deliveries without room count as missed. @returns the deliveries counted. */
const removeIncomplete = (
  events: readonly TakenEvent[],
  db: Database<Tables>,
): Promise<readonly LeasedDelivery[]> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher counts missed events of many companies in one batch');
    const ids = await lockOutbox(all, events, forUpdate);
    const heldEvents = events.filter(({ event_id }) => ids.has(event_id));
    if (heldEvents.length === 0) return [];
    const missed = heldEvents.flatMap((event) => event.missed);
    await noteMissed(all, missed);
    await deleteOutbox(all, heldEvents);
    return missed;
  });

/** With the lease that this process knows. */
const isLeasedAs = (events: readonly TakenEvent[]) =>
  sql`(company_id, event_id, leased_until) IN (${rowList(leasesOf(events))})`;
const leasesOf = (events: readonly TakenEvent[]): Rows =>
  events.map((one) => [one.company_id, one.event_id, new Date(one.leaseMs)]);

interface OpenEventsOptions
  extends Pick<Context, 'db' | 'now' | 'waitingQuota' | 'onMissed' | 'log' | 'metrics'> {
  /** The events of which this process makes deliveries that have no rows yet. */
  readonly openEvents: Set<TakenEvent>;
  readonly holderId: () => number;
}
