import { conflict, portalContract } from '@causeway/proto';
import { type Handler, json, type PortalCall, portalHandler, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { assertNoOther, assertOn, beginReplay } from '../replays/begin.ts';
import { replayAnswer } from '../replays/record.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import { heldOf } from './countHeld.ts';

export const releaseHeld = (context: WebhooksContext): Handler =>
  portalHandler(portalContract.releaseHeld, (call) => seeToHeld(context, call, 'release'));

/** Begins to release or to drop what is held; the replayer does it page by page. */
export const seeToHeld = async (
  { db, now }: WebhooksContext,
  call: PortalCall<(typeof portalContract)['releaseHeld' | 'dropHeld']>,
  kind: 'release' | 'drop',
) => {
  const { companyId } = call;
  const id = call.id('subscription');
  const replay = await transaction(db, async (trx) => {
    const subscription = await lockSubscription(trx, companyId, id);
    // Whoever is off would have them held again.
    if (kind === 'release') assertOn(subscription);
    await assertNoOther(trx, subscription, kind);
    const total = await heldOf(trx, companyId, id);
    if (total === 0) throw conflict('nothing is held');
    return beginReplay(trx, subscription, { kind, filter: '{}', total }, { call, now: now() });
  });
  return json(201, replayAnswer(replay));
};
