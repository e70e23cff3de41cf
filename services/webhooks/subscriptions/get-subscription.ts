import { contract, parseCall, parseId } from '@causeway/proto';
import { each, type Handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscription, subscriptionAnswer } from './record.ts';

export const getSubscription = ({ db }: WebhooksContext): Handler =>
  each(async (call) => {
    parseCall(contract.getSubscription, call);
    const id = parseId(call.params[0], 'subscription');
    return json(200, subscriptionAnswer(await readSubscription(db, call.tenant, id)));
  });
