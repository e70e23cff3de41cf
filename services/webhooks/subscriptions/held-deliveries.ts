import { type Contract, contract, stateConflict } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { startHeldReplay } from '../deliveries/start-held-replay.ts';
import { throughApi } from './editor.ts';

export const releaseHeldDeliveries = (context: WebhooksContext) =>
  decide(context, contract.releaseHeldDeliveries, 'release');
export const discardHeldDeliveries = (context: WebhooksContext) =>
  decide(context, contract.discardHeldDeliveries, 'drop');

/** Starts the release or discard and answers the number of deliveries, possibly 0. Tool-managed subscriptions too. */
const decide = <const O extends Contract['releaseHeldDeliveries' | 'discardHeldDeliveries']>(
  context: WebhooksContext,
  operation: O,
  kind: 'release' | 'drop',
) =>
  handler(operation, async (call) => {
    const { companyId, identity } = call;
    const wanted = { companyId, id: call.id('subscription'), identity, kind, refuse: stateConflict };
    return startHeldReplay(context, throughApi(call), wanted, (replay) =>
      json(202, { count: replay?.total ?? 0 }),
    );
  });
