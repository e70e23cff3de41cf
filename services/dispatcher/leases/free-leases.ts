import { type DeliveryKey, nextDueSql } from '@causeway/deliveries';
import { leaseMs } from '@causeway/proto';
import { acrossTenants, byShard, type Database, rowList, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { companyOf, type QueueKey, queueName } from '../delivery.ts';
import { isOneOfDeliveries, isOneOfDue, isOneOfQueues } from '../store.ts';
import type { Tables } from '../tables.ts';

type LeasedRow = DeliveryKey & { readonly due_utc: Date };

/**
 * Makes the deliveries due that a dispatcher leased before it was given up. There is no index by holder,
 * because every delivery would pay for it. A queue is due at the earliest due time of its deliveries, leases
 * included, or within about a minute if it is paused or paced, so few queues can have such a delivery. Locked rows are
 * left for the next call.
 * @returns how many it has freed, and how many it has found and left.
 */
export const freeLeases = async (
  db: Database<Tables>,
  holder: number,
  now: Date,
): Promise<{ readonly freed: number; readonly left: number }> => {
  const all = acrossTenants(db, 'a dispatcher frees the leases of another in any company');
  const search = { holder, now, horizon: new Date(now.getTime() + leaseMs + 5_000) };
  const queues = await readQueues(all, new Date(now.getTime() + latestLookMs));
  let [freed, found] = [0, 0];
  for (let from = 0; from < queues.length; from += queuesPerQuery) {
    const { rows } = await sql<LeasedRow>`${sql.join(
      queues.slice(from, from + queuesPerQuery).map((queue) => leasedOf(queue, search)),
      sql` UNION ALL `,
    )}`.execute(all);
    found += rows.length;
    if (rows.length === 0) continue;
    const counts = await byShard(db, rows, companyOf, (some, own) => free(own, some, search));
    freed += counts.reduce((sum, count) => sum + count, 0);
  }
  return { freed, left: found - freed };
};

interface LeaseSearch {
  readonly holder: number;
  readonly now: Date;
  readonly horizon: Date;
}

const queuesPerQuery = 64;
/** A paused queue is looked at once a minute, and a pace per minute grants no later, its slack included. */
const latestLookMs = 65_000;
const maxQueues = 50_000;

/** Queues with leases come first; a queue that is due already may have some too. */
const readQueues = async (db: Kysely<Tables>, horizon: Date): Promise<readonly QueueKey[]> => {
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (next_due)
    WHERE next_due_utc <= ${horizon} ORDER BY next_due_utc DESC LIMIT ${sql.lit(maxQueues)}`.execute(db);
  return rows;
};

const leasedOf = ({ company_id, subscription_id }: QueueKey, { holder, now, horizon }: LeaseSearch) => sql`
  (SELECT company_id, event_id, subscription_id, replay_id, created_utc, due_utc
  FROM deliveries FORCE INDEX (by_state)
  WHERE company_id = ${company_id} AND subscription_id = ${subscription_id} AND state = 'waiting'
    AND due_utc > ${now} AND due_utc <= ${horizon} AND leased_by = ${holder})`;

const free = (
  db: Database<Tables>,
  leased: readonly LeasedRow[],
  { holder, now }: LeaseSearch,
): Promise<number> =>
  transaction(db, async (trx) => {
    const all = acrossTenants(trx, 'a dispatcher frees the leases of another in any company');
    const latest = new Map<string, LeasedRow>();
    for (const one of leased)
      if (one.due_utc > (latest.get(queueName(one))?.due_utc ?? 0)) latest.set(queueName(one), one);
    // In the order of the key, so that two transactions cannot deadlock.
    const keys = [...latest.values()].sort(
      (a, b) => a.company_id - b.company_id || a.subscription_id - b.subscription_id,
    );
    const { rows: locked } = await sql<QueueKey>`
      SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (PRIMARY)
      WHERE ${isOneOfQueues(keys)} FOR UPDATE SKIP LOCKED`.execute(all);
    const names = new Set(locked.map(queueName));
    const open = leased.filter((one) => names.has(queueName(one)));
    if (open.length === 0) return 0;
    const { rows } = await sql<DeliveryKey>`
      SELECT company_id, event_id, subscription_id, replay_id, created_utc
      FROM deliveries FORCE INDEX (PRIMARY)
      WHERE ${isOneOfDue(open, ({ due_utc }) => due_utc)} AND state = 'waiting' AND leased_by = ${holder}
      FOR UPDATE SKIP LOCKED`.execute(all);
    if (rows.length === 0) return 0;
    await sql`
      UPDATE deliveries FORCE INDEX (PRIMARY) SET due_utc = ${now}, leased_by = NULL
      WHERE ${isOneOfDeliveries(rows)}`.execute(all);
    const freed = new Set(rows.map(queueName));
    const queues = keys.filter((one) => freed.has(queueName(one)));
    const leases = rowList(queues.map((one) => [one.company_id, one.subscription_id, one.due_utc]));
    // A failing queue is due now if its probe was lost; otherwise its back-off, or the probe of another, goes on.
    await sql`
      UPDATE delivery_queues FORCE INDEX (PRIMARY)
      SET next_due_utc = IF(
        next_due_utc > ${now} AND (company_id, subscription_id, probe_due_utc) IN (${leases}),
        ${now}, ${nextDueSql(now)})
      WHERE ${isOneOfQueues(queues)}`.execute(all);
    return rows.length;
  });
