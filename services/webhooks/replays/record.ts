import { type AnswerTo, notFound, type ReplayRow, replayColumns } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** The replay as the portal shows it. */
export const replayAnswer = (row: ReplayRow) => ({
  id: row.replay_id,
  subscriptionId: row.subscription_id,
  kind: row.kind,
  filter: row.filter as AnswerTo<'getReplay'>['filter'],
  state: row.state,
  total: row.total,
  made: row.made,
  succeeded: row.succeeded,
  failed: row.failed,
  createdBy: row.created_by,
  createdUtc: row.created_utc,
  finishedUtc: row.finished_utc,
});

/** A company's replays, newest first. */
export const selectReplays = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('replays')
    .select(replayColumns)
    .where('company_id', '=', companyId)
    .orderBy('replay_id', 'desc');

/** @throws Problem `not_found` */
export const readReplay = async (
  db: Kysely<Tables>,
  companyId: number,
  replayId: number,
): Promise<ReplayRow> => {
  const row = await selectReplays(db, companyId).where('replay_id', '=', replayId).executeTakeFirst();
  if (!row) throw notFound('replay');
  return row;
};
