import type { contract } from '@causeway/proto';
import { type Answer, json, type OperationCall } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { change, changeSubscription } from '../subscriptions/update-subscription.ts';
import { portalSubscription } from './record.ts';

type SwitchCall = OperationCall<(typeof contract)['enablePortalSubscription' | 'disablePortalSubscription']>;

/** Enables or disables a subscription, including one that a tool manages. */
export const switchSubscription = (
  context: WebhooksContext,
  call: SwitchCall,
  enabled: boolean,
): Promise<Answer> =>
  changeSubscription(context, throughPortal(call), change(call, { enabled }), async (record, db) =>
    json(200, await portalSubscription({ db, now: context.now }, call.companyId, record)),
  );
