import { encodeEnvelope, failuresUntilProbing, type StoredEvent } from '@causeway/proto';
import { acrossTenants, type Database } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type Job, type QueueKey, queueName } from '../job.ts';
import { readTargets } from '../store/read.ts';
import type { Tables } from '../tables.ts';
import { type Announced, announcedTable, type LeasedDelivery } from './announced.ts';

/** A delivery that a wake announces. */
export type AnnouncedDelivery = LeasedDelivery & { readonly announced: Announced };

export interface Taken {
  /** To attempt. */
  readonly jobs: readonly Job[];
  /** Their subscriptions are failing or disabled, so they go through their queues. */
  readonly forQueues: readonly AnnouncedDelivery[];
  /** Their subscriptions were deleted. */
  readonly orphans: readonly AnnouncedDelivery[];
}

/**
 * Reads any number of announced deliveries with two parallel queries. It skips events whose lease differs from their
 * wake's or is about to end: another process or the sweeper takes those.
 * @param lastStartMs an attempt must begin at least this long before its lease ends.
 */
export const readAnnounced = async (
  db: Database<Tables>,
  deliveries: readonly AnnouncedDelivery[],
  { nowMs, lastStartMs }: { readonly nowMs: number; readonly lastStartMs: number },
): Promise<Taken> => {
  const all = acrossTenants(db, 'a dispatcher reads deliveries of many companies in one batch');
  const queues = new Map<string, QueueKey>(deliveries.map((one) => [queueName(one), one]));
  const [events, targets] = await Promise.all([
    readEvents(all, [...new Set(deliveries.map(({ announced }) => announced))]),
    readTargets(all, [...queues.values()]),
  ]);
  const bodies = new Map(events.map((event) => [event.event_id, encodeEnvelope(event)]));
  const types = new Map(events.map(({ event_id, type }) => [event_id, type]));
  const taken = {
    jobs: [] as Job[],
    forQueues: [] as AnnouncedDelivery[],
    orphans: [] as AnnouncedDelivery[],
  };
  for (const one of deliveries) {
    const body = bodies.get(one.event_id);
    if (one.leaseMs - nowMs < lastStartMs || !body) continue;
    const target = targets.get(queueName(one));
    if (!target) taken.orphans.push(one);
    else if (!target.enabled || target.consecutive_failures >= failuresUntilProbing)
      taken.forQueues.push(one);
    else {
      const event_type = types.get(one.event_id)!;
      taken.jobs.push({ ...one, event_type, attempt: 1, source: 'first', probe: false, target, body });
    }
  }
  return taken;
};

/** Reads the events whose lease is still the announced one. */
const readEvents = async (
  db: Kysely<Tables>,
  events: readonly Announced[],
): Promise<readonly StoredEvent[]> => {
  const days = events.map(({ created_utc }) => created_utc.getTime());
  // The bounds limit the partitions that MySQL reads, as in `readBodies`.
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
