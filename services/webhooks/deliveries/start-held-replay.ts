import type { Problem, ReplayRow } from '@causeway/proto';
import type { Answer, Identity } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { assertNoOther, assertOn, beginReplay } from '../replays/begin.ts';
import type { Editor } from '../subscriptions/editor.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import { countHeldRows } from './count-held-rows.ts';

/**
 * Starts releasing or dropping the held deliveries of a subscription; the dispatchers do it page by page.
 * @param answerOf makes the answer, in the transaction; its argument is undefined if nothing is held
 * @throws Problem `not_found`, or the one that `refuse` makes
 */
export const startHeldReplay = (
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
