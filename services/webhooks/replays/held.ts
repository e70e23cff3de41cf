import type { ReplayRow } from '@causeway/proto';
import { type Trx, tenantIn } from '@causeway/runtime';
import { sql } from 'kysely';
import { noteDue } from '../deliveries/noteDue.ts';
import { bigint, datetime, jsonTable, sqlTime } from '../store/jsonTable.ts';
import type { Tables } from '../tables.ts';

/** Lets the oldest of what is held be tried now. @returns how many there were. */
export const releasePage = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: ReplayRow,
  count: number,
  now: Date,
): Promise<number> => {
  const { numUpdatedRows } = await trx
    .updateTable('deliveries')
    .set({ state: 'waiting', due_utc: now, updated_utc: now })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('state', '=', 'held')
    .orderBy('event_id')
    .limit(count)
    .executeTakeFirst();
  if (numUpdatedRows > 0) await noteDue(trx, [{ company_id, subscription_id, due_utc: now }]);
  return Number(numUpdatedRows);
};

/** Gives up the oldest of what is held. Replays that they were made by learn of it. */
export const dropHeldPage = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: ReplayRow,
  now: Date,
): Promise<{ readonly count: number; readonly more: boolean }> => {
  const rows = await trx
    .selectFrom('deliveries')
    .select(['event_id', 'replay_id', 'created_utc'])
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('state', '=', 'held')
    .orderBy('event_id')
    .limit(dropChunk)
    .forUpdate()
    .execute();
  if (rows.length === 0) return { count: 0, more: false };
  const keys = rows.map((row) => [row.event_id, row.replay_id, sqlTime(row.created_utc)]);
  await sql`
    UPDATE ${jsonTable(columns, keys)} AS k
    STRAIGHT_JOIN deliveries AS d ON d.event_id = k.event_id AND d.replay_id = k.replay_id
      AND d.created_utc = k.created_utc
    SET d.state = 'dropped', d.updated_utc = ${now}
    WHERE d.company_id in ${tenantIn(company_id)} AND d.subscription_id = ${subscription_id}`.execute(trx);
  const made = Map.groupBy(
    rows.filter(({ replay_id }) => replay_id > 0),
    ({ replay_id }) => replay_id,
  );
  for (const [replayId, { length }] of [...made].sort(([a], [b]) => a - b))
    await trx
      .updateTable('replays')
      .set(({ eb }) => ({ failed: eb('failed', '+', length) }))
      .where('company_id', '=', company_id)
      .where('replay_id', '=', replayId)
      .execute();
  return { count: rows.length, more: rows.length === dropChunk };
};

const dropChunk = 1_000;
const columns = { event_id: bigint, replay_id: bigint, created_utc: datetime };
