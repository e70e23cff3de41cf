import { contract, elapsedBoundsMs, rangeMinutes } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { WebhooksContext } from './context.ts';
import { readSubscriptions } from './subscriptions/record.ts';
import type { Tables } from './tables.ts';

export const getDeliveryStats = ({ db, now }: WebhooksContext) =>
  handler(contract.getDeliveryStats, async ({ companyId, query }) => {
    const { range, subscriptionId } = query;
    const { total, step } = rangeMinutes[range];
    // Steps begin at whole multiples, like those of the request stats, so that the overview's charts align.
    const stepMs = step * minuteMs;
    const untilMs = (Math.floor(now().getTime() / stepMs) + 1) * stepMs;
    const fromMs = untilMs - total * minuteMs;
    const at = sql<number>`FLOOR(TIMESTAMPDIFF(MINUTE, ${new Date(fromMs)}, minute_utc) / ${sql.lit(step)})`;
    let minutes = db
      .selectFrom('delivery_minutes')
      .select(['subscription_id', at.as('at')])
      .select(sums)
      .where('company_id', '=', companyId)
      .where('minute_utc', '>=', new Date(fromMs))
      .where('minute_utc', '<', new Date(untilMs))
      .groupBy(['subscription_id', 'at']);
    if (subscriptionId !== undefined) minutes = minutes.where('subscription_id', '=', subscriptionId);
    const [rows, subscriptions] = await Promise.all([minutes.execute(), readSubscriptions(db, companyId)]);

    const sum = noOutcome();
    const points = Array.from({ length: total / step }, noOutcome);
    const bySubscription = new Map<number, Outcome>();
    for (const { subscription_id, at, ...row } of rows) {
      const outcome = outcomeOf(row);
      const own = bySubscription.get(subscription_id) ?? noOutcome();
      bySubscription.set(subscription_id, own);
      for (const part of [sum, own, points[Number(at)]]) if (part) addOutcome(part, outcome);
    }
    const subscriptionsById = new Map(subscriptions.map((one) => [one.subscription_id, one]));
    const ids = new Set([...subscriptionsById.keys(), ...bySubscription.keys()]);
    const shown = [...ids]
      .filter((id) => subscriptionId === undefined || id === subscriptionId)
      .map((id) => {
        const subscription = subscriptionsById.get(id);
        return {
          id,
          name: subscription?.name ?? null,
          url: subscription?.url ?? null,
          enabled: subscription?.enabled === 1,
          autoDisabled: subscription?.enabled === 0 && subscription.auto_disabled === 1,
          isUnverified: subscription?.verification === 'pending',
          consecutiveFailures: subscription?.consecutive_failures ?? 0,
          ...outcomeAnswer(bySubscription.get(id) ?? noOutcome()),
        };
      })
      .sort((a, b) => trouble(b) - trouble(a) || b.failed - a.failed || a.id - b.id);
    return json(200, {
      range,
      fromUtc: new Date(fromMs),
      untilUtc: new Date(untilMs),
      stepMinutes: step,
      total: outcomeAnswer(sum),
      points: points.map((point, index) => ({
        utc: new Date(fromMs + index * stepMs),
        ...outcomeAnswer(point),
      })),
      subscriptions: shown,
    });
  });

/** What a person disabled is in no trouble, however often it had failed. */
const trouble = (one: { enabled: boolean; autoDisabled: boolean; consecutiveFailures: number }): number =>
  one.autoDisabled ? Number.MAX_SAFE_INTEGER : one.enabled ? one.consecutiveFailures : 0;

const minuteMs = 60_000;

interface Outcome {
  succeeded: number;
  failed: number;
  /** Counts by duration, in the order of the columns of `delivery_minutes`. */
  readonly elapsed: number[];
}

const noOutcome = (): Outcome => ({ succeeded: 0, failed: 0, elapsed: columns.map(() => 0) });

const addOutcome = (sum: Outcome, { succeeded, failed, elapsed }: Outcome): void => {
  sum.succeeded += succeeded;
  sum.failed += failed;
  for (const [at, count] of elapsed.entries()) sum.elapsed[at]! += count;
};

/** Percentiles in whole milliseconds, null without attempts. */
const outcomeAnswer = ({ succeeded, failed, elapsed }: Outcome) => ({
  succeeded,
  failed,
  p50Ms: percentile(elapsed, 0.5),
  p95Ms: percentile(elapsed, 0.95),
});

export const readOutcome = async (
  db: Kysely<Tables>,
  companyId: number,
  subscriptionId: number | undefined,
  since: Date,
): Promise<ReturnType<typeof outcomeAnswer>> => {
  const row = await db
    .selectFrom('delivery_minutes')
    .select(sums)
    .where('company_id', '=', companyId)
    .where('minute_utc', '>=', since)
    .$if(subscriptionId !== undefined, (query) => query.where('subscription_id', '=', subscriptionId!))
    .executeTakeFirst();
  return outcomeAnswer(row ? outcomeOf(row) : noOutcome());
};

const columns = [...elapsedBoundsMs.map((bound) => `upto_${bound}` as const), 'above' as const];

const sums = [
  sumOf('succeeded').as('succeeded'),
  sumOf('failed').as('failed'),
  ...columns.map((column) => sumOf(column).as(column)),
];

const outcomeOf = (row: Readonly<Partial<Record<string, unknown>>>): Outcome => ({
  succeeded: Number(row.succeeded ?? 0),
  failed: Number(row.failed ?? 0),
  elapsed: columns.map((column) => Number(row[column] ?? 0)),
});

function sumOf(column: string): RawBuilder<number> {
  return sql<number>`SUM(${sql.ref(column)})`;
}

/** Interpolates linearly between a column's bounds. No attempt takes much longer than the last bound. */
const percentile = (elapsed: readonly number[], share: number): number | null => {
  const count = elapsed.reduce((sum, one) => sum + one, 0);
  if (count === 0) return null;
  let rank = share * count;
  for (const [at, bound] of elapsedBoundsMs.entries()) {
    const inside = elapsed[at]!;
    if (rank <= inside) {
      const from = elapsedBoundsMs[at - 1] ?? 0;
      return Math.round(from + ((bound - from) * rank) / inside);
    }
    rank -= inside;
  }
  return elapsedBoundsMs.at(-1)!;
};
