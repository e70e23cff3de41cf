import type { DeliveryKey } from '@causeway/deliveries';
import { type EventType, matches, payloadIn } from '@causeway/proto';
import { acrossTenants, type Database, tenantIs, transaction } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { deliveryName } from '../delivery.ts';
import { type FoundTarget, isOneOfDeliveries, isOneOfDue, isQueue, readContents } from '../store.ts';
import type { Tables } from '../tables.ts';

type FoundDelivery = DeliveryKey & { readonly event_type: EventType };

/**
 * What a subscription no longer asks for: types that were removed, events that its present conditions leave out. A resend names one
 * delivery by hand, so it is sent, and so is what was made before its person was erased (contract, "Deliveries").
 * @param contents without an event that was removed, whose deliveries are about to be dropped
 */
export const findUnwanted = async <Delivery extends FoundDelivery>(
  db: Kysely<Tables>,
  { company_id, event_types, conditions }: FoundTarget,
  deliveries: readonly Delivery[],
  contents: ReadonlyMap<number, { readonly body: Uint8Array }>,
): Promise<readonly Delivery[]> => {
  const unwanted = deliveries.filter(({ event_id, event_type }) => {
    if (!event_types.includes(event_type)) return true;
    const content = conditions && contents.get(event_id);
    if (!content) return false;
    const payload = payloadIn(content.body) as { readonly erased?: unknown } | null;
    return payload?.erased !== true && !matches(conditions, payload);
  });
  const replays = unwanted.flatMap(({ replay_id }) => (replay_id > 0 ? [replay_id] : []));
  if (replays.length === 0) return unwanted;
  const resends = await db
    .selectFrom('replays')
    .select('replay_id')
    .where('company_id', '=', company_id)
    .where('replay_id', 'in', replays)
    .where('kind', '=', 'resend')
    .execute();
  const sent = new Set(resends.map(({ replay_id }) => replay_id));
  return unwanted.filter(({ replay_id }) => !sent.has(replay_id));
};

/**
 * Discards them, and those among the next that are due, since each look at a queue takes only as many as may be attempted. The queue is due
 * again at once, also for another probe.
 */
export const discardUnwanted = async (
  db: Database<Tables>,
  target: FoundTarget,
  leased: readonly FoundDelivery[],
  { leaseMs, now }: { readonly leaseMs: number; readonly now: Date },
): Promise<number> => {
  const all = acrossTenants(db, 'a dispatcher discards what one subscription no longer asks for');
  const next = await readNext(all, target, now);
  const contents = await readContents(all, target.conditions ? next : []);
  const more = await findUnwanted(all, target, next, contents);
  return transaction(db, async (trx) => {
    const own = acrossTenants(trx, 'a dispatcher discards what one subscription no longer asks for');
    await own
      .updateTable('delivery_queues')
      .set({
        next_due_utc: now,
        probe_due_utc: sql`IF(probe_due_utc = ${new Date(leaseMs)}, ${now}, probe_due_utc)`,
      })
      .where(isQueue(target))
      .execute();
    const { rows } = await sql<DeliveryKey>`
      SELECT company_id, event_id, subscription_id, replay_id, created_utc FROM deliveries FORCE INDEX (PRIMARY)
      WHERE state = 'waiting' AND (${isOneOfDue(leased, () => new Date(leaseMs))}
        ${more.length > 0 ? sql`OR (${isOneOfDeliveries(more)} AND due_utc <= ${now})` : sql``})
      FOR UPDATE`.execute(own);
    if (rows.length === 0) return 0;
    await sql`
      UPDATE deliveries FORCE INDEX (PRIMARY) SET state = 'dropped', due_utc = NULL, leased_by = NULL, updated_utc = ${now}
      WHERE ${isOneOfDeliveries(rows)}`.execute(own);
    const replayed = rows.filter(({ replay_id }) => replay_id > 0);
    for (const [replayId, { length }] of Map.groupBy(replayed, ({ replay_id }) => replay_id))
      await sql`
        UPDATE replays SET made = made - ${length}
        WHERE company_id = ${tenantIs(target.company_id)} AND replay_id = ${replayId}`.execute(own);
    return rows.length;
  });
};

const readNext = async (
  db: Kysely<Tables>,
  { company_id, subscription_id, conditions }: FoundTarget,
  now: Date,
): Promise<readonly FoundDelivery[]> => {
  const { rows } = await sql<FoundDelivery>`
    SELECT company_id, event_id, subscription_id, replay_id, created_utc, event_type
    FROM deliveries FORCE INDEX (by_state)
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}
      AND state = 'waiting' AND due_utc <= ${now}
    ORDER BY due_utc LIMIT ${sql.lit(conditions ? 50 : 500)}`.execute(db);
  return rows;
};

export const without = <Delivery extends DeliveryKey>(
  deliveries: readonly Delivery[],
  others: readonly DeliveryKey[],
): readonly Delivery[] => {
  const names = new Set(others.map(deliveryName));
  return deliveries.filter((one) => !names.has(deliveryName(one)));
};
