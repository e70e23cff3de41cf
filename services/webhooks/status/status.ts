import { type CompanyStatusAnswer, contract, failuresUntilProbing } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { portalSubscriptions } from '../subscriptions/read.ts';
import { readSubscriptions } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';

export const getCompanyStatus = (context: WebhooksContext) =>
  handler(contract.getCompanyStatus, async ({ body: { company_id } }) => {
    const { db } = context;
    const [records, events, due] = await Promise.all([
      readSubscriptions(db, company_id),
      readOutbox(db, company_id),
      readDue(db, company_id),
    ]);
    const waiting = await readWaiting(db, company_id, [...due.keys()]);
    const shown = await portalSubscriptions(context, company_id, records);
    const byId = new Map(records.map((record) => [record.subscription_id, record]));
    const waits = (id: number): number => waiting.get(id) ?? 0;
    const holds = (id: number): number => byId.get(id)?.held_deliveries ?? 0;
    const longest = shown
      .toSorted(
        (one, other) =>
          waits(other.id) + holds(other.id) - waits(one.id) - holds(one.id) || one.id - other.id,
      )
      .slice(0, maxSubscriptions);
    const answer: CompanyStatusAnswer = {
      company_id,
      now_utc: db.now().toISOString(),
      events,
      total: shown.length,
      subscriptions: await Promise.all(
        longest.map(async ({ id, url, enabled, disabledReason, health, missed }) => ({
          subscription_id: id,
          origin: new URL(url).origin,
          enabled,
          disabled_reason: disabledReason,
          consecutive_failures: byId.get(id)?.consecutive_failures ?? 0,
          waiting: waits(id),
          held: holds(id),
          missed: missed?.count ?? 0,
          succeeded_24h: health.succeeded24h,
          failed_24h: health.failed24h,
          last_success_utc: health.lastSuccessUtc,
          next_due_utc: due.get(id)?.toISOString() ?? null,
          oldest: waits(id) === 0 ? null : await readOldest(db, company_id, id),
        })),
      ),
    };
    return json(200, answer);
  });

const maxSubscriptions = 50;

const readWaiting = async (db: Kysely<Tables>, companyId: number, ids: readonly number[]) => {
  if (ids.length === 0) return new Map<number, number>();
  const rows = await db
    .selectFrom('deliveries')
    .select((eb) => ['subscription_id', eb.fn.countAll<number>().as('count')])
    .where('company_id', '=', companyId)
    .where('subscription_id', 'in', ids)
    .where('state', '=', 'waiting')
    .groupBy('subscription_id')
    .execute();
  return new Map(rows.map((row) => [row.subscription_id, Number(row.count)]));
};

const readOutbox = async (db: Kysely<Tables>, companyId: number) => {
  const { waiting, oldest } = await db
    .selectFrom('event_outbox')
    .select((eb) => [eb.fn.countAll<number>().as('waiting'), eb.fn.min('created_utc').as('oldest')])
    .where('company_id', '=', companyId)
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting), oldest_utc: oldest?.toISOString() ?? null };
};

const readDue = async (db: Kysely<Tables>, companyId: number): Promise<ReadonlyMap<number, Date | null>> => {
  const rows = await db
    .selectFrom('delivery_queues')
    .select(['subscription_id', 'next_due_utc'])
    .where('company_id', '=', companyId)
    .execute();
  return new Map(rows.map((row) => [row.subscription_id, row.next_due_utc]));
};

const readOldest = async (db: Kysely<Tables>, companyId: number, subscriptionId: number) => {
  const row = await db
    .selectFrom('deliveries')
    .select(['event_id', 'created_utc', 'due_utc', 'attempts', 'last_status', 'last_error'])
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'waiting')
    .orderBy('due_utc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const { created_utc, due_utc, ...shown } = row;
  return { ...shown, created_utc: created_utc.toISOString(), due_utc: due_utc?.toISOString() ?? null };
};

/** Every page asks for this, so it reads no deliveries. */
export const getAttention = ({ db }: WebhooksContext) =>
  handler(contract.getAttention, async ({ companyId }) => {
    const [records, missed] = await Promise.all([
      readSubscriptions(db, companyId),
      db
        .selectFrom('missed_events')
        .select(['subscription_id', 'missed'])
        .where('company_id', '=', companyId)
        .execute(),
    ]);
    const missedBy = new Map(missed.map((row) => [row.subscription_id, row.missed]));
    const undecided = records
      .filter(({ enabled }) => enabled === 1)
      .map((one) => ({
        held: one.held_deliveries,
        missed: missedBy.get(one.subscription_id) ?? 0,
      }))
      .filter(({ held, missed }) => held + missed > 0);
    const unverified = records.filter(({ verification }) => verification === 'pending');
    const off = records.filter((one) => one.enabled === 0 && one.auto_disabled === 1);
    return json(200, {
      offCount: off.length,
      onlyOffId: off.length === 1 ? off[0]!.subscription_id : null,
      failingCount: records.filter(
        (one) => one.enabled === 1 && one.consecutive_failures >= failuresUntilProbing,
      ).length,
      unverifiedCount: unverified.length,
      undecided: {
        subscriptions: undecided.length,
        held: undecided.reduce((sum, one) => sum + one.held, 0),
        missed: undecided.reduce((sum, one) => sum + one.missed, 0),
      },
    });
  });

/** Test deliveries have no rows, so those sent from the portal are found in the audit log. */
export const getFirstDeliverySteps = ({ db }: WebhooksContext) =>
  handler(contract.getFirstDeliverySteps, async ({ companyId }) => {
    const [subscription, test, delivery] = await Promise.all([
      db
        .selectFrom('subscriptions')
        .select((eb) => eb.fn.min('created_utc').as('first'))
        .where('company_id', '=', companyId)
        .executeTakeFirst(),
      db
        .selectFrom('audit_log')
        .select('created_utc as first')
        .where('company_id', '=', companyId)
        .where('action', '=', 'subscription.tested')
        .where(sql<boolean>`JSON_EXTRACT(after_json, '$.success') = true`)
        .orderBy('audit_id')
        .limit(1)
        .executeTakeFirst(),
      db
        .selectFrom('delivery_minutes')
        .select('minute_utc as first')
        .where('company_id', '=', companyId)
        .where('succeeded', '>', 0)
        .orderBy('minute_utc')
        .limit(1)
        .executeTakeFirst(),
    ]);
    return json(200, {
      subscriptionCreatedUtc: subscription?.first ?? null,
      testSucceededUtc: test?.first ?? null,
      deliverySucceededUtc: delivery?.first ?? null,
    });
  });
