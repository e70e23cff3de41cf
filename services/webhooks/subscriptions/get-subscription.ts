import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscription, subscriptionAnswer } from './record.ts';

export const getSubscription = ({ db }: WebhooksContext) =>
  handler(contract.getSubscription, async (call) => {
    const { companyId } = call;
    const id = call.id('subscription');
    return json(200, subscriptionAnswer(await readSubscription(db, companyId, id)));
  });
