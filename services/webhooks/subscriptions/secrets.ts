import { raiseSubscriptionsVersion, type SubscriptionRow } from '@causeway/deliveries';
import { definitions, stateConflict } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import { assertEditable, editorOf } from './editor.ts';
import { shownTo } from './read.ts';
import { lockSubscription, readSubscription } from './record.ts';
import { sealGiven } from './seal.ts';

/**
 * During an overlap, the previous secret signs too. A subscription has at most one, so a rotation within an
 * overlap is refused unless `overlapHours` is 0, which ends every earlier secret (contract, "Subscriptions").
 */
export const rotateSubscriptionSecret = (context: WebhooksContext) =>
  handler(definitions.rotateSubscriptionSecret, (call) => {
    const { companyId, identity } = call;
    const { overlapHours } = call.body;
    const editor = editorOf(call);
    const subscriptionId = call.id('subscription');
    const secret = makeSecret(context, companyId);
    return context.once.carryOut(identity, async (trx) => {
      const before = await lockSubscription(trx, companyId, subscriptionId);
      assertEditable(before, editor, ['secret']);
      const now = context.now();
      if (overlapHours !== 0) assertNoOverlap(before, now);
      await trx
        .updateTable('subscriptions')
        .set({
          secret: secret.sealed,
          previous_secret: overlapHours ? before.secret : null,
          previous_secret_until: overlapHours ? new Date(now.getTime() + overlapHours * 3_600_000) : null,
          updated_utc: now,
        })
        .where('company_id', '=', companyId)
        .where('subscription_id', '=', subscriptionId)
        .execute();
      await auditChange(trx, editor, 'subscription.secret_rotated', before, {
        after: { overlapHours: overlapHours ?? null },
        at: now,
      });
      const record = await readSubscription(trx, companyId, subscriptionId);
      const shown = await shownTo(call, { ...context, db: trx }, record);
      await raiseSubscriptionsVersion(trx, [companyId]);
      return json(200, { ...shown, signingSecret: secret.shown });
    });
  });

/** @throws Problem `state_conflict` with `previousSecretUntil` */
const assertNoOverlap = (
  { previous_secret_until: until }: Pick<SubscriptionRow, 'previous_secret_until'>,
  now: Date,
): void => {
  if (until === null || until <= now) return;
  const previousSecretUntil = until.toISOString();
  throw stateConflict(
    `the previous secret is valid until ${previousSecretUntil}; rotate after that, or send overlapHours 0 to end it now`,
    { previousSecretUntil },
  );
};

/** The text is shown once, the sealed form is stored. @throws Problem `secret_encryption_failed` */
export const makeSecret = (
  { keyRing, random }: Pick<WebhooksContext, 'keyRing' | 'random'>,
  companyId: number,
): { readonly shown: string; readonly sealed: Buffer } => {
  const shown = `whsec_${Buffer.from(random(secretBytes)).toString('base64')}`;
  return { shown, sealed: sealGiven({ keyRing }, companyId, shown) };
};

const secretBytes = 32;
