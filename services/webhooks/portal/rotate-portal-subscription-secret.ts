import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { rotateSecret } from '../subscriptions/rotate-subscription-secret.ts';
import { portalSubscription } from './record.ts';

export const rotatePortalSubscriptionSecret = (context: WebhooksContext) =>
  handler(contract.rotatePortalSubscriptionSecret, async (call) => {
    const { companyId, body } = call;
    const id = call.id('subscription');
    const { record, secret } = await rotateSecret(context, throughPortal(call), companyId, id, body);
    return json(200, { ...(await portalSubscription(context, companyId, record)), signingSecret: secret });
  });
