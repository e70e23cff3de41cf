import { contract } from '@causeway/proto';
import { type Answer, handler, type OperationCall, raiseSubscriptionsVersion } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { auditChange, editable } from './audit-change.ts';
import { type Editor, throughApi } from './editor.ts';
import { noteChange } from './note-change.ts';
import { lockSubscription } from './record.ts';

export const deleteSubscription = (context: WebhooksContext) =>
  handler(contract.deleteSubscription, (call) => removeSubscription(context, throughApi(call), call));

/**
 * Deletes a subscription, including one that a tool manages. The dispatchers drop its waiting deliveries and remove its
 * queue.
 * @throws Problem `not_found`
 */
export const removeSubscription = (
  context: WebhooksContext,
  editor: Editor,
  call: OperationCall<(typeof contract)['deleteSubscription' | 'deletePortalSubscription']>,
): Promise<Answer> => {
  const { companyId, identity } = call;
  const subscriptionId = call.id('subscription');
  return context.once.carryOut(identity, async (trx) => {
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
    trx.onCommit(() => askDispatcher(context, { companyId, subscriptionId }));
    await raiseSubscriptionsVersion(trx, [companyId]);
    return { status: 204, body: null };
  });
};
