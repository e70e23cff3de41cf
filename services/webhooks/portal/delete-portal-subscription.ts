import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { removeSubscription } from '../subscriptions/delete-subscription.ts';
import { throughPortal } from '../subscriptions/editor.ts';

export const deletePortalSubscription = (context: WebhooksContext) =>
  handler(contract.deletePortalSubscription, (call) =>
    removeSubscription(context, throughPortal(call), call),
  );
