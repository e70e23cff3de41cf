import {
  acrossTenants,
  after,
  createBatch,
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
import { deliveryTable, onDelivery } from '../store/key-tables.ts';
import type { Tables } from '../tables.ts';
import { noteDue } from './note-due.ts';

/** Ends the leases of deliveries that this process will not attempt. */
export interface GivingBack {
  /** Makes them due at once, through their queues; if that fails, they are due when their leases end. */
  give(deliveries: readonly Held[]): void;
  /** Resolves when all have been returned. */
  settle(): Promise<void>;
}

/** Deliveries of some milliseconds go back in one transaction. */
export const createGivingBack = ({ db, now, onWritten, log, metrics }: GivingBackOptions): GivingBack => {
  const given = metrics
    .counter('dispatcher_given_back_total', 'Deliveries that were taken and returned without an attempt')
    .cell();
  const giveBack = async (deliveries: readonly Held[]): Promise<void> => {
    try {
      await release(db, deliveries, now());
      onWritten(deliveries);
    } catch (error) {
      log.warn({ error }, 'deliveries could not be given back; they are due when their leases end');
    }
  };
  const batch = createBatch<Held>({
    name: 'returned-deliveries',
    metrics,
    when: after(10),
    maxItems: 1_000,
    flush: giveBack,
  });
  return {
    give: (deliveries) => {
      given.value += deliveries.length;
      for (const one of deliveries) batch.add(one);
    },
    settle: batch.drain,
  };
};

export interface GivingBackOptions {
  readonly db: Database<Tables>;
  readonly now: () => Date;
  /** Called with deliveries that have rows now. */
  readonly onWritten: (deliveries: readonly Held[]) => void;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Locks queues before deliveries, as every transaction does. */
const release = (db: Database<Tables>, deliveries: readonly Held[], now: Date): Promise<void> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher returns deliveries of many companies in one batch');
    const queues = new Map<string, QueueKey>(deliveries.map((one) => [queueName(one), one]));
    await noteDue(all, [...queues.values()], now);
    await addRows(all, deliveries, now);
    await sql`
      UPDATE ${deliveryTable(deliveries, { lease_utc: datetime }, ({ leaseMs }) => [sqlTime(leaseMs)])} AS k
      STRAIGHT_JOIN deliveries AS d ON ${onDelivery}
      SET d.due_utc = ${now}
      WHERE d.state = 'waiting' AND d.due_utc = k.lease_utc`.execute(all);
  });
