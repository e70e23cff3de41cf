import { type BodyOf, contract, parseCall, parseId } from '@causeway/proto';
import { each, type Handler, json, transaction } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { assertEditable, type Editor, throughApi } from './editor.ts';
import { noteChange } from './noteChange.ts';
import { lockSubscription, readSubscription, type SubscriptionRecord, subscriptionAnswer } from './record.ts';
import { makeSecret } from './secret.ts';

export const rotateSubscriptionSecret = (context: WebhooksContext): Handler =>
  each(async (call) => {
    const { body } = parseCall(contract.rotateSubscriptionSecret, call);
    const id = parseId(call.params[0], 'subscription');
    const { record, secret } = await rotateSecret(context, throughApi(call), call.tenant, id, body);
    return json(200, { ...subscriptionAnswer(record), signingSecret: secret });
  });

/**
 * Replaces the secret. With an overlap the one it had signs too until then, and one from an earlier overlap no
 * more; without, only the new one signs from here on.
 * @throws Problem
 */
export const rotateSecret = (
  context: WebhooksContext,
  editor: Editor,
  companyId: number,
  subscriptionId: number,
  { overlapHours }: BodyOf<(typeof contract)['rotateSubscriptionSecret']>,
): Promise<{ readonly record: SubscriptionRecord; readonly secret: string }> => {
  const secret = makeSecret(context, companyId);
  return transaction(context.db, async (trx) => {
    const before = await lockSubscription(trx, companyId, subscriptionId);
    assertEditable(before, editor, ['secret']);
    const now = context.now();
    await trx
      .updateTable('subscriptions')
      .set({
        secret: secret.sealed,
        previous_secret: overlapHours === undefined ? null : before.secret,
        previous_secret_until:
          overlapHours === undefined ? null : new Date(now.getTime() + overlapHours * 3_600_000),
        updated_utc: now,
      })
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    await noteChange(trx, editor, 'subscription.secret_rotated', before, {
      after: { overlapHours: overlapHours ?? null },
      at: now,
    });
    return { record: await readSubscription(trx, companyId, subscriptionId), secret: secret.shown };
  });
};
