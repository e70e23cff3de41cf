import { contract } from '@causeway/proto';
import { handler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { switchSubscription } from './switch.ts';

export const disablePortalSubscription = (context: WebhooksContext) =>
  handler(contract.disablePortalSubscription, (call) => switchSubscription(context, call, false));
