import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscription } from '../subscriptions/record.ts';
import { portalSubscription } from './record.ts';

export const getPortalSubscription = (context: WebhooksContext) =>
  handler(contract.getPortalSubscription, async (call) => {
    const { companyId } = call;
    const record = await readSubscription(context.db, companyId, call.id('subscription'));
    return json(200, await portalSubscription(context, companyId, record));
  });
