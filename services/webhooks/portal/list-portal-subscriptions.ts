import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscriptions } from '../subscriptions/record.ts';
import { portalSubscriptions } from './record.ts';

export const listPortalSubscriptions = (context: WebhooksContext) =>
  handler(contract.listPortalSubscriptions, async ({ companyId }) => {
    const records = await readSubscriptions(context.db, companyId);
    const subscriptions = await portalSubscriptions(context, companyId, records);
    return json(200, { subscriptions, count: subscriptions.length });
  });
