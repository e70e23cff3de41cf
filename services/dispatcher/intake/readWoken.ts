import { failuresUntilProbing, type WokenDelivery } from '@causeway/proto';
import { acrossTenants, type Database, transaction } from '@causeway/runtime';
import { sql } from 'kysely';
import { deliveryName, type Job, type QueueKey, queueName } from '../job.ts';
import { noteDue } from '../queues/noteDue.ts';
import { deliveryTable, onDelivery } from '../store/keyTables.ts';
import { readBodies, readTargets, readWaiting } from '../store/read.ts';
import type { Tables } from '../tables.ts';

/** A delivery that a wake names, and the lease it was written with. */
export type Woken = WokenDelivery & { readonly dueMs: number };

export interface Taken {
  /** To be attempted. */
  readonly jobs: readonly Job[];
  /** Their subscriptions fail or are off: they are for their queues, and those are due. */
  readonly forQueues: readonly Woken[];
  /** Their subscriptions are gone. */
  readonly orphans: readonly Woken[];
}

/**
 * Reads what wakes announced: three queries at once, however many deliveries. Whatever no longer waits under the
 * lease that its wake knew, or has too little of it left, is another's or its queue's.
 * @param lastStartMs how long before the end of a lease an attempt must begin.
 */
export const readWoken = async (
  db: Database<Tables>,
  woken: readonly Woken[],
  { nowMs, lastStartMs }: { readonly nowMs: number; readonly lastStartMs: number },
): Promise<Taken> => {
  const all = acrossTenants(db, 'deliveries of many companies are taken together');
  const queues = new Map<string, QueueKey>(woken.map((one) => [queueName(one), one]));
  const [rows, bodies, targets] = await Promise.all([
    readWaiting(all, woken),
    readBodies(all, woken),
    readTargets(all, [...queues.values()]),
  ]);
  const expected = new Map(woken.map((one) => [deliveryName(one), one]));
  const taken = { jobs: [] as Job[], forQueues: [] as Woken[], orphans: [] as Woken[] };
  for (const { due_utc, attempts, ...delivery } of rows) {
    const { dueMs, traceparent } = expected.get(deliveryName(delivery)) ?? {};
    const body = bodies.get(delivery.event_id);
    if (due_utc.getTime() !== dueMs || dueMs - nowMs < lastStartMs || !body) continue;
    const target = targets.get(queueName(delivery));
    const one = { ...delivery, dueMs };
    if (!target) taken.orphans.push(one);
    else if (!target.enabled || target.consecutive_failures >= failuresUntilProbing)
      taken.forQueues.push(one);
    else
      taken.jobs.push({
        ...delivery,
        attempt: attempts + 1,
        leaseMs: dueMs,
        lane: 'first',
        probe: false,
        target,
        body,
        traceparent,
      });
  }
  return taken;
};

/** What nobody will ever want. Its queue goes when whoever takes it finds nothing left. */
export const drop = (db: Database<Tables>, orphans: readonly Woken[], now: Date): Promise<void> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'deliveries of many companies are dropped together');
    const queues = new Map<string, QueueKey>(orphans.map((one) => [queueName(one), one]));
    await noteDue(all, [...queues.values()], now);
    await sql`
      UPDATE ${deliveryTable(orphans)} AS k STRAIGHT_JOIN deliveries AS d ON ${onDelivery}
      SET d.state = 'dropped', d.due_utc = NULL, d.updated_utc = ${now}
      WHERE d.state = 'waiting'`.execute(all);
  });
