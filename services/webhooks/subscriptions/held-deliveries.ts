import { contract, parseCall, parseId, stateConflict } from '@causeway/proto';
import { each, type Handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { seeToHeld } from '../deliveries/see-to-held.ts';
import { throughApi } from './editor.ts';

export const releaseHeldDeliveries = (context: WebhooksContext): Handler => decide(context, 'release');
export const discardHeldDeliveries = (context: WebhooksContext): Handler => decide(context, 'drop');

/** Answers how many deliveries there are to release or discard, which may be none; a tool's own are no exception. */
const decide = (context: WebhooksContext, kind: 'release' | 'drop'): Handler =>
  each(async (call) => {
    parseCall(contract[kind === 'release' ? 'releaseHeldDeliveries' : 'discardHeldDeliveries'], call);
    const id = parseId(call.params[0], 'subscription');
    const wanted = { companyId: call.tenant, id, kind, refuse: stateConflict };
    const replay = await seeToHeld(context, throughApi(call), wanted);
    return json(202, { count: replay?.total ?? 0 });
  });
