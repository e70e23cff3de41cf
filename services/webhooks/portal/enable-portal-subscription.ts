import { contract } from '@causeway/proto';
import { type Handler, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { switchSubscription } from './switch.ts';

export const enablePortalSubscription = (context: WebhooksContext): Handler =>
  portalHandler(contract.enablePortalSubscription, (call) => switchSubscription(context, call, true));
