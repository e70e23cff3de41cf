import { contract } from '@causeway/proto';
import { type Handler, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { switchSubscription } from './switch.ts';

export const disablePortalSubscription = (context: WebhooksContext): Handler =>
  portalHandler(contract.disablePortalSubscription, (call) => switchSubscription(context, call, false));
