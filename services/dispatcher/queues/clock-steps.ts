import { nextDueSql } from '@causeway/deliveries';
import { countHeldAfterMs } from '@causeway/proto';
import {
  acrossTenants,
  byShard,
  type Database,
  type Repeated,
  repeat,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { companyOf, type QueueKey } from '../delivery.ts';
import type { Tables } from '../tables.ts';

/**
 * Makes due what is late because MySQL's clock went back, as at a failover to a server whose clock is behind: times that were
 * stored before would come only after as long again. Waits until the leases of that time are over in any case, so that
 * nothing is under way that becomes due. Each replica does it, which changes nothing the second time.
 */
export const watchClockSteps = ({ db, now, nowMs, leaseMs, log }: ClockStepOptions): Repeated => {
  let last = { atMs: 0, nowMs: 0 };
  let settledMs = Number.POSITIVE_INFINITY;
  const look = async (stopping: AbortSignal): Promise<number> => {
    const here = { atMs: now().getTime(), nowMs: nowMs() };
    const backMs = last.atMs + here.nowMs - last.nowMs - here.atMs;
    if (last.atMs > 0 && backMs > toleratedMs) {
      log.warn({ backMs }, "the database's clock went back");
      settledMs = here.nowMs + leaseMs;
    }
    last = here;
    if (here.nowMs < settledMs) return 0;
    const at = now();
    await endLeases(db, at, leaseMs);
    await makeQueuesDue(db, at, leaseMs, stopping);
    settledMs = Number.POSITIVE_INFINITY;
    return 0;
  };
  return repeat(look, {
    pauseMs: lookEveryMs,
    onError: (error) =>
      log.warn({ error }, 'what is late because the clock went back did not become due; retried'),
  });
};

const toleratedMs = 1_000;
const lookEveryMs = 1_000;

interface ClockStepOptions extends Pick<Context, 'db' | 'now' | 'nowMs' | 'log'> {
  readonly leaseMs: number;
}

/** Leases of events, and the next steps of replays and counts, are seconds ahead. */
const endLeases = async (db: Database<Tables>, at: Date, leaseMs: number): Promise<void> => {
  const all = acrossTenants(db, 'work for any company is late because the clock went back');
  const far = after(at, leaseMs);
  await all.updateTable('event_outbox').set({ leased_until: at }).where('leased_until', '>', far).execute();
  await all.updateTable('replays').set({ next_page_utc: at }).where('next_page_utc', '>', far).execute();
  const farCount = after(at, countHeldAfterMs);
  await all
    .updateTable('delivery_queues')
    .set({ count_held_utc: at })
    .where('count_held_utc', '>', farCount)
    .execute();
  await sql`UPDATE webhook_companies SET recount_utc = ${at} WHERE recount_utc > ${far}`.execute(all);
};

const makeQueuesDue = async (
  db: Database<Tables>,
  at: Date,
  leaseMs: number,
  stopping: AbortSignal,
): Promise<void> => {
  const all = acrossTenants(db, 'queues of any company are late because the clock went back');
  const { rows } = await sql<QueueKey>`
    SELECT company_id, subscription_id FROM delivery_queues FORCE INDEX (next_due)
    WHERE next_due_utc > ${at}`.execute(all);
  await byShard(db, rows, companyOf, async (some, own) => {
    for (const queue of some) while (!stopping.aborted && !(await makeDue(own, queue, at, leaseMs)));
  });
};

/** A retry that was planned before is recognised by its row, which was changed later than now. @returns whether it is done. */
const makeDue = (db: Database<Tables>, queue: QueueKey, at: Date, leaseMs: number): Promise<boolean> =>
  transaction(db, async (trx) => {
    const far = after(at, leaseMs);
    await sql`
      UPDATE delivery_queues SET probe_due_utc = IF(probe_due_utc > ${far}, ${at}, probe_due_utc),
        next_due_utc = ${nextDueSql(at)}
      WHERE company_id = ${tenantIs(queue.company_id)} AND subscription_id = ${queue.subscription_id}`.execute(
      trx,
    );
    const { numAffectedRows = 0n } = await sql`
      UPDATE deliveries FORCE INDEX (by_state) SET due_utc = ${at}, leased_by = NULL
      WHERE company_id = ${tenantIs(queue.company_id)} AND subscription_id = ${queue.subscription_id}
        AND state = 'waiting' AND due_utc > ${at}
        AND IF(leased_by IS NULL, updated_utc > ${at}, due_utc > ${far})
      LIMIT ${sql.lit(chunk)}`.execute(trx);
    return Number(numAffectedRows) < chunk;
  });

const after = (at: Date, leaseMs: number): Date => new Date(at.getTime() + leaseMs + toleratedMs);

const chunk = 1_000;
