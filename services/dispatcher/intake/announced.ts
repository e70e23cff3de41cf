import type { AnnouncedEvent, DeliveryKey } from '@causeway/proto';
import {
  acrossTenants,
  after,
  bigint,
  createBatch,
  type Database,
  datetime,
  jsonTable,
  type Log,
  type Metrics,
  sqlTime,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** An event whose first attempts this process makes, until the lease of its outbox row ends. */
export interface Announced extends Omit<AnnouncedEvent, 'subscription_ids'> {
  readonly leaseMs: number;
  /** Subscriptions whose delivery of the event has no row yet. */
  readonly open: Set<number>;
}

/** A delivery that this process has leased. */
export type LeasedDelivery = DeliveryKey & {
  readonly leaseMs: number;
  /** The event it was announced with: it may have no row yet. Absent: it was taken from its queue. */
  readonly announced?: Announced;
};

/** Whether its delivery has no row yet, as far as this process knows. */
export const hasNoRow = ({ announced, subscription_id }: LeasedDelivery): boolean =>
  announced?.open.has(subscription_id) ?? false;

/** Empties the outbox: removes an event when all its deliveries have rows. */
export interface OutboxCleanup {
  /** Called with deliveries that have rows, and with those that need none, as their subscriptions are gone. */
  written(deliveries: readonly LeasedDelivery[]): void;
  /** Resolves when every event that could be removed is. */
  settle(): Promise<void>;
}

/**
 * Removes events in batches, apart from the transactions that write their deliveries. If this process is killed
 * before, another one takes the event up when its lease ends, and finds nothing left to do.
 */
export const createOutboxCleanup = ({ db, log, metrics }: OutboxCleanupOptions): OutboxCleanup => {
  const batch = createBatch<Announced>({
    name: 'finished-events',
    metrics,
    when: after(50),
    maxItems: 1_000,
    flush: (events) =>
      remove(db, events).catch((error: unknown) =>
        log.debug({ error }, 'events stay in the outbox until their leases end'),
      ),
  });
  return {
    written: (deliveries) => {
      for (const { announced, subscription_id } of deliveries)
        if (announced?.open.delete(subscription_id) && announced.open.size === 0) batch.add(announced);
    },
    settle: batch.drain,
  };
};

export interface OutboxCleanupOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics: Metrics;
}

const remove = async (db: Database<Tables>, events: readonly Announced[]): Promise<void> => {
  await sql`
    DELETE o FROM ${announcedTable(events)} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id
    WHERE o.leased_until = k.lease_utc`.execute(
    acrossTenants(db, 'a dispatcher finishes events of many companies in one batch'),
  );
};

/** Events with their leases, as a table. */
export const announcedTable = (events: readonly Omit<Announced, 'open'>[]) =>
  jsonTable(
    { company_id: bigint, event_id: bigint, created_utc: datetime, lease_utc: datetime },
    events.map((one) => [one.company_id, one.event_id, sqlTime(one.created_utc), sqlTime(one.leaseMs)]),
  );
