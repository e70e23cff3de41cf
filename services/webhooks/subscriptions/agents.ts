import { createHash } from 'node:crypto';
import { raiseSubscriptionsVersion, type SubscriptionRow } from '@causeway/deliveries';
import { type BodyFor, definitions, notFound, stateConflict, unverifiedReason } from '@causeway/proto';
import { handler, json, openSecret, type Trx, transaction } from '@causeway/runtime';
import { askDispatcher } from '../ask.ts';
import { auditChange, editable } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import { readDeliveries } from '../deliveries/list.ts';
import type { Tables } from '../tables.ts';
import { agentErrorOf } from './agent-errors.ts';
import { disabledByMember, type Editor, editorOf, noteChange, switchedOn } from './editor.ts';
import { noteMissedWhileOff } from './missed.ts';
import { findSubscription, readSubscription } from './record.ts';
import { sealGiven } from './seal.ts';
import { verifyAgentEndpoint } from './verification.ts';
import { assertRoom, removeSubscription, takeTurns, targetProblems } from './write.ts';

/**
 * An agent's subscription to one event type (contract, "Agents"): with a secret of the agent's, until a time that the agent
 * moves on by subscribing again. The receiver of each URL is challenged once for each key.
 */
export const subscribeAgent = (context: WebhooksContext) =>
  handler(
    definitions.subscribeAgent,
    async (call) => {
      const { companyId, keyId, body } = call;
      const agentId = agentIdOf(companyId, keyId, body);
      const editor = editorOf(call);
      const expires = new Date(context.now().getTime() + lifeMs(body.ttlMs));
      const asked: Asked = { companyId, keyId, agentId, editor, expires, ...body };
      const status = await readStatus(context, asked);
      const row = await transaction(context.db, (trx) => grant(context, trx, asked));
      if (row.verification === 'pending') {
        const error = await verifyAgentEndpoint(context, editor, row, call.deadlineMs);
        if (error) {
          await withdraw(context, asked);
          throw stateConflict(`the receiver was not verified: ${error}`, { reason: error });
        }
      }
      return json(200, { id: agentId, refreshBefore: expires.toISOString(), deliveryStatus: status });
    },
    targetProblems(context.targets),
  );

export const unsubscribeAgent = (context: WebhooksContext) =>
  handler(definitions.unsubscribeAgent, (call) => {
    const { companyId, keyId, body, identity } = call;
    const agentId = agentIdOf(companyId, keyId, body);
    return context.once.carryOut(identity, async (trx) => {
      const row = await lockAgent(trx, companyId, agentId);
      if (!row) throw notFound('subscription');
      await removeSubscription(context, trx, { row, editor: editorOf(call) });
      return { status: 204, body: null };
    });
  });

interface Asked extends Pick<BodyFor<'subscribeAgent'>, 'url' | 'secret'> {
  readonly companyId: number;
  readonly keyId: number;
  readonly agentId: string;
  readonly editor: Editor;
  readonly expires: Date;
  readonly name: SubscriptionRow['event_types'][number];
}

