import type { AnnouncedEvent, DeliveryKey } from '@causeway/proto';
import {
  acrossTenants,
  bigint,
  type Database,
  datetime,
  jsonTable,
  type Log,
  sqlTime,
} from '@causeway/runtime';
import { sql } from 'kysely';
import { gather } from '../store/gather.ts';
import type { Tables } from '../tables.ts';

/** An event whose first attempts are this process's to make, until the lease of its outbox row ends. */
export interface Announced extends Omit<AnnouncedEvent, 'subscription_ids'> {
  readonly leaseMs: number;
  /** Subscriptions to which its delivery is in no table yet. */
  readonly open: Set<number>;
}

/** A delivery that this process holds, and the lease that it is held under. */
export type Held = DeliveryKey & {
  readonly leaseMs: number;
  /** The event it was announced with: it may have no row yet. Absent: it was taken from its queue. */
  readonly announced?: Announced;
};

/** Empties the outbox: an event goes when all its deliveries are in their table. */
export interface Closing {
  /** These are; also those whose subscriptions are gone, of which nothing will be. */
  written(deliveries: readonly Held[]): void;
  /** Resolves when what could be closed is. */
  settle(): Promise<void>;
}

/**
 * Events that end within some milliseconds go together, apart from what ended them. One that stays though all of it
 * is done, as this process was killed meanwhile, is taken up when its lease ends, and nothing is left to do.
 */
export const createClosing = ({ db, log }: { readonly db: Database<Tables>; readonly log: Log }): Closing => {
  const { add, settle } = gather<Announced>({
    gatherMs: 50,
    perWrite: 1_000,
    write: (events) => remove(db, events),
    onError: (error) => log.debug({ error }, 'events stay in the outbox until their leases end'),
  });
  return {
    written: (deliveries) =>
      add(
        deliveries.flatMap(({ announced, subscription_id }) =>
          announced?.open.delete(subscription_id) && announced.open.size === 0 ? [announced] : [],
        ),
      ),
    settle,
  };
};

const remove = async (db: Database<Tables>, events: readonly Announced[]): Promise<void> => {
  await sql`
    DELETE o FROM ${announcedTable(events)} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id
    WHERE o.leased_until = k.lease_utc`.execute(
    acrossTenants(db, 'events of many companies are done together'),
  );
};

/** Events with their leases, as a table. */
export const announcedTable = (events: readonly Omit<Announced, 'open'>[]) =>
  jsonTable(
    { company_id: bigint, event_id: bigint, created_utc: datetime, lease_utc: datetime },
    events.map((one) => [one.company_id, one.event_id, sqlTime(one.created_utc), sqlTime(one.leaseMs)]),
  );
