import { findReplayCandidates, type ReplaySelection, replayFilterOf } from '@causeway/deliveries';
import { writeAudit } from '@causeway/identity';
import {
  type BodyOf,
  byMember,
  conflict,
  contract,
  definitions,
  fastestReplayPerSecond,
  invalidField,
  maxReplayDeliveries,
  notFound,
  stateConflict,
} from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { askDispatcher } from '../ask.ts';
import type { WebhooksContext } from '../context.ts';
import { readOutcome } from '../delivery-stats.ts';
import { editorOf } from '../subscriptions/editor.ts';
import { resetMissed } from '../subscriptions/missed.ts';
import { lockSubscription, readSubscription, type SubscriptionRecord } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';
import {
  assertNoOther,
  assertOn,
  beginReplay,
  keyReplayAnswer,
  readReplay,
  replayAnswer,
  selectReplays,
} from './begin.ts';

export const createReplay = (context: WebhooksContext) =>
  handler(definitions.createReplay, async (call) => {
    const { db, now, once } = context;
    const { companyId, identity } = call;
    const isKey = call.audience === 'key';
    const body: ReplayWish = isKey ? { ...call.body, subscriptionId: call.id('subscription') } : call.body;
    const refuse = isKey ? stateConflict : conflict;
    const earlier = await once.find(identity);
    if (earlier) return earlier;
    const target = await readSubscription(db, companyId, body.subscriptionId);
    const select = (at: Date) => selectionOf(companyId, body, target, at);
    const selection = select(now());
    const coversMissed = body.kind === 'missed' && body.types === undefined;
    const total = await countCandidates(db, selection);
    if (total === 0) {
      // Their events were delivered otherwise, or have left the event log.
      if (coversMissed) await resetMissed(db, selection);
      throw refuse('there is nothing to replay');
    }
    return once.carryOut(identity, async (trx) => {
      const subscription = await lockSubscription(trx, companyId, body.subscriptionId);
      assertOn(subscription, refuse);
      await assertNoOther(trx, subscription, body.kind, refuse);
      if (coversMissed) await resetMissed(trx, selection);
      // After the reset: the replay makes all events whose count it has reset.
      const at = now();
      const newReplay = { kind: body.kind, filter: replayFilterOf(select(at)), total };
      const replay = await beginReplay(trx, subscription, newReplay, { by: editorOf(call).by, now: at });
      trx.onCommit(() => askDispatcher(context, { companyId, replayId: replay.replay_id }));
      return json(201, isKey ? keyReplayAnswer(replay) : replayAnswer(replay));
    });
  });

export const previewReplay = ({ db, now }: WebhooksContext) =>
  handler(contract.previewReplay, async ({ companyId, body }) => {
    const subscription = await readSubscription(db, companyId, body.subscriptionId);
    const at = now();
    const count = await countCandidates(db, selectionOf(companyId, body, subscription, at));
    const dayAgo = new Date(at.getTime() - 86_400_000);
    const { p50Ms } = await readOutcome(db, companyId, body.subscriptionId, dayAgo);
    const perSecond = Math.min(fastestReplayPerSecond, (usualConcurrency * 1000) / (p50Ms ?? usualMs));
    return json(200, { count, estimateSeconds: Math.ceil(count / perSecond) });
  });

export const listReplays = ({ db }: WebhooksContext) =>
  handler(contract.listReplays, async ({ companyId, query }) => {
    const { limit, subscriptionId } = query;
    let replays = selectReplays(db, companyId).limit(limit);
    if (subscriptionId !== undefined) replays = replays.where('subscription_id', '=', subscriptionId);
    return json(200, { replays: (await replays.execute()).map(replayAnswer) });
  });

export const getReplay = ({ db }: WebhooksContext) =>
  handler(definitions.getReplay, async (call) => {
    const row = await readReplay(db, call.companyId, call.id('replay'));
    return json(200, call.audience === 'key' ? keyReplayAnswer(row) : replayAnswer(row));
  });

/** The dispatchers drop its waiting deliveries, chunk by chunk; the answer waits for the first chunk. */
export const cancelReplay = (context: WebhooksContext) =>
  handler(contract.cancelReplay, async (call) => {
    const { now, once } = context;
    const { companyId, identity } = call;
    const id = call.id('replay');
    const answer = await once.carryOut(identity, async (trx) => {
      const row = await selectReplays(trx, companyId)
        .where('replay_id', '=', id)
        .forUpdate()
        .executeTakeFirstOrThrow(() => notFound('replay'));
      if (row.state !== 'running') throw conflict(`the replay is ${row.state} already`);
      const at = now();
      await trx
        .updateTable('replays')
        .set({ state: 'cancelled', finished_utc: at, next_page_utc: at })
        .where('company_id', '=', companyId)
        .where('replay_id', '=', id)
        .execute();
      await writeAudit(trx, {
        companyId,
        by: byMember(call),
        action: 'replay.cancelled',
        target: { kind: 'replay', id, name: row.kind },
        after: { made: row.made, total: row.total },
        at,
      });
      return json(200, replayAnswer(await readReplay(trx, companyId, id)));
    });
    await askDispatcher(context, { companyId, replayId: id });
    return answer;
  });

/** Assumptions of the estimate: a healthy subscription's concurrency, and an attempt's duration if none was measured. */
const usualConcurrency = 16;
const usualMs = 100;

/** @throws Problem `invalid_request` if it takes too long, or there are more than a replay may deliver. */
const countCandidates = async (db: Kysely<Tables>, selection: ReplaySelection): Promise<number> => {
  const limit = maxReplayDeliveries + 1;
  const bounds = { after: 0, limit, maxMs: maxCountMs };
  const { candidates, end } = await findReplayCandidates(db, selection, bounds);
  if (candidates.length === limit)
    throw invalidField(
      'since',
      'out_of_range',
      `a replay makes at most ${maxReplayDeliveries} deliveries; choose a shorter time`,
    );
  if (!end)
    throw invalidField('since', 'out_of_range', 'there is too much to look through; choose a shorter time');
  return candidates.length;
};

const maxCountMs = 10_000;

type ReplayWish = BodyOf<(typeof contract)['previewReplay']>;

const selectionOf = (
  companyId: number,
  wish: ReplayWish,
  { event_types, conditions }: Pick<SubscriptionRecord, 'event_types' | 'conditions'>,
  startedUtc: Date,
): ReplaySelection => {
  const until = wish.until !== undefined && wish.until < startedUtc ? wish.until : startedUtc;
  if (wish.since !== undefined && wish.since >= until)
    throw wish.since >= startedUtc
      ? invalidField('since', 'out_of_range', 'since must not be in the future')
      : invalidField('until', 'must_agree', 'until must be after since');
  const types = wish.kind === 'missed' ? (wish.types ?? event_types) : wish.types;
  return {
    companyId,
    subscriptionId: wish.subscriptionId,
    since: wish.since ?? new Date(0),
    until,
    types: types && [...new Set(types)],
    conditions,
    states: wish.kind === 'missed' ? null : wish.kind === 'failed' ? ['failed'] : [...new Set(wish.states)],
    statusCodes: wish.statusCodes,
    errorClasses: wish.errorClasses,
    startedUtc,
  };
};
