import { raiseSubscriptionsVersion, type SubscriptionRow } from '@causeway/deliveries';
import { openSecret, type Trx } from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { disabledByMember, type Editor, noteChange, switchedOn } from './editor.ts';
import { noteMissedWhileOff } from './missed.ts';
import { readSubscription, type SubscriptionRecord } from './record.ts';
import { makeSecret } from './secrets.ts';

interface ToolSubscription {
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly managedBy: string;
}

/**
 * The subscription of the same tool with the same URL and types, in any order. Call it while the company's creates take
 * turns, so that there is at most one; the row is locked.
 */
export const findSame = async (
  trx: Trx<Tables>,
  companyId: number,
  { url, eventTypes, managedBy }: ToolSubscription,
): Promise<SubscriptionRow | undefined> => {
  const wantedTypes = [...eventTypes].sort().join();
  const rows = await trx
    .selectFrom('subscriptions')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('managed_by', '=', managedBy)
    .where('url', '=', url)
    .forUpdate()
    .execute();
  // The column ignores case.
  return rows.find(
    (row) => row.managed_by === managedBy && [...row.event_types].sort().join() === wantedTypes,
  );
};

/**
 * The key that has the subscription gets its secret again. Another key takes it over with a new secret, as if it had
 * deleted and created it: no key learns a secret that it was not told before. What Causeway has switched off, the tool
 * switches on again; what a member has, stays off.
 */
export const subscribeAgain = async (
  context: WebhooksContext,
  trx: Trx<Tables>,
  { before, editor, keyId, wantsEnabled, now }: Again,
): Promise<{ readonly record: SubscriptionRecord; readonly signingSecret: string }> => {
  const { company_id, subscription_id, verification } = before;
  const isOwn = before.key_id === keyId;
  const secret = isOwn ? undefined : makeSecret(context, company_id);
  const isOff = before.enabled === 0 && before.disabled_reason !== disabledByMember;
  const isEnabled = isOff && wantsEnabled && verification === null;
  const isChallenged = isOff && wantsEnabled && verification !== null;
  if (secret || isEnabled || isChallenged) {
    await trx
      .updateTable('subscriptions')
      .set({
        key_id: keyId,
        expires_utc: null,
        updated_utc: now,
        ...(secret && { secret: secret.sealed, previous_secret: null, previous_secret_until: null }),
        ...(isEnabled && switchedOn),
        ...(isChallenged && { verification: 'pending' as const }),
      })
      .where('company_id', '=', company_id)
      .where('subscription_id', '=', subscription_id)
      .execute();
    if (secret)
      await auditChange(trx, editor, 'subscription.secret_rotated', before, {
        after: { overlapHours: null },
        at: now,
      });
    if (isEnabled) {
      await noteChange(trx, before, 'enabled', now);
      await noteMissedWhileOff(trx, before, now);
      await auditChange(trx, editor, 'subscription.enabled', before, {
        before: { enabled: false },
        after: { enabled: true },
        at: now,
      });
    }
    await raiseSubscriptionsVersion(trx, [company_id]);
    trx.onCommit(() => {
      if (isChallenged) context.challenges.send(editor, before);
      if (isEnabled)
        return askDispatcher(context, { companyId: company_id, subscriptionId: subscription_id });
    });
  }
  return {
    record: await readSubscription(trx, company_id, subscription_id),
    signingSecret: secret?.shown ?? openSecret(context.keyRing, company_id, before.secret),
  };
};

interface Again {
  readonly before: SubscriptionRow;
  readonly editor: Editor;
  readonly keyId: number;
  readonly wantsEnabled: boolean;
  readonly now: Date;
}
