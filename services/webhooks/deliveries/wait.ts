import { tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import type { deliveryAnswer } from './record.ts';

type WaitingDelivery = Pick<
  ReturnType<typeof deliveryAnswer>,
  'eventId' | 'subscriptionId' | 'attempts' | 'dueUtc' | 'subscription'
>;

/** Why a delivery waits, and about when its next attempt begins. */
export const readWait = async (
  db: Kysely<Tables>,
  companyId: number,
  { eventId, subscriptionId, attempts, dueUtc, subscription }: WaitingDelivery,
  now: Date,
) => {
  const nothing = { sinceUtc: null, place: null, nextUtc: null };
  const rules = await db
    .selectFrom('subscriptions')
    .select(['paused_utc', 'pace_limit', 'pace_seconds'])
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  if (rules?.paused_utc) return { ...nothing, reason: 'paused' as const, sinceUtc: rules.paused_utc };
  const probeUtc = subscription?.nextProbeUtc ?? null;
  if (probeUtc !== null)
    return {
      ...nothing,
      reason: 'failing' as const,
      nextUtc: dueUtc && dueUtc > probeUtc ? dueUtc : probeUtc,
    };
  if (dueUtc !== null && dueUtc > now)
    return attempts > 0
      ? { ...nothing, reason: 'retry' as const, nextUtc: dueUtc }
      : { ...nothing, reason: 'underway' as const };
  const before = await countBefore(db, companyId, { subscriptionId, eventId, dueUtc: dueUtc ?? now });
  const place = before + 1;
  if (!rules?.pace_limit || !rules.pace_seconds) return { ...nothing, reason: 'turn' as const, place };
  const windows = Math.floor(before / rules.pace_limit);
  const nextUtc = new Date(now.getTime() + windows * rules.pace_seconds * 1_000);
  return { ...nothing, reason: 'paced' as const, place, nextUtc };
};

const mostCounted = 10_000;

/** A queue gives what is due longest first. */
const countBefore = async (
  db: Kysely<Tables>,
  companyId: number,
  {
    subscriptionId,
    eventId,
    dueUtc,
  }: { readonly subscriptionId: number; readonly eventId: number; readonly dueUtc: Date },
): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT COUNT(*) AS count FROM (
      SELECT d.event_id FROM deliveries AS d
      WHERE d.company_id = ${tenantIs(companyId)} AND d.subscription_id = ${subscriptionId} AND d.state = 'waiting'
        AND (d.due_utc < ${dueUtc} OR (d.due_utc = ${dueUtc} AND d.event_id < ${eventId}))
      LIMIT ${sql.lit(mostCounted)}
    ) AS earlier`.execute(db);
  return rows[0]!.count;
};
