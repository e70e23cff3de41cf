import { contract } from '@causeway/proto';
import { handler, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { resetMissed } from '../replays/missed.ts';
import { auditChange } from '../subscriptions/audit-change.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { lockSubscription } from '../subscriptions/record.ts';

export const dismissMissedEvents = (context: WebhooksContext) =>
  handler(contract.dismissMissedEvents, async (call) => {
    const { companyId } = call;
    await transaction(context.db, async (trx) => {
      const subscription = await lockSubscription(trx, companyId, call.id('subscription'));
      const since = new Date(0);
      const count = await resetMissed(trx, {
        companyId,
        subscriptionId: subscription.subscription_id,
        since,
      });
      if (count === 0n) return;
      await auditChange(trx, throughPortal(call), 'missed.dismissed', subscription, { at: context.now() });
    });
    return { status: 204, body: null };
  });
