import { portalContract } from '@causeway/proto';
import { type Handler, portalHandler } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { seeToHeld } from './releaseHeld.ts';

export const dropHeld = (context: WebhooksContext): Handler =>
  portalHandler(portalContract.dropHeld, (call) => seeToHeld(context, call, 'drop'));
