import { contract, maxReplayDeliveries } from '@causeway/proto';
import {
  findReplayCandidates,
  handler,
  noteMissed,
  type ReplaySelection,
  type Trx,
  transaction,
} from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import { throughPortal } from '../subscriptions/editor.ts';
import { lockSubscription, type SubscriptionRecord } from '../subscriptions/record.ts';
import type { Tables } from '../tables.ts';

export const dismissMissedEvents = (context: WebhooksContext) =>
  handler(contract.dismissMissedEvents, async (call) => {
    const { companyId } = call;
    await transaction(context.db, async (trx) => {
      const subscription = await lockSubscription(trx, companyId, call.id('subscription'));
      const since = new Date(0);
      const count = await resetMissed(trx, {
        companyId,
        subscriptionId: subscription.subscription_id,
        since,
      });
      if (count === 0n) return;
      await auditChange(trx, throughPortal(call), 'missed.dismissed', subscription, { at: context.now() });
    });
    return { status: 204, body: null };
  });

/**
 * Sets the count of missed events to zero, if the replay makes all of them (contract, "Quotas").
 * @returns how many rows it deleted.
 */
export const resetMissed = async (
  db: Kysely<Tables>,
  { companyId, subscriptionId, since }: Pick<ReplaySelection, 'companyId' | 'subscriptionId' | 'since'>,
): Promise<bigint> => {
  const { numDeletedRows } = await db
    .deleteFrom('missed_events')
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('since_utc', '>=', since)
    .executeTakeFirst();
  return numDeletedRows;
};

/**
 * Counts the events of a subscription's types that occurred while it was disabled, in the transaction that enables it.
 * The count stays until a member replays or dismisses them. Beyond the time, it is a lower bound.
 */
export const noteMissedWhileOff = async (
  trx: Trx<Tables>,
  {
    company_id,
    subscription_id,
    event_types,
    disabled_utc,
  }: Pick<SubscriptionRecord, 'company_id' | 'subscription_id' | 'event_types' | 'disabled_utc'>,
  now: Date,
): Promise<void> => {
  if (disabled_utc === null) return;
  const selection = {
    companyId: company_id,
    subscriptionId: subscription_id,
    since: disabled_utc,
    until: now,
    types: event_types,
    states: null,
    statusCodes: undefined,
    startedUtc: now,
  };
  const { candidates } = await findReplayCandidates(trx, selection, {
    after: 0,
    limit: maxReplayDeliveries,
    maxMs: maxCountMs,
  });
  await noteMissed(
    trx,
    candidates.map(() => ({ company_id, subscription_id, created_utc: disabled_utc })),
  );
};

/** The row of the subscription is locked meanwhile. */
const maxCountMs = 1_000;
