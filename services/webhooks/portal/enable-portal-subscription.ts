import { portalContract } from '@causeway/proto';
import { type Handler, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { switchSubscription } from './switch.ts';

export const enablePortalSubscription = (context: WebhooksContext): Handler =>
  portalHandler(portalContract.enablePortalSubscription, (call) => switchSubscription(context, call, true));
