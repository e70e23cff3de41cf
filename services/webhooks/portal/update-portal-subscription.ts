import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { changeSubscription } from '../subscriptions/update-subscription.ts';
import { portalSubscription } from './record.ts';

export const updatePortalSubscription = (context: WebhooksContext) =>
  handler(contract.updatePortalSubscription, async (call) => {
    const { companyId, body, deadlineMs } = call;
    const id = call.id('subscription');
    const record = await changeSubscription(context, throughPortal(call), companyId, id, body, deadlineMs);
    return json(200, await portalSubscription(context, companyId, record));
  });
