import { acrossTenants, byShard, type Database, type Repeated, startRetention } from '@causeway/runtime';
import type { Context } from '../context.ts';
import { dispatcherMetrics } from '../metrics.ts';
import type { Tables } from '../tables.ts';

export const datedTables = ['deliveries', 'delivery_attempts', 'delivery_minutes'] as const;

export const startDeliveryRetention = ({ db, log, metrics, days, now }: DeliveryRetentionOptions): Repeated =>
  startRetention({
    db,
    log,
    tables: datedTables,
    // The release before changes these tables in `webhooks`, under the same lock.
    lock: 'retention',
    days,
    now,
    metrics,
    stale: dispatcherMetrics.dispatcher_retention_stale_seconds,
    onDropped: async (table) => {
      if (table === 'deliveries') await recountHeld(db, now());
    },
  });

/** The dropped days may have had held deliveries. */
export const recountHeld = async (db: Database<Tables>, now: Date): Promise<void> => {
  const companies = await acrossTenants(db, 'retention works on whole tables')
    .selectFrom('delivery_queues')
    .select('company_id')
    .distinct()
    .where('held_deliveries', '>', 0)
    .execute();
  if (companies.length > 0) await byShard(db, companies, ({ company_id }) => company_id, recount(now));
};

const recount = (now: Date) => async (companies: readonly { company_id: number }[], db: Database<Tables>) => {
  await db
    .updateTable('delivery_queues')
    .set({ count_held_utc: now })
    .where(
      'company_id',
      'in',
      companies.map(({ company_id }) => company_id),
    )
    .where('held_deliveries', '>', 0)
    .execute();
};

interface DeliveryRetentionOptions extends Pick<Context, 'db' | 'now' | 'log' | 'metrics'> {
  readonly days: number;
}
