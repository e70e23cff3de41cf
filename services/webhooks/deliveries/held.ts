import type { ReplayRow } from '@causeway/deliveries';
import { type Contract, conflict, contract, type Problem, stateConflict } from '@causeway/proto';
import { type Answer, handler, type Identity, json, type Trx } from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import type { WebhooksContext } from '../context.ts';
import { assertNoOther, assertOn, beginReplay, replayAnswer, selectReplays } from '../replays/begin.ts';
import { type Editor, throughApi, throughPortal } from '../subscriptions/editor.ts';
import { lockSubscription, readSubscription } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';

export const countHeld = ({ db }: WebhooksContext) =>
  handler(contract.countHeld, async (call) => {
    const { companyId } = call;
    const subscription = await readSubscription(db, companyId, call.id('subscription'));
    const running = await selectReplays(db, companyId)
      .where('subscription_id', '=', subscription.subscription_id)
      .where('state', '=', 'running')
      .where('kind', 'in', ['release', 'drop'])
      .limit(1)
      .executeTakeFirst();
    return json(200, { held: subscription.held_deliveries, replay: running ? replayAnswer(running) : null });
  });

export const releaseHeld = (context: WebhooksContext) =>
  decideAsMember(context, contract.releaseHeld, 'release');
export const discardHeld = (context: WebhooksContext) =>
  decideAsMember(context, contract.discardHeld, 'drop');

/** Starts the release or discard and answers it as a replay. Refuses if nothing is held. */
const decideAsMember = <const O extends Contract['releaseHeld' | 'discardHeld']>(
  context: WebhooksContext,
  operation: O,
  kind: 'release' | 'drop',
) =>
  handler(operation, async (call) => {
    const { companyId, identity } = call;
    const wanted = { companyId, id: call.id('subscription'), identity, kind, refuse: conflict };
    return startHeldReplay(context, throughPortal(call), wanted, (replay) => {
      if (!replay) throw conflict('nothing is held');
      return json(201, replayAnswer(replay));
    });
  });

export const releaseHeldDeliveries = (context: WebhooksContext) =>
  decideAsKey(context, contract.releaseHeldDeliveries, 'release');
export const discardHeldDeliveries = (context: WebhooksContext) =>
  decideAsKey(context, contract.discardHeldDeliveries, 'drop');

/** Starts the release or discard and answers the number of deliveries, possibly 0. Tool-managed subscriptions too. */
const decideAsKey = <const O extends Contract['releaseHeldDeliveries' | 'discardHeldDeliveries']>(
  context: WebhooksContext,
  operation: O,
  kind: 'release' | 'drop',
) =>
  handler(operation, async (call) => {
    const { companyId, identity } = call;
    const wanted = { companyId, id: call.id('subscription'), identity, kind, refuse: stateConflict };
    return startHeldReplay(context, throughApi(call), wanted, (replay) =>
      json(202, { count: replay?.total ?? 0 }),
    );
  });

/**
 * Starts releasing or dropping the held deliveries of a subscription; the dispatchers do it page by page.
 * @param answerOf makes the answer, in the transaction; its argument is undefined if nothing is held
 * @throws Problem `not_found`, or the one that `refuse` makes
 */
const startHeldReplay = (
  context: WebhooksContext,
  { by }: Editor,
  { companyId, id, identity, kind, refuse }: Wanted,
  answerOf: (replay: ReplayRow | undefined) => Answer,
): Promise<Answer> =>
  context.once.carryOut(identity, async (trx) => {
    const subscription = await lockSubscription(trx, companyId, id);
    // Deliveries released while the subscription is disabled would be held again.
    if (kind === 'release') assertOn(subscription, refuse);
    await assertNoOther(trx, subscription, kind, refuse);
    const total = await countHeldRows(trx, companyId, id);
    if (total === 0) return answerOf(undefined);
    const start = { by, now: context.now() };
    const replay = await beginReplay(trx, subscription, { kind, filter: '{}', total }, start);
    trx.onCommit(() => askDispatcher(context, { companyId, replayId: replay.replay_id }));
    return answerOf(replay);
  });

interface Wanted {
  readonly companyId: number;
  readonly id: number;
  readonly identity: Identity | undefined;
  readonly kind: 'release' | 'drop';
  /** Makes the 409 in the calling interface's form. */
  readonly refuse: (message: string) => Problem;
}

/**
 * Counts the held deliveries of a subscription, including those that are to be held because it was disabled a moment
 * ago. Takes about a second for 600,000.
 */
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
