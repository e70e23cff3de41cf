import { contract, quotaExceeded, unverifiedReason } from '@causeway/proto';
import {
  type Answer,
  handler,
  json,
  type OperationCall,
  raiseSubscriptionsVersion,
  type Trx,
} from '@causeway/runtime';
import { askDispatcher } from '../ask-dispatcher.ts';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { verifiesEndpoints } from '../verification/verifies-endpoints.ts';
import { auditChange, editable } from './audit-change.ts';
import { type Editor, throughApi } from './editor.ts';
import { noteChange } from './note-change.ts';
import { readSubscription, type SubscriptionRecord, subscriptionAnswer } from './record.ts';
import { makeSecret } from './secret.ts';
import { assertTarget, targetProblems } from './target.ts';

export const createSubscription = (context: WebhooksContext) =>
  handler(
    contract.createSubscription,
    (call) =>
      addSubscription(context, throughApi(call), call, async ({ record, secret }) =>
        json(201, { ...subscriptionAnswer(record), signingSecret: secret }),
      ),
    targetProblems(context.targets),
  );

/**
 * Creates a subscription; a dispatcher makes its queue. If the company requires endpoint verification, the subscription is
 * disabled until its receiver echoes a challenge, which is sent after the commit: the create does not wait for it.
 * @param answerOf makes the answer, in the transaction. The secret is shown nowhere else.
 * @throws Problem
 */
export const addSubscription = async (
  context: WebhooksContext,
  editor: Editor,
  { companyId, body, identity }: NewSubscription,
  answerOf: (made: SubscriptionWithSecret, trx: Trx<Tables>) => Promise<Answer>,
): Promise<Answer> => {
  assertTarget(context.targets, body.url);
  const secret = makeSecret(context, companyId);
  const now = context.now();
  return context.once.carryOut(identity, async (trx) => {
    await assertRoom(trx, companyId, context.quotas.subscriptions);
    const unverified = await verifiesEndpoints(trx, companyId);
    const enabled = body.enabled && !unverified;
    const { insertId } = await trx
      .insertInto('subscriptions')
      .values({
        company_id: companyId,
        name: body.name ?? null,
        description: body.description ?? null,
        url: body.url,
        event_types: JSON.stringify(body.eventTypes),
        enabled: enabled ? 1 : 0,
        managed_by: body.managedBy ?? null,
        disabled_reason: enabled ? null : body.enabled ? unverifiedReason : disabledThrough(editor),
        disabled_utc: enabled ? null : now,
        verification: unverified ? (body.enabled ? 'pending' : 'required') : null,
        secret: secret.sealed,
        previous_secret: null,
        previous_secret_until: null,
        created_utc: now,
        updated_utc: now,
      })
      .executeTakeFirstOrThrow();
    const subscriptionId = Number(insertId);
    const key = { company_id: companyId, subscription_id: subscriptionId };
    await noteChange(trx, key, 'created', now);
    const record = await readSubscription(trx, companyId, subscriptionId);
    await auditChange(trx, editor, 'subscription.created', record, { after: editable(record), at: now });
    const answer = await answerOf({ record, secret: secret.shown }, trx);
    trx.onCommit(() => {
      if (record.verification === 'pending') context.challenges.send(editor, record);
      return askDispatcher(context, { companyId, subscriptionId });
    });
    await raiseSubscriptionsVersion(trx, [companyId]);
    return answer;
  });
};

type NewSubscription = Pick<
  OperationCall<(typeof contract)['createSubscription']>,
  'companyId' | 'body' | 'identity'
>;

export interface SubscriptionWithSecret {
  readonly record: SubscriptionRecord;
  readonly secret: string;
}

export const disabledThrough = ({ name }: Editor): string => `disabled through ${name}`;

/**
 * Checks the quota of subscriptions. Locks the company's row first, so that concurrent creates cannot exceed the quota
 * (contract, "Quotas").
 * @throws Problem `quota_exceeded`
 */
const assertRoom = async (trx: Trx<Tables>, companyId: number, limit: number): Promise<void> => {
  await trx
    .insertInto('webhook_companies')
    .values({ company_id: companyId, subscriptions_created: 1 })
    .onDuplicateKeyUpdate(({ eb }) => ({ subscriptions_created: eb('subscriptions_created', '+', 1) }))
    .execute();
  const { made } = await trx
    .selectFrom('subscriptions')
    .select((eb) => eb.fn.countAll<number>().as('made'))
    .where('company_id', '=', companyId)
    .executeTakeFirstOrThrow();
  if (made >= limit)
    throw quotaExceeded(
      'subscriptions',
      limit,
      `the company has reached its quota of ${limit} subscriptions; delete one that is not needed`,
    );
};
