import type { SubscriptionRow } from '@causeway/proto';
import { raiseSubscriptionsVersion, transaction } from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import { auditChange } from '../subscriptions/audit-change.ts';
import type { Editor } from '../subscriptions/editor.ts';
import { noteChange } from '../subscriptions/note-change.ts';
import { noteMissedWhileOff } from '../subscriptions/note-missed-while-off.ts';
import { findSubscription, readSubscription } from '../subscriptions/record.ts';
import { sendChallenge } from './send-challenge.ts';

/**
 * Sends a challenge and enables the subscription if its receiver echoes it. The result counts only for the URL that was
 * called, and only while the subscription still waits as it did: a change in the meantime wins.
 * @returns why the receiver did not prove itself, as a sentence; null if it did.
 * @throws Problem if no challenge was sent, or the subscription is gone.
 */
export const verifyEndpoint = async (
  context: VerificationContext,
  editor: Editor,
  subscription: Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'verification'>,
  deadlineMs: number,
): Promise<string | null> => {
  const { company_id, subscription_id, verification } = subscription;
  const { url, failure } = await sendChallenge(context, subscription, deadlineMs);
  const at = context.now();
  await transaction(context.db, async (trx) => {
    const before = await findSubscription(trx, company_id, subscription_id);
    const { numUpdatedRows } = await trx
      .updateTable('subscriptions')
      .set(failure === null ? verified(at) : { challenged_utc: at, challenge_failure: failure })
      .where('company_id', '=', company_id)
      .where('subscription_id', '=', subscription_id)
      .where('url', '=', url)
      .where('verification', '=', verification)
      .executeTakeFirstOrThrow();
    if (!before || numUpdatedRows === 0n || failure !== null) return;
    await noteChange(trx, subscription, 'enabled', at);
    await noteMissedWhileOff(trx, before, at);
    const record = await readSubscription(trx, company_id, subscription_id);
    await auditChange(trx, editor, 'subscription.verified', record, {
      before: { enabled: false },
      after: { enabled: true },
      at,
    });
    await raiseSubscriptionsVersion(trx, [company_id]);
  });
  if (failure === null)
    void askDispatcher(context, { companyId: company_id, subscriptionId: subscription_id });
  return failure;
};

export type VerificationContext = Pick<WebhooksContext, 'bus' | 'db' | 'log' | 'tracer' | 'now' | 'random'>;

const verified = (at: Date) => ({
  enabled: 1,
  disabled_reason: null,
  disabled_utc: null,
  auto_disabled: 0,
  verification: null,
  challenged_utc: null,
  challenge_failure: null,
  updated_utc: at,
});
