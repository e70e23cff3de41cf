import { contract } from '@causeway/proto';
import { type Handler, json, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscription } from '../subscriptions/record.ts';
import { portalSubscription } from './record.ts';

export const getPortalSubscription = (context: WebhooksContext): Handler =>
  portalHandler(contract.getPortalSubscription, async (call) => {
    const { companyId } = call;
    const record = await readSubscription(context.db, companyId, call.id('subscription'));
    return json(200, await portalSubscription(context, companyId, record));
  });
