import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { change, changeSubscription } from '../subscriptions/update-subscription.ts';
import { portalSubscription } from './record.ts';

export const updatePortalSubscription = (context: WebhooksContext) =>
  handler(contract.updatePortalSubscription, (call) => {
    const { basedOn, ...changes } = call.body;
    return changeSubscription(
      context,
      throughPortal(call),
      change(call, changes, basedOn),
      async (record, db) =>
        json(200, await portalSubscription({ db, now: context.now }, call.companyId, record)),
    );
  });
