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
        .select(({ fn }) => fn.sum<number>('missed').as('count'))
        .where('company_id', '=', companyId)
        .executeTakeFirst(),
    ]);
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
      missedAtQuota: Number(missed?.count ?? 0),
    });
  });

const maxListed = 20;
