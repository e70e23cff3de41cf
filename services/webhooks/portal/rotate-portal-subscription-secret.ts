import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { rotateSecret } from '../subscriptions/rotate-subscription-secret.ts';
import { portalSubscription } from './record.ts';

export const rotatePortalSubscriptionSecret = (context: WebhooksContext) =>
  handler(contract.rotatePortalSubscriptionSecret, (call) =>
    rotateSecret(context, throughPortal(call), call, async ({ record, secret }, trx) => {
      const shown = await portalSubscription({ db: trx, now: context.now }, call.companyId, record);
      return json(200, { ...shown, signingSecret: secret });
    }),
  );
