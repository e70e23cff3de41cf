import { maxReplayDeliveries } from '@causeway/proto';
import { findReplayCandidates, noteMissed, type Trx } from '@causeway/runtime';
import type { Tables } from '../tables.ts';
import type { SubscriptionRecord } from './record.ts';

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
