import { contract } from '@causeway/proto';
import { handler, raiseSubscriptionsVersion, transaction } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { auditChange, editable } from './audit-change.ts';
import { type Editor, throughApi } from './editor.ts';
import { noteChange } from './note-change.ts';
import { lockSubscription } from './record.ts';

export const deleteSubscription = (context: WebhooksContext) =>
  handler(contract.deleteSubscription, async (call) => {
    const { companyId } = call;
    await removeSubscription(context, throughApi(call), companyId, call.id('subscription'));
    return { status: 204, body: null };
  });

/**
 * Deletes a subscription, including one that a tool manages. The dispatchers drop its waiting deliveries and remove its
 * queue.
 * @throws Problem `not_found`
 */
export const removeSubscription = async (
  context: WebhooksContext,
  editor: Editor,
  companyId: number,
  subscriptionId: number,
): Promise<void> => {
  await transaction(context.db, async (trx) => {
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
    const at = context.now();
    await auditChange(trx, editor, 'subscription.deleted', row, { before: editable(row), at });
    await noteChange(trx, row, 'deleted', at);
    await raiseSubscriptionsVersion(trx, [companyId]);
  });
  void askDispatcher(context, { companyId, subscriptionId });
};
