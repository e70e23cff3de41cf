import { deliveryPorts, hostProblem, portProblem, raiseSubscriptionsVersion } from '@causeway/deliveries';
import {
  contract,
  type Detail,
  invalidField,
  Problem,
  parseBody,
  quotaExceeded,
  unverifiedReason,
} from '@causeway/proto';
import { type Answer, handler, json, type OperationCall, type Trx } from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import { auditChange, editable } from '../audit.ts';
import type { TargetRules, WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { disabledThrough, type Editor, noteChange, throughApi, throughPortal } from './editor.ts';
import { portalSubscription } from './read.ts';
import { lockSubscription, readSubscription, subscriptionAnswer } from './record.ts';
import { makeSecret, type SubscriptionWithSecret } from './secrets.ts';
import { verifiesEndpoints } from './verification.ts';

export const createSubscription = (context: WebhooksContext) =>
  handler(
    contract.createSubscription,
    (call) =>
      addSubscription(context, throughApi(call), call, async ({ record, secret }) =>
        json(201, { ...subscriptionAnswer(record), signingSecret: secret }),
      ),
    targetProblems(context.targets),
  );

export const createPortalSubscription = (context: WebhooksContext) =>
  handler(contract.createPortalSubscription, (call) => {
    const { companyId, identity } = call;
    const wanted = { companyId, identity, body: { ...call.body, managedBy: null } };
    return addSubscription(context, throughPortal(call), wanted, async ({ record, secret }, trx) => {
      const shown = await portalSubscription({ db: trx, now: context.now }, companyId, record);
      return json(201, { ...shown, signingSecret: secret });
    });
  });

/**
 * Creates a subscription; a dispatcher makes its queue. If the company requires endpoint verification, the subscription is
 * disabled until its receiver echoes a challenge, which is sent after the commit: the create does not wait for it.
 * @param answerOf makes the answer, in the transaction. The secret is shown nowhere else.
 * @throws Problem
 */
const addSubscription = async (
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

export const deleteSubscription = (context: WebhooksContext) =>
  handler(contract.deleteSubscription, (call) => removeSubscription(context, throughApi(call), call));

export const deletePortalSubscription = (context: WebhooksContext) =>
  handler(contract.deletePortalSubscription, (call) =>
    removeSubscription(context, throughPortal(call), call),
  );

/**
 * Deletes a subscription, including one that a tool manages. The dispatchers drop its waiting deliveries and remove its
 * queue.
 * @throws Problem `not_found`
 */
const removeSubscription = (
  context: WebhooksContext,
  editor: Editor,
  call: OperationCall<(typeof contract)['deleteSubscription' | 'deletePortalSubscription']>,
): Promise<Answer> => {
  const { companyId, identity } = call;
  const subscriptionId = call.id('subscription');
  return context.once.carryOut(identity, async (trx) => {
    const row = await lockSubscription(trx, companyId, subscriptionId);
    await trx
      .deleteFrom('subscriptions')
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    await trx
      .deleteFrom('missed_events')
      .where('company_id', '=', companyId)
      .where('subscription_id', '=', subscriptionId)
      .execute();
    const at = context.now();
    await auditChange(trx, editor, 'subscription.deleted', row, { before: editable(row), at });
    await noteChange(trx, row, 'deleted', at);
    trx.onCommit(() => askDispatcher(context, { companyId, subscriptionId }));
    await raiseSubscriptionsVersion(trx, [companyId]);
    return { status: 204, body: null };
  });
};

/** Answers the error that creating a subscription with this URL would give, in the same words. */
export const checkSubscriptionUrl = ({ targets }: WebhooksContext) =>
  handler(contract.checkSubscriptionUrl, async ({ body }) => {
    try {
      parseBody(contract.updatePortalSubscription, Buffer.from(JSON.stringify(body)));
      assertTarget(targets, body.url);
      return json(200, { problem: null });
    } catch (error) {
      if (error instanceof Problem && error.code === 'invalid_request')
        return json(200, { problem: error.publicMessage });
      throw error;
    }
  });

/**
 * Refuses a URL that this installation does not deliver to. Every attempt checks the host again, and the address that
 * it resolves to.
 * @throws Problem
 */
export const assertTarget = (rules: TargetRules, url: string): void => {
  const { allowHttp, allowPrivate } = rules;
  const target = new URL(url);
  const { protocol, hostname } = target;
  if (protocol === 'http:' && !allowHttp)
    throw invalidField('url', 'invalid URL: it must begin with https://');
  const closed = portProblem(target, deliveryPorts(rules.ports, rules));
  if (closed) throw invalidField('url', `invalid URL: the port is ${closed}`);
  const problem = allowPrivate ? undefined : hostProblem(hostname);
  if (problem) throw invalidField('url', `invalid URL: the host is ${problem}`);
};

/** The same check for a call that may have other problems too: the error lists all of them. */
export const targetProblems =
  (rules: TargetRules) =>
  ({ url }: { readonly url?: string | undefined }): readonly Detail[] => {
    if (url === undefined) return [];
    try {
      assertTarget(rules, url);
      return [];
    } catch (error) {
      if (error instanceof Problem && error.details) return error.details;
      throw error;
    }
  };
