import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { addSubscription } from '../subscriptions/create-subscription.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { portalSubscription } from './record.ts';

export const createPortalSubscription = (context: WebhooksContext) =>
  handler(contract.createPortalSubscription, (call) => {
    const { companyId, identity } = call;
    const wanted = { companyId, identity, body: { ...call.body, managedBy: null } };
    return addSubscription(context, throughPortal(call), wanted, async ({ record, secret }, trx) => {
      const shown = await portalSubscription({ db: trx, now: context.now }, companyId, record);
      return json(201, { ...shown, signingSecret: secret });
    });
  });
