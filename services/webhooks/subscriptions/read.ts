import { type AnswerTo, type Contract, contract, definitions, type QueryOf } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { readDeliveries } from '../deliveries/list.ts';
import { keyDeliveryAnswer } from '../deliveries/record.ts';
import { readUndelivered, sumOfUndelivered } from '../deliveries/undelivered.ts';
import type { Tables } from '../tables.ts';
import {
  readSubscription,
  readSubscriptions,
  type SubscriptionRecord,
  subscriptionAnswer,
} from './record.ts';

export const listSubscriptions = (context: WebhooksContext) =>
  handler(definitions.listSubscriptions, async ({ companyId, query, ...call }) => {
    const { cursors, db } = context;
    if (call.audience === 'member') {
      const subscriptions = await portalSubscriptions(
        context,
        companyId,
        await readSubscriptions(db, companyId),
      );
      return json(200, { subscriptions, count: subscriptions.length });
    }
    const { limit, cursor } = query as QueryOf<Contract['listSubscriptions']>;
    const [after] = await cursors.open(companyId, 'subscriptions', cursor);
    const records = await readSubscriptions(db, companyId, { after, limit: limit + 1 });
    const shown = records.slice(0, limit);
    const last = records.length > limit ? shown.at(-1) : undefined;
    return json(200, {
      ...{ subscriptions: shown.map(subscriptionAnswer), count: shown.length },
      ...(await cursors.pageEnd(companyId, 'subscriptions', last && [last.subscription_id])),
    });
  });

export const getSubscription = (context: WebhooksContext) =>
  handler(definitions.getSubscription, async (call) =>
    json(
      200,
      await shownTo(
        call,
        context,
        await readSubscription(context.db, call.companyId, call.id('subscription')),
      ),
    ),
  );

export const listSubscriptionDeliveries = (context: WebhooksContext) =>
  handler(contract.listSubscriptionDeliveries, async (call) => {
    const { companyId, query } = call;
    const { state, limit, cursor } = query;
    const subscription = await readSubscription(context.db, companyId, call.id('subscription'));
    const filter = { subscriptionId: subscription.subscription_id, state };
    const page = await readDeliveries(context, companyId, { filter, limit, cursor });
    return json(200, { ...page, deliveries: page.deliveries.map(keyDeliveryAnswer) });
  });

export const shownTo = async (
  { audience, companyId }: { readonly audience: 'key' | 'member'; readonly companyId: number },
  context: Reading,
  record: SubscriptionRecord,
) =>
  audience === 'key'
    ? subscriptionAnswer(record)
    : (await portalSubscriptions(context, companyId, [record]))[0]!;

type PortalSubscription = AnswerTo<'listPortalSubscriptions'>['subscriptions'][number];

interface Reading {
  readonly db: Kysely<Tables>;
  readonly now: () => Date;
}

const hourMs = 3_600_000;
/** How far back to search for the last success and failure. */
const lookBackMs = 7 * 24 * hourMs;

export const portalSubscriptions = async (
  { db, now }: Reading,
  companyId: number,
  records: readonly SubscriptionRecord[],
): Promise<PortalSubscription[]> => {
  if (records.length === 0) return [];
  const ids = records.map((record) => record.subscription_id);
  const at = now();
  const [outcomes, undelivered] = await Promise.all([
    readOutcomes(db, companyId, ids, at),
    readUndelivered(db, companyId, ids.length === 1 ? { subscriptionId: ids[0] } : {}),
  ]);
  const groups = Map.groupBy(undelivered, ({ subscriptionId }) => subscriptionId);
  return records.map((record) => {
    const outcome = outcomes.get(record.subscription_id);
    const open = groups.get(record.subscription_id) ?? [];
    const { oldestUtc, ...sum } = sumOfUndelivered(open);
    const missed = open.find(({ state }) => state === 'missed');
    const countOf = (wanted: 'waiting' | 'failed') => open.find(({ state }) => state === wanted)?.count ?? 0;
    const { createdUtc, updatedUtc, ...shown } = subscriptionAnswer(record);
    const until = record.previous_secret_until;
    return {
      ...shown,
      eventTypes: [...shown.eventTypes],
      createdUtc: createdUtc.toISOString(),
      updatedUtc: updatedUtc.toISOString(),
      disabledUtc: record.disabled_utc?.toISOString() ?? null,
      autoDisabled: record.auto_disabled === 1,
      expiresUtc: record.expires_utc?.toISOString() ?? null,
      verification: record.verification && {
        state: record.verification,
        challengedUtc: record.challenged_utc?.toISOString() ?? null,
        failure: record.challenge_failure,
      },
      pausedUtc: record.paused_utc?.toISOString() ?? null,
      pausedBy: record.paused_by,
      // Only while the previous secret still signs.
      previousSecretUntilUtc: until && until > at ? until.toISOString() : null,
      failedAttempts: record.failed_attempts,
      missed: missed ? { count: missed.count, sinceUtc: missed.oldestUtc.toISOString() } : null,
      health: {
        succeeded24h: Number(outcome?.succeeded ?? 0),
        failed24h: Number(outcome?.failed ?? 0),
        held: record.held_deliveries,
        waiting: countOf('waiting'),
        givenUp: countOf('failed'),
        undelivered: { ...sum, oldestUtc: oldestUtc?.toISOString() ?? null },
        lastSuccessUtc: outcome?.last_success?.toISOString() ?? null,
        lastFailureUtc: outcome?.last_failure?.toISOString() ?? null,
      },
    };
  });
};

export const readOutcomes = async (
  db: Kysely<Tables>,
  companyId: number,
  ids: readonly number[],
  at: Date,
) => {
  const day = new Date(at.getTime() - 24 * hourMs);
  const rows = await db
    .selectFrom('delivery_minutes')
    .select([
      'subscription_id',
      sql<number>`SUM(IF(minute_utc >= ${day}, succeeded, 0))`.as('succeeded'),
      sql<number>`SUM(IF(minute_utc >= ${day}, failed, 0))`.as('failed'),
      sql<Date | null>`MAX(IF(succeeded > 0, minute_utc, NULL))`.as('last_success'),
      sql<Date | null>`MAX(IF(failed > 0, minute_utc, NULL))`.as('last_failure'),
    ])
    .where('company_id', '=', companyId)
    .where('minute_utc', '>=', new Date(at.getTime() - lookBackMs))
    .where('subscription_id', 'in', ids)
    .groupBy('subscription_id')
    .execute();
  return new Map(rows.map((row) => [row.subscription_id, row]));
};
