import type { DeliveryRow, ReplayRow } from '@causeway/proto';
import { admitWaiting, rowList, type Trx, tenantIs } from '@causeway/runtime';
import { sql } from 'kysely';
import { addHeld } from '../queues/held-count.ts';
import { scheduleQueues } from '../queues/schedule-queues.ts';
import type { Tables } from '../tables.ts';

/**
 * Releases the oldest held deliveries, as far as the quota of waiting deliveries has room.
 * @returns how many, and whether there may be more.
 */
export const releasePage = async (
  trx: Trx<Tables>,
  replay: ReplayRow,
  { limit, quota, now }: { readonly limit: number; readonly quota: number; readonly now: Date },
): Promise<{ readonly count: number; readonly more: boolean }> => {
  const { company_id, subscription_id } = replay;
  const found = await heldRows(trx, replay, limit).execute();
  const wanted = found.map((one) => ({ ...one, company_id, subscription_id }));
  // The company's row is locked before the deliveries.
  const { admitted, refused } = await admitWaiting(trx, wanted, { quota, now, makesRoom: false });
  const more = found.length === limit || refused.length > 0;
  if (admitted.length === 0) return { count: 0, more };
  const held = await heldRows(trx, replay, admitted.length).forUpdate().execute();
  if (held.length === 0) return { count: 0, more };
  await setState(trx, replay, held, { state: 'waiting', due: now, now });
  await addHeld(trx, replay, -held.length, now);
  await scheduleQueues(trx, [replay], now);
  return { count: held.length, more };
};

/** Drops the oldest held deliveries, and counts them in the replays that made them. */
export const discardHeldPage = async (
  trx: Trx<Tables>,
  replay: ReplayRow,
  now: Date,
): Promise<{ readonly count: number; readonly more: boolean }> => {
  const held = await heldRows(trx, replay, dropChunk).forUpdate().execute();
  if (held.length === 0) return { count: 0, more: false };
  await setState(trx, replay, held, { state: 'dropped', due: null, now });
  await addHeld(trx, replay, -held.length, now);
  const made = Map.groupBy(
    held.filter(({ replay_id }) => replay_id > 0),
    ({ replay_id }) => replay_id,
  );
  for (const [replayId, { length }] of [...made].sort(([a], [b]) => a - b))
    await trx
      .updateTable('replays')
      .set(({ eb }) => ({ failed: eb('failed', '+', length) }))
      .where('company_id', '=', replay.company_id)
      .where('replay_id', '=', replayId)
      .execute();
  return { count: held.length, more: held.length === dropChunk };
};

const dropChunk = 1_000;

type Held = Pick<DeliveryRow, 'event_id' | 'replay_id' | 'created_utc'>;

/** The oldest held deliveries. */
const heldRows = (trx: Trx<Tables>, { company_id, subscription_id }: ReplayRow, limit: number) =>
  trx
    .selectFrom('deliveries as d')
    .modifyFront(sql`/*+ INDEX(d by_state) */`)
    .select(['event_id', 'replay_id', 'created_utc'])
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('state', '=', 'held')
    .where('due_utc', 'is', null)
    .orderBy('event_id')
    .limit(limit);

const setState = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: ReplayRow,
  held: readonly Held[],
  {
    state,
    due,
    now,
  }: { readonly state: DeliveryRow['state']; readonly due: Date | null; readonly now: Date },
): Promise<void> => {
  const keys = held.map((row) => [row.event_id, row.replay_id, row.created_utc]);
  await sql`
    UPDATE deliveries FORCE INDEX (PRIMARY) SET state = ${state}, due_utc = ${due}, updated_utc = ${now}
    WHERE company_id = ${tenantIs(company_id)} AND subscription_id = ${subscription_id}
      AND (event_id, replay_id, created_utc) IN (${rowList(keys)})`.execute(trx);
};
