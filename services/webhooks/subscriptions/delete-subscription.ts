import { contract } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { auditChange, editable } from './audit-change.ts';
import { type Editor, throughApi } from './editor.ts';
import { makeDue } from './hold-waiting.ts';
import { lockSubscription } from './record.ts';

export const deleteSubscription = (context: WebhooksContext) =>
  handler(contract.deleteSubscription, async (call) => {
    const { companyId } = call;
    await removeSubscription(context, throughApi(call), companyId, call.id('subscription'));
    return { status: 204, body: null };
  });

/**
 * Deletes a subscription, including one that a tool manages. Its queue stays and is due: the dispatcher that takes it
 * drops the waiting deliveries and removes it.
 * @throws Problem `not_found`
 */
export const removeSubscription = (
  { db, now }: WebhooksContext,
  editor: Editor,
  companyId: number,
  subscriptionId: number,
): Promise<void> =>
  transaction(db, async (trx) => {
    const row = await lockSubscription(trx, companyId, subscriptionId);
    await trx
      .deleteFrom('subscriptions')
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    await trx
      .deleteFrom('missed_events')
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    const at = now();
    await auditChange(trx, editor, 'subscription.deleted', row, { before: editable(row), at });
    await makeDue(trx, row, at);
  });
