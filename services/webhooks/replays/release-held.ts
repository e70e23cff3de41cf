import { conflict, definitions, stateConflict } from '@causeway/proto';
import { type Answer, handler, json, type OperationCall, type Trx } from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import type { WebhooksContext } from '../context.ts';
import { editorOf } from '../subscriptions/editor.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';
import { assertNoOther, assertOn, beginReplay, replayAnswer } from './begin.ts';

export const releaseHeldDeliveries = (context: WebhooksContext) =>
  handler(definitions.releaseHeldDeliveries, (call) => startHeldReplay(context, call, 'release'));
export const discardHeldDeliveries = (context: WebhooksContext) =>
  handler(definitions.discardHeldDeliveries, (call) => startHeldReplay(context, call, 'drop'));

type HeldCall = OperationCall<
  typeof definitions.releaseHeldDeliveries | typeof definitions.discardHeldDeliveries
>;

/** A key gets the number of held deliveries, possibly 0; a member gets a replay, or a refusal if it is 0. */
const startHeldReplay = (
  context: WebhooksContext,
  call: HeldCall,
  kind: 'release' | 'drop',
): Promise<Answer> =>
  context.once.carryOut(call.identity, async (trx) => {
    const { companyId, audience } = call;
    const refuse = audience === 'key' ? stateConflict : conflict;
    const subscription = await lockSubscription(trx, companyId, call.id('subscription'));
    // Deliveries released while the subscription is disabled would be held again.
    if (kind === 'release') assertOn(subscription, refuse);
    await assertNoOther(trx, subscription, kind, refuse);
    const total = await countHeldRows(trx, companyId, subscription.subscription_id);
    if (total === 0 && audience === 'member') throw refuse('nothing is held');
    if (total === 0) return json(202, { count: 0 });
    const start = { by: editorOf(call).by, now: context.now() };
    const replay = await beginReplay(trx, subscription, { kind, filter: '{}', total }, start);
    trx.onCommit(() => askDispatcher(context, { companyId, replayId: replay.replay_id }));
    return audience === 'key' ? json(202, { count: total }) : json(201, replayAnswer(replay));
  });

/** Includes those that are to be held because of a disabling a moment ago. Takes a second for 600,000. */
const countHeldRows = async (
  trx: Trx<Tables>,
  companyId: number,
  subscriptionId: number,
): Promise<number> => {
  const deliveries = trx
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId);
  // Locked, so that no dispatcher moves deliveries from one of the two counts to the other in between.
  const change = await trx
    .selectFrom('subscription_changes')
    .select('hold_utc')
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .forUpdate()
    .executeTakeFirst();
  const { count: held } = await deliveries.where('state', '=', 'held').executeTakeFirstOrThrow();
  if (!change?.hold_utc) return held;
  const { count: waiting } = await deliveries
    .where('state', '=', 'waiting')
    .where('created_utc', '<=', change.hold_utc)
    .executeTakeFirstOrThrow();
  return held + waiting;
};
