import type { contract } from '@causeway/proto';
import { type Answer, json, type OperationCall } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { changeSubscription } from '../subscriptions/update-subscription.ts';
import { portalSubscription } from './record.ts';

type SwitchCall = OperationCall<(typeof contract)['enablePortalSubscription' | 'disablePortalSubscription']>;

/** Enables or disables a subscription, including one that a tool manages. */
export const switchSubscription = async (
  context: WebhooksContext,
  call: SwitchCall,
  enabled: boolean,
): Promise<Answer> => {
  const { companyId } = call;
  const id = call.id('subscription');
  const editor = throughPortal(call);
  const record = await changeSubscription(context, editor, companyId, id, { enabled }, call.deadlineMs);
  return json(200, await portalSubscription(context, companyId, record));
};
