import {
  acrossTenants,
  type Database,
  datetime,
  type Log,
  type Metrics,
  sqlTime,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Held } from '../intake/announced.ts';
import { type QueueKey, queueName } from '../job.ts';
import { addRows } from '../store/add-rows.ts';
import { gather } from '../store/gather.ts';
import { deliveryTable, onDelivery } from '../store/key-tables.ts';
import type { Tables } from '../tables.ts';
import { noteDue } from './note-due.ts';

/** Returns deliveries to their rows. */
export interface GivingBack {
  /** They are due at once, through their queues; where that fails, when their leases run out. */
  give(deliveries: readonly Held[]): void;
  /** Resolves when all have been returned. */
  settle(): Promise<void>;
}

/** Whatever comes within some milliseconds goes back in one transaction. */
export const createGivingBack = ({ db, now, onWritten, log, metrics }: GivingBackOptions): GivingBack => {
  const given = metrics
    ?.counter('dispatcher_given_back_total', 'Deliveries that were taken and returned without an attempt')
    .cell();
  const { add, settle } = gather<Held>({
    gatherMs: 10,
    perWrite: 1_000,
    write: async (part) => {
      await release(db, part, now());
      onWritten(part);
    },
    onError: (error) =>
      log.warn({ error }, 'deliveries could not be given back; they are due when their leases run out'),
  });
  return {
    give: (deliveries) => {
      if (given) given.value += deliveries.length;
      add(deliveries);
    },
    settle,
  };
};

export interface GivingBackOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  /** Called with those that are in their rows. */
  readonly onWritten: (deliveries: readonly Held[]) => void;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
}

/** Queues before deliveries, as everyone locks them. */
const release = (db: Database<Tables>, deliveries: readonly Held[], now: Date): Promise<void> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'deliveries of many companies are given back together');
    const queues = new Map<string, QueueKey>(deliveries.map((one) => [queueName(one), one]));
    await noteDue(all, [...queues.values()], now);
    await addRows(all, deliveries, now);
    await sql`
      UPDATE ${deliveryTable(deliveries, { lease_utc: datetime }, ({ leaseMs }) => [sqlTime(leaseMs)])} AS k
      STRAIGHT_JOIN deliveries AS d ON ${onDelivery}
      SET d.due_utc = ${now}
      WHERE d.state = 'waiting' AND d.due_utc = k.lease_utc`.execute(all);
  });
