import type { SubscriptionRow } from '@causeway/deliveries';
import { notFound } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import { rulesAnswer } from './rules.ts';

/** All but its secrets and the values of its headers, which no code that shows it reads. */
const shownColumns = [
  'company_id',
  'subscription_id',
  'name',
  'description',
  'url',
  'event_types',
  'enabled',
  'managed_by',
  'disabled_reason',
  'disabled_utc',
  'auto_disabled',
  'verification',
  'challenged_utc',
  'challenge_failure',
  'previous_secret_until',
  'created_utc',
  'updated_utc',
  'key_id',
  'expires_utc',
  'conditions',
  'pace_limit',
  'pace_seconds',
  'paused_utc',
  'paused_by',
  'header_names',
] as const satisfies readonly (keyof SubscriptionRow)[];

/** A subscription as interfaces show it, with the counters of its queue. */
export type SubscriptionRecord = Pick<SubscriptionRow, (typeof shownColumns)[number]> & {
  readonly consecutive_failures: number;
  readonly failed_attempts: number;
  readonly held_deliveries: number;
};

export const readSubscriptions = (
  db: Kysely<Tables>,
  companyId: number,
  { after = 0, limit = Number.MAX_SAFE_INTEGER } = {},
): Promise<readonly SubscriptionRecord[]> =>
  records(db, companyId)
    .where('subscriptions.subscription_id', '>', after)
    .orderBy('subscriptions.subscription_id')
    .limit(limit)
    .execute();

/** @throws Problem `not_found` */
export const readSubscription = (
  db: Kysely<Tables>,
  companyId: number,
  subscriptionId: number,
): Promise<SubscriptionRecord> =>
  records(db, companyId)
    .where('subscriptions.subscription_id', '=', subscriptionId)
    .executeTakeFirstOrThrow(() => notFound('subscription'));

export const findSubscription = (
  db: Kysely<Tables>,
  companyId: number,
  subscriptionId: number,
): Promise<SubscriptionRecord | undefined> =>
  records(db, companyId).where('subscriptions.subscription_id', '=', subscriptionId).executeTakeFirst();

/** Locks the row until the transaction ends. @throws Problem `not_found` */
export const lockSubscription = (
  trx: Trx<Tables>,
  companyId: number,
  subscriptionId: number,
): Promise<SubscriptionRow> =>
  trx
    .selectFrom('subscriptions')
    .selectAll()
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .forUpdate()
    .executeTakeFirstOrThrow(() => notFound('subscription'));

/** The record as the interface shows it (contract, "Deliveries"). */
export const subscriptionAnswer = (record: SubscriptionRecord) => ({
  id: record.subscription_id,
  name: record.name,
  url: record.url,
  eventTypes: record.event_types,
  enabled: record.enabled === 1,
  managedBy: record.managed_by,
  description: record.description,
  createdUtc: record.created_utc,
  updatedUtc: record.updated_utc,
  disabledReason: record.disabled_reason,
  consecutiveFailures: record.consecutive_failures,
  heldDeliveries: record.held_deliveries,
  ...rulesAnswer(record),
});

/** Zero from the moment of enabling or of another URL, and before a dispatcher has made the queue. */
const failures = (column: 'consecutive_failures' | 'failed_attempts') =>
  sql<number>`IF(subscription_changes.resets_failures, 0, COALESCE(${sql.ref(`delivery_queues.${column}`)}, 0))`;

const records = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('subscriptions')
    .leftJoin('delivery_queues', (join) =>
      join
        .onRef('delivery_queues.subscription_id', '=', 'subscriptions.subscription_id')
        .on('delivery_queues.company_id', '=', companyId),
    )
    .leftJoin('subscription_changes', (join) =>
      join
        .onRef('subscription_changes.subscription_id', '=', 'subscriptions.subscription_id')
        .on('subscription_changes.company_id', '=', companyId),
    )
    .select(shownColumns.map((column) => `subscriptions.${column}` as const))
    .select([
      failures('consecutive_failures').as('consecutive_failures'),
      failures('failed_attempts').as('failed_attempts'),
      sql<number>`COALESCE(delivery_queues.held_deliveries, 0)`.as('held_deliveries'),
    ])
    .where('subscriptions.company_id', '=', companyId);
