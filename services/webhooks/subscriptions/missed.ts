import { findReplayCandidates, noteMissed, type ReplaySelection } from '@causeway/deliveries';
import { contract, maxReplayDeliveries } from '@causeway/proto';
import { handler, type Trx, transaction } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { editorOf } from './editor.ts';
import { lockSubscription, type SubscriptionRecord } from './record.ts';

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
      await auditChange(trx, editorOf(call), 'missed.dismissed', subscription, { at: context.now() });
    });
    return { status: 204, body: null };
  });

/** If the replay makes all missed events (contract, "Quotas"). @returns how many rows it deleted. */
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

type MissingFields = 'company_id' | 'subscription_id' | 'event_types' | 'conditions' | 'disabled_utc';

/** In the transaction that enables the subscription. Beyond the time, the count is a lower bound. */
export const noteMissedWhileOff = async (
  trx: Trx<Tables>,
  {
    company_id,
    subscription_id,
    event_types,
    conditions,
    disabled_utc,
  }: Pick<SubscriptionRecord, MissingFields>,
  now: Date,
  maxMs = maxCountMs,
): Promise<void> => {
  if (disabled_utc === null) return;
  const stopMs = performance.now() + maxMs;
  const selection = {
    companyId: company_id,
    subscriptionId: subscription_id,
    since: disabled_utc,
    until: now,
    types: event_types,
    conditions,
    states: null,
    statusCodes: undefined,
    startedUtc: now,
  };
  const { candidates } = await findReplayCandidates(trx, selection, {
    after: await positionBefore(trx, company_id, disabled_utc, stopMs - maxMs / 2),
    limit: maxReplayDeliveries,
    maxMs: stopMs - performance.now(),
  });
  await noteMissed(
    trx,
    candidates.map(() => ({ company_id, subscription_id, created_utc: disabled_utc })),
  );
};

/**
 * Found from the end of the log: enabling must cost as much as what was missed, not as the whole log, because
 * an API key may do it 200 times a minute. When the time is up, it is the position reached, which may be
 * after `time`.
 */
const positionBefore = async (
  trx: Trx<Tables>,
  companyId: number,
  time: Date,
  stopMs: number,
): Promise<number> => {
  // The condition on the day limits the query to the partitions of these days.
  const day = new Date(Math.floor(time.getTime() / dayMs) * dayMs);
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const row = await trx
      .selectFrom('events')
      .select(['sequence', 'created_utc'])
      .where('company_id', '=', companyId)
      .where('sequence', '<', before)
      .where('created_utc', '>=', day)
      .orderBy('sequence', 'desc')
      .offset(searchedEvents)
      .limit(1)
      .executeTakeFirst();
    if (!row) return 0;
    const isBefore = row.created_utc.getTime() < time.getTime() - longestTransactionMs;
    if (isBefore || performance.now() >= stopMs) return row.sequence;
    before = row.sequence;
  }
};

const searchedEvents = 1_000;
const dayMs = 86_400_000;
/** The order of the log is that of commits; an event's time is that of its transaction's start. */
const longestTransactionMs = 60_000;

/** The row of the subscription is locked meanwhile. */
const maxCountMs = 1_000;
