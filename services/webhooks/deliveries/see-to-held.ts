import type { Problem, ReplayRow } from '@causeway/proto';
import { transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { assertNoOther, assertOn, beginReplay } from '../replays/begin.ts';
import type { Editor } from '../subscriptions/editor.ts';
import { lockSubscription } from '../subscriptions/record.ts';
import { countHeldRows } from './held.ts';

/**
 * Begins to release or to drop the held deliveries of a subscription; the replayer does it page by page.
 * @returns undefined where nothing is held.
 * @throws Problem `not_found`, or what `refuse` makes
 */
export const seeToHeld = (
  { db, now }: WebhooksContext,
  { by }: Editor,
  { companyId, id, kind, refuse }: Wanted,
): Promise<ReplayRow | undefined> =>
  transaction(db, async (trx) => {
    const subscription = await lockSubscription(trx, companyId, id);
    // What is released while the subscription is off would be held again.
    if (kind === 'release') assertOn(subscription, refuse);
    await assertNoOther(trx, subscription, kind, refuse);
    const total = await countHeldRows(trx, companyId, id);
    if (total === 0) return undefined;
    return beginReplay(trx, subscription, { kind, filter: '{}', total }, { by, now: now() });
  });

interface Wanted {
  readonly companyId: number;
  readonly id: number;
  readonly kind: 'release' | 'drop';
  /** Makes the 409 of the interface that asked. */
  readonly refuse: (message: string) => Problem;
}
