import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readDeliveries } from '../deliveries/list.ts';
import { keyDeliveryAnswer } from '../deliveries/record.ts';
import { readSubscription } from './record.ts';

export const listSubscriptionDeliveries = (context: WebhooksContext) =>
  handler(contract.listSubscriptionDeliveries, async (call) => {
    const { companyId, query } = call;
    const { state, limit, cursor } = query;
    const subscription = await readSubscription(context.db, companyId, call.id('subscription'));
    const filter = { subscriptionId: subscription.subscription_id, state };
    const page = await readDeliveries(context, companyId, { filter, limit, cursor });
    return json(200, { ...page, deliveries: page.deliveries.map(keyDeliveryAnswer) });
  });
