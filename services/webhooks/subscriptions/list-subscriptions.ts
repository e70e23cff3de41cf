import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscriptions, subscriptionAnswer } from './record.ts';

export const listSubscriptions = ({ db }: WebhooksContext) =>
  handler(contract.listSubscriptions, async (call) => {
    const { companyId } = call;
    const records = await readSubscriptions(db, companyId);
    return json(200, { subscriptions: records.map(subscriptionAnswer), count: records.length });
  });
