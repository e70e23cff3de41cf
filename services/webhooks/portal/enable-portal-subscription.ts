import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { switchSubscription } from './switch.ts';

export const enablePortalSubscription = (context: WebhooksContext) =>
  handler(contract.enablePortalSubscription, (call) => switchSubscription(context, call, true));
