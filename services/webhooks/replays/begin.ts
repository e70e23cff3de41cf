import type { ReplayRow, SubscriptionRow } from '@causeway/deliveries';
import { writeAudit } from '@causeway/identity';
import {
  type AnswerTo,
  type AuditEntry,
  type AuditSource,
  conflict,
  notFound,
  type Problem,
  type ReplayKind,
} from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

interface ReplayStart {
  readonly by: AuditSource;
  readonly now: Date;
}

interface NewReplay {
  readonly kind: ReplayKind;
  readonly filter: string;
  readonly total: number;
}

/** @throws Problem `conflict` */
export const assertOn = (
  { enabled }: Pick<SubscriptionRow, 'enabled'>,
  refuse: (message: string) => Problem = conflict,
): void => {
  if (enabled !== 1) throw refuse('the subscription is disabled; enable it first');
};

/**
 * Two replays at once would deliver the same events. Resends are exempt, and held deliveries, missed events and failed
 * deliveries are of different events. The caller has locked the subscription's row.
 * @throws Problem `conflict`
 */
export const assertNoOther = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: SubscriptionRow,
  kind: ReplayKind,
  refuse: (message: string) => Problem = conflict,
): Promise<void> => {
  const other = await trx
    .selectFrom('replays')
    .select(['replay_id', 'kind'])
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .where('state', '=', 'running')
    .where('kind', 'not in', ['resend', ...besides(kind)])
    .where('next_page_utc', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (!other) return;
  const what =
    other.kind === 'release' || other.kind === 'drop'
      ? `held deliveries are being ${other.kind === 'release' ? 'released' : 'discarded'}`
      : 'a replay is running';
  throw refuse(`${what} for this subscription (${other.replay_id}); wait for it, or cancel it in the portal`);
};

const besides = (kind: ReplayKind): readonly ReplayKind[] =>
  apart.some((kinds) => kinds.includes(kind)) ? apart.filter((kinds) => !kinds.includes(kind)).flat() : [];

const apart: readonly (readonly ReplayKind[])[] = [['release', 'drop'], ['missed'], ['failed']];

export const beginReplay = async (
  trx: Trx<Tables>,
  subscription: Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'name' | 'url'>,
  { kind, filter, total }: NewReplay,
  { by, now }: ReplayStart,
): Promise<ReplayRow> => {
  const { company_id, subscription_id } = subscription;
  const { insertId } = await trx
    .insertInto('replays')
    .values({
      company_id,
      subscription_id,
      kind,
      filter,
      total,
      next_page_utc: now,
      created_by: by.name,
      created_utc: now,
      finished_utc: null,
    })
    .executeTakeFirstOrThrow();
  const replayId = Number(insertId);
  await writeAudit(trx, {
    companyId: company_id,
    by,
    action: actions[kind],
    target: targetOf(kind, subscription, replayId),
    after: { kind, total, replayId, ...JSON.parse(filter) },
    at: now,
  });
  return readReplay(trx, company_id, replayId);
};

const actions: Readonly<Record<ReplayKind, AuditEntry['action']>> = {
  resend: 'delivery.resent',
  failed: 'replay.created',
  missed: 'replay.created',
  filter: 'replay.created',
  release: 'held.released',
  drop: 'held.dropped',
};

const targetOf = (
  kind: ReplayKind,
  { subscription_id, name, url }: Pick<SubscriptionRow, 'subscription_id' | 'name' | 'url'>,
  replayId: number,
): AuditEntry['target'] => {
  const shownAs = name ?? url;
  return actions[kind] === 'replay.created'
    ? { kind: 'replay', id: replayId, name: `${kind}: ${shownAs}` }
    : { kind: 'subscription', id: subscription_id, name: shownAs };
};

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

/** Without the member's name. */
export const keyReplayAnswer = (row: ReplayRow) => {
  const { createdBy: _, ...answer } = replayAnswer(row);
  return answer;
};

export const selectReplays = (db: Kysely<Tables>, companyId: number) =>
  db.selectFrom('replays').selectAll().where('company_id', '=', companyId).orderBy('replay_id', 'desc');

/** @throws Problem `not_found` */
export const readReplay = (db: Kysely<Tables>, companyId: number, replayId: number): Promise<ReplayRow> =>
  selectReplays(db, companyId)
    .where('replay_id', '=', replayId)
    .executeTakeFirstOrThrow(() => notFound('replay'));
