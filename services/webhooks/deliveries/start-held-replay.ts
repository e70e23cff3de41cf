import type { Problem, ReplayRow } from '@causeway/proto';
import { transaction } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { assertNoOther, assertOn, beginReplay } from '../replays/begin.ts';
import type { Editor } from '../subscriptions/editor.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import { countHeldRows } from './count-held-rows.ts';

/**
 * Starts releasing or dropping the held deliveries of a subscription; the dispatchers do it page by page.
 * @returns undefined if nothing is held.
 * @throws Problem `not_found`, or the one that `refuse` makes
 */
export const startHeldReplay = async (
  context: WebhooksContext,
  { by }: Editor,
  { companyId, id, kind, refuse }: Wanted,
): Promise<ReplayRow | undefined> => {
  const replay = await transaction(context.db, async (trx) => {
    const subscription = await lockSubscription(trx, companyId, id);
    // Deliveries released while the subscription is disabled would be held again.
    if (kind === 'release') assertOn(subscription, refuse);
    await assertNoOther(trx, subscription, kind, refuse);
    const total = await countHeldRows(trx, companyId, id);
    if (total === 0) return undefined;
    return beginReplay(trx, subscription, { kind, filter: '{}', total }, { by, now: context.now() });
  });
  if (replay) void askDispatcher(context, { companyId, replayId: replay.replay_id });
  return replay;
};

interface Wanted {
  readonly companyId: number;
  readonly id: number;
  readonly kind: 'release' | 'drop';
  /** Makes the 409 in the calling interface's form. */
  readonly refuse: (message: string) => Problem;
}
