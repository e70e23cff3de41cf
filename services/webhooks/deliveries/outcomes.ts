import { elapsedBoundsMs } from '@causeway/proto';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** The attempts of a period: counts by result and by duration. */
export interface Outcome {
  succeeded: number;
  failed: number;
  /** Counts by duration, in the order of the columns of `delivery_minutes`. */
  readonly elapsed: number[];
}

export const noOutcome = (): Outcome => ({ succeeded: 0, failed: 0, elapsed: columns.map(() => 0) });

export const addOutcome = (sum: Outcome, { succeeded, failed, elapsed }: Outcome): void => {
  sum.succeeded += succeeded;
  sum.failed += failed;
  for (const [at, count] of elapsed.entries()) sum.elapsed[at]! += count;
};

/** The outcome as interfaces show it: percentiles in whole milliseconds, null without attempts. */
export const outcomeAnswer = ({ succeeded, failed, elapsed }: Outcome) => ({
  succeeded,
  failed,
  p50Ms: percentile(elapsed, 0.5),
  p95Ms: percentile(elapsed, 0.95),
  p99Ms: percentile(elapsed, 0.99),
});

/** The outcome of a subscription's attempts since a time. */
export const readOutcome = async (
  db: Kysely<Tables>,
  companyId: number,
  subscriptionId: number,
  since: Date,
): Promise<ReturnType<typeof outcomeAnswer>> => {
  const row = await db
    .selectFrom('delivery_minutes')
    .select(sums)
    .where('company_id', '=', companyId)
    .where('subscription_id', '=', subscriptionId)
    .where('minute_utc', '>=', since)
    .executeTakeFirst();
  return outcomeAnswer(row ? outcomeOf(row) : noOutcome());
};

const columns = [...elapsedBoundsMs.map((bound) => `upto_${bound}` as const), 'above' as const];

/** The columns that a query on `delivery_minutes` selects for `outcomeOf`. */
export const sums = [
  sumOf('succeeded').as('succeeded'),
  sumOf('failed').as('failed'),
  ...columns.map((column) => sumOf(column).as(column)),
];

export const outcomeOf = (row: Readonly<Partial<Record<string, unknown>>>): Outcome => ({
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
