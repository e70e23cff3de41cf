import { contract, elapsedBoundsMs, rangeMinutes } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { WebhooksContext } from './context.ts';
import type { Tables } from './tables.ts';

export const getDeliveryStats = ({ db, now }: WebhooksContext) =>
  handler(contract.getDeliveryStats, async ({ companyId, query }) => {
    const { range } = query;
    const { total, step } = rangeMinutes[range];
    // Steps begin at whole multiples, like those of the request stats, so that the overview's charts align.
    const stepMs = step * minuteMs;
    const untilMs = (Math.floor(now().getTime() / stepMs) + 1) * stepMs;
    const fromMs = untilMs - total * minuteMs;
    const at = sql<number>`FLOOR(TIMESTAMPDIFF(MINUTE, ${new Date(fromMs)}, minute_utc) / ${sql.lit(step)})`;
    const rows = await db
      .selectFrom('delivery_minutes')
      .select(at.as('at'))
      .select(sums)
      .where('company_id', '=', companyId)
      .where('minute_utc', '>=', new Date(fromMs))
      .where('minute_utc', '<', new Date(untilMs))
      .groupBy('at')
      .execute();
    const sum = noOutcome();
    const points = Array.from({ length: total / step }, noOutcome);
    for (const { at, ...row } of rows)
      for (const part of [sum, points[Number(at)]]) if (part) addOutcome(part, outcomeOf(row));
    return json(200, {
      total: outcomeAnswer(sum),
      points: points.map((point, index) => ({
        utc: new Date(fromMs + index * stepMs),
        ...outcomeAnswer(point),
      })),
    });
  });

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
