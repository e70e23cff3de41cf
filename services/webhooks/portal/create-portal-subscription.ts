import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { addSubscription } from '../subscriptions/create-subscription.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { portalSubscription } from './record.ts';

export const createPortalSubscription = (context: WebhooksContext) =>
  handler(contract.createPortalSubscription, async (call) => {
    const { companyId, body } = call;
    const given = { ...body, managedBy: null };
    const { record, secret } = await addSubscription(context, throughPortal(call), companyId, given);
    return json(201, { ...(await portalSubscription(context, companyId, record)), signingSecret: secret });
  });
