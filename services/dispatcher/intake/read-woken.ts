import { encodeEnvelope, failuresUntilProbing, type StoredEvent } from '@causeway/proto';
import { acrossTenants, type Database } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type Job, type QueueKey, queueName } from '../job.ts';
import { readTargets } from '../store/read.ts';
import type { Tables } from '../tables.ts';
import { type Announced, announcedTable, type Held } from './announced.ts';

/** A delivery that a wake names. */
export type Woken = Held & { readonly announced: Announced };

export interface Taken {
  /** To be attempted. */
  readonly jobs: readonly Job[];
  /** Their subscriptions fail or are off: they are for their queues. */
  readonly forQueues: readonly Woken[];
  /** Their subscriptions are gone: nobody will ever want them. */
  readonly orphans: readonly Woken[];
}

/**
 * Reads what wakes announced: two queries at once, however many deliveries. An event whose outbox row is not under
 * the lease that its wake knew, or has too little of it left, is another's or the sweeper's.
 * @param lastStartMs how long before the end of a lease an attempt must begin.
 */
export const readWoken = async (
  db: Database<Tables>,
  woken: readonly Woken[],
  { nowMs, lastStartMs }: { readonly nowMs: number; readonly lastStartMs: number },
): Promise<Taken> => {
  const all = acrossTenants(db, 'deliveries of many companies are taken together');
  const queues = new Map<string, QueueKey>(woken.map((one) => [queueName(one), one]));
  const [events, targets] = await Promise.all([
    readEvents(all, [...new Set(woken.map(({ announced }) => announced))]),
    readTargets(all, [...queues.values()]),
  ]);
  const bodies = new Map(events.map((event) => [event.event_id, encodeEnvelope(event)]));
  const types = new Map(events.map(({ event_id, type }) => [event_id, type]));
  const taken = { jobs: [] as Job[], forQueues: [] as Woken[], orphans: [] as Woken[] };
  for (const one of woken) {
    const body = bodies.get(one.event_id);
    if (one.leaseMs - nowMs < lastStartMs || !body) continue;
    const target = targets.get(queueName(one));
    if (!target) taken.orphans.push(one);
    else if (!target.enabled || target.consecutive_failures >= failuresUntilProbing)
      taken.forQueues.push(one);
    else {
      const event_type = types.get(one.event_id)!;
      taken.jobs.push({ ...one, event_type, attempt: 1, lane: 'first', probe: false, target, body });
    }
  }
  return taken;
};

/** Those of the events that are still under their lease. */
const readEvents = async (
  db: Kysely<Tables>,
  events: readonly Announced[],
): Promise<readonly StoredEvent[]> => {
  const days = events.map(({ created_utc }) => created_utc.getTime());
  // As for `readBodies`: the bounds say which partitions are looked into.
  const { rows } = await sql<StoredEvent>`
    SELECT e.event_id, e.company_id, e.type, e.created_utc, e.payload
    FROM ${announcedTable(events)} AS k
    STRAIGHT_JOIN event_outbox AS o FORCE INDEX (PRIMARY)
      ON o.company_id = k.company_id AND o.event_id = k.event_id AND o.leased_until = k.lease_utc
    STRAIGHT_JOIN events AS e FORCE INDEX (event_id)
      ON e.event_id = k.event_id AND e.company_id = k.company_id AND e.created_utc = k.created_utc
    WHERE e.created_utc BETWEEN ${new Date(Math.min(...days))} AND ${new Date(Math.max(...days))}`.execute(
    db,
  );
  return rows;
};
