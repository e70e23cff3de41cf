import { contract, failuresUntilProbing } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { readSubscriptions } from '../subscriptions/record.ts';

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
        id: one.subscription_id,
        held: one.held_deliveries,
        missed: missedBy.get(one.subscription_id) ?? 0,
      }))
      .filter(({ held, missed }) => held + missed > 0);
    const unverified = records.filter(({ verification }) => verification === 'pending');
    const off = records
      .flatMap((one) =>
        one.enabled === 0 && one.auto_disabled === 1 && one.disabled_utc
          ? [{ ...one, disabled_utc: one.disabled_utc }]
          : [],
      )
      .sort((a, b) => b.disabled_utc.getTime() - a.disabled_utc.getTime());
    return json(200, {
      offCount: off.length,
      off: off.slice(0, maxListed).map((one) => ({
        id: one.subscription_id,
        name: one.name,
        url: one.url,
        disabledUtc: one.disabled_utc.toISOString(),
        held: one.held_deliveries,
      })),
      failingCount: records.filter(
        (one) => one.enabled === 1 && one.consecutive_failures >= failuresUntilProbing,
      ).length,
      unverifiedCount: unverified.length,
      undecided: {
        subscriptions: undecided.length,
        held: undecided.reduce((sum, one) => sum + one.held, 0),
        missed: undecided.reduce((sum, one) => sum + one.missed, 0),
        firstId: undecided[0]?.id ?? null,
      },
    });
  });

const maxListed = 20;
