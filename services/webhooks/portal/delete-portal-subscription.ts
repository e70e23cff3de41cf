import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { removeSubscription } from '../subscriptions/delete-subscription.ts';
import { throughPortal } from '../subscriptions/editor.ts';

export const deletePortalSubscription = (context: WebhooksContext) =>
  handler(contract.deletePortalSubscription, async (call) => {
    await removeSubscription(context, throughPortal(call), call.companyId, call.id('subscription'));
    return { status: 204, body: null };
  });