/** The same for the same key, URL and event type. It names the subscription and gives no right to it. */
export const agentIdOf = (
  companyId: number,
  keyId: number,
  { url, name }: { readonly url: string; readonly name: string },
): string => {
  const text = JSON.stringify([companyId, keyId, url, name]);
  return `sub_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
};

const minuteMs = 60_000;
const [shortestMs, usualMs, longestMs] = [5 * minuteMs, 24 * 60 * minuteMs, 7 * 24 * 60 * minuteMs];

const lifeMs = (wanted: number = usualMs): number => Math.min(Math.max(wanted, shortestMs), longestMs);

const lockAgent = (trx: Trx<Tables>, companyId: number, agentId: string) =>
  trx
    .selectFrom('subscriptions')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('agent_id', '=', agentId)
    .forUpdate()
    .executeTakeFirst();

const grant = async (context: WebhooksContext, trx: Trx<Tables>, asked: Asked): Promise<SubscriptionRow> => {
  const { companyId, agentId } = asked;
  await takeTurns(trx, companyId);
  const before = await lockAgent(trx, companyId, agentId);
  const isVerified = await isVerifiedFor(trx, asked);
  await (before ? renew(context, trx, asked, before, isVerified) : create(context, trx, asked, isVerified));
  await raiseSubscriptionsVersion(trx, [companyId]);
  return (await lockAgent(trx, companyId, agentId))!;
};

/** Whether the receiver has echoed a challenge to the same key, in whichever subscription that still exists. */
const isVerifiedFor = async (
  trx: Trx<Tables>,
  { companyId, keyId, url }: Pick<Asked, 'companyId' | 'keyId' | 'url'>,
): Promise<boolean> => {
  const row = await trx
    .selectFrom('subscriptions')
    .select('subscription_id')
    .where('company_id', '=', companyId)
    .where('key_id', '=', keyId)
    .where('url', '=', url)
    .where('agent_id', 'is not', null)
    .where('verification', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

const create = async (
  context: WebhooksContext,
  trx: Trx<Tables>,
  { companyId, keyId, agentId, editor, expires, url, name, secret }: Asked,
  isVerified: boolean,
): Promise<void> => {
  await assertRoom(trx, companyId, context.quotas.subscriptions);
  const now = context.now();
  const { insertId } = await trx
    .insertInto('subscriptions')
    .values({
      company_id: companyId,
      name: null,
      description: null,
      url,
      event_types: JSON.stringify([name]),
      enabled: isVerified ? 1 : 0,
      managed_by: managedByAgent,
      disabled_reason: isVerified ? null : unverifiedReason,
      disabled_utc: isVerified ? null : now,
      verification: isVerified ? null : 'pending',
      secret: sealGiven(context, companyId, secret),
      previous_secret: null,
      previous_secret_until: null,
      created_utc: now,
      updated_utc: now,
      key_id: keyId,
      agent_id: agentId,
      expires_utc: expires,
    })
    .executeTakeFirstOrThrow();
  const subscriptionId = Number(insertId);
  await noteChange(trx, { company_id: companyId, subscription_id: subscriptionId }, 'created', now);
  const record = await readSubscription(trx, companyId, subscriptionId);
  await auditChange(trx, editor, 'subscription.created', record, { after: editable(record), at: now });
  trx.onCommit(() => askDispatcher(context, { companyId, subscriptionId }));
};

const managedByAgent = 'an agent';
/** Deliveries under way verify with the secret that they were signed with. */
const overlapMs = 60 * minuteMs;

/** What Causeway has switched off, the agent switches on again; what a member has, stays off. */
const renew = async (
  context: WebhooksContext,
  trx: Trx<Tables>,
  { companyId, editor, expires, secret }: Asked,
  before: SubscriptionRow,
  isVerified: boolean,
): Promise<void> => {
  const now = context.now();
  const isNewSecret = openSecret(context.keyRing, companyId, before.secret) !== secret;
  const isWanted = before.enabled === 0 && before.disabled_reason !== disabledByMember;
  await trx
    .updateTable('subscriptions')
    .set({
      ...(isWanted &&
        (isVerified ? { ...switchedOn, verification: null } : { verification: 'pending' as const })),
      ...(isNewSecret && {
        secret: sealGiven(context, companyId, secret),
        previous_secret: before.secret,
        previous_secret_until: new Date(now.getTime() + overlapMs),
      }),
      expires_utc: expires,
      updated_utc: now,
    })
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', before.subscription_id)
    .execute();
  if (isNewSecret)
    await auditChange(trx, editor, 'subscription.secret_rotated', before, {
      after: { overlapHours: 1 },
      at: now,
    });
  if (!isWanted || !isVerified) return;
  await noteChange(trx, before, 'enabled', now);
  await noteMissedWhileOff(trx, before, now);
  const [off, on] = [{ enabled: false }, { enabled: true }];
  await auditChange(trx, editor, 'subscription.enabled', before, { before: off, after: on, at: now });
  trx.onCommit(() => askDispatcher(context, { companyId, subscriptionId: before.subscription_id }));
};

/** A subscription whose receiver did not prove itself is of no use. */
const withdraw = (context: WebhooksContext, { companyId, agentId, editor }: Asked): Promise<void> =>
  transaction(context.db, async (trx) => {
    const row = await lockAgent(trx, companyId, agentId);
    if (row?.verification === 'pending') await removeSubscription(context, trx, { row, editor });
  });

/** As it was before this call, which renews it; null if there was none. */
const readStatus = async (context: WebhooksContext, { companyId, agentId }: Asked) => {
  const known = await context.db
    .selectFrom('subscriptions')
    .select('subscription_id')
    .where('company_id', '=', companyId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  const record = known && (await findSubscription(context.db, companyId, known.subscription_id));
  if (!record) return null;
  const newest = async (state: 'succeeded' | 'undelivered') => {
    const filter = { subscriptionId: record.subscription_id, state };
    return (await readDeliveries(context, companyId, { filter, limit: 1, cursor: undefined })).deliveries[0];
  };
  const [delivered, failed] = await Promise.all([
    newest('succeeded'),
    record.failed_attempts > 0 ? newest('undelivered') : undefined,
  ]);
  return {
    active: record.enabled === 1,
    lastDeliveryAt: delivered?.updated_utc.toISOString() ?? null,
    lastError: failed?.last_error ? agentErrorOf(failed.last_error, failed.last_status) : null,
  };
};
