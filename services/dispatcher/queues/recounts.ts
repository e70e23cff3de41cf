import { countWaiting } from '@causeway/deliveries';
import {
  acrossTenants,
  type Database,
  type Log,
  type Repeated,
  repeat,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { QueueKey } from '../delivery.ts';
import { candidates, isQueue, takeFirst } from '../store.ts';
import type { Tables } from '../tables.ts';

export const correctHeld = async ({ db, now }: Pick<HeldCountOptions, 'db' | 'now'>): Promise<number> => {
  const due = await acrossTenants(db, 'held deliveries are counted for a due subscription of any company')
    .selectFrom('delivery_queues')
    .select(['company_id', 'subscription_id'])
    .where('count_held_utc', '<=', now())
    .orderBy('count_held_utc')
    .limit(candidates)
    .execute();
  return (await takeFirst(due, (key) => correctOne(db, key, now()))) ?? 0;
};

const correctOne = (db: Database<Tables>, key: QueueKey, now: Date): Promise<1 | undefined> =>
  transaction(db, async (trx) => {
    // Transactions that change the count wait for this lock; those that committed earlier are included.
    const due = await trx
      .selectFrom('delivery_queues')
      .select(['company_id', 'subscription_id'])
      .where(isQueue(key))
      .where('count_held_utc', '<=', now)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!due) return undefined;
    const { held } = await trx
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<number>().as('held'))
      .where(isQueue(due))
      .where('state', '=', 'held')
      .executeTakeFirstOrThrow();
    await trx
      .updateTable('delivery_queues')
      .set({ held_deliveries: held, count_held_utc: null })
      .where(isQueue(due))
      .execute();
    return 1;
  });

/** On any replica. A count takes about a second for 600,000 rows. */
export const startHeldCount = (options: HeldCountOptions): Repeated =>
  repeat(() => correctHeld(options), {
    pauseMs: 5_000,
    onError: (error) => options.log.warn({ error }, 'count of held deliveries failed'),
  });

type HeldCountOptions = Pick<Context, 'db' | 'now' | 'log'>;

interface RecountOptions extends Pick<Context, 'db' | 'now'> {
  readonly quota: number;
}

/**
 * For a company whose bound has passed half of the quota. Locks nothing while it counts: what others add
 * meanwhile stays added.
 * @returns how many companies were due, 0 or 1.
 */
export const recountWaiting = async ({ db, quota, now }: RecountOptions): Promise<number> => {
  const at = now();
  const lease = new Date(at.getTime() + leaseMs);
  const isDue = sql`waiting_bound > ${quota / 2} AND (recount_utc IS NULL OR recount_utc <= ${at})`;
  const { rows: companies } = await sql<{ company_id: number }>`
    SELECT company_id FROM webhook_companies WHERE ${isDue} LIMIT ${sql.lit(candidates)}`.execute(
    acrossTenants(db, 'waiting deliveries are counted for any due company'),
  );
  const due = await takeFirst(companies, ({ company_id }) =>
    transaction(db, async (trx) => {
      const { rows } = await sql<{ company_id: number; waiting_bound: number }>`
        SELECT company_id, waiting_bound FROM webhook_companies
        WHERE company_id = ${tenantIs(company_id)} AND ${isDue} FOR UPDATE SKIP LOCKED`.execute(trx);
      const [row] = rows;
      if (row)
        await sql`
          UPDATE webhook_companies SET recount_utc = ${lease}
          WHERE company_id = ${tenantIs(company_id)}`.execute(trx);
      return row;
    }),
  );
  if (!due) return 0;
  const { total, longest } = await countWaiting(db, due.company_id);
  const tookMs = now().getTime() - at.getTime();
  const again = new Date(now().getTime() + Math.max(leastPauseMs, 10 * tookMs));
  // Without the lease, a writer has counted meanwhile.
  await sql`
    UPDATE webhook_companies
    SET waiting_bound = waiting_bound - ${due.waiting_bound} + ${total}, longest_subscription_id = ${longest},
      recount_utc = ${again}
    WHERE company_id = ${tenantIs(due.company_id)} AND recount_utc = ${lease}`.execute(db);
  return 1;
};

const leaseMs = 60_000;
const leastPauseMs = 1_000;

export const startWaitingRecount = (options: RecountOptions & { readonly log: Log }): Repeated =>
  repeat(() => recountWaiting(options), {
    pauseMs: 1_000,
    onError: (error) => options.log.warn({ error }, 'waiting deliveries could not be counted'),
  });
