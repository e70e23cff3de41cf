import { contract, parseCall } from '@causeway/proto';
import { each, type Handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscriptions, subscriptionAnswer } from './record.ts';

export const listSubscriptions = ({ db }: WebhooksContext): Handler =>
  each(async (call) => {
    parseCall(contract.listSubscriptions, call);
    const records = await readSubscriptions(db, call.tenant);
    return json(200, { subscriptions: records.map(subscriptionAnswer), count: records.length });
  });
