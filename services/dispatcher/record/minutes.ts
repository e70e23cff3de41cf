import type { ElapsedColumn } from '@causeway/deliveries';
import { elapsedBoundsMs } from '@causeway/proto';
import { acrossTenants, byShard, createTally, type Database, rowList } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { type AttemptedDelivery, companyOf, type QueueKey, queueName } from '../delivery.ts';
import type { Tables } from '../tables.ts';

export interface Minutes {
  add(delivery: AttemptedDelivery): void;
  drain(): Promise<void>;
}

/** A killed process loses unwritten counts, but no attempt. */
export const createMinutes = ({ db, log, metrics }: MinutesOptions): Minutes => {
  const writeAll = async (sums: readonly Sum[]): Promise<void> => {
    try {
      await write(db, sums);
    } catch (error) {
      log.warn({ error, rows: sums.length }, 'writing counts of attempts per minute failed; they are lost');
    }
  };
  const tally = createTally<string, Sum>({
    name: 'attempts-per-minute',
    metrics,
    everyMs: 5_000,
    flush: writeAll,
  });

  return {
    add: ({ company_id, subscription_id, startedMs, result, decision }) => {
      const minuteMs = startedMs - (startedMs % 60_000);
      const key = { company_id, subscription_id };
      const sum = tally.of(`${queueName(key)}.${minuteMs}`, () => ({
        ...key,
        minuteMs,
        counts: columns.map(() => 0),
      }));
      sum.counts[decision.outcome === 'succeeded' ? 0 : 1]!++;
      sum.counts[2 + bucketOf(result.elapsedMs)]!++;
    },
    drain: tally.drain,
  };
};

interface Sum extends QueueKey {
  readonly minuteMs: number;
  /** In the order of `columns`. */
  readonly counts: number[];
}

const columns: readonly ('succeeded' | 'failed' | ElapsedColumn)[] = [
  'succeeded',
  'failed',
  ...elapsedBoundsMs.map((bound) => `upto_${bound}` as const),
  'above',
];

const bucketOf = (elapsedMs: number): number => {
  const at = elapsedBoundsMs.findIndex((bound) => elapsedMs <= bound);
  return at === -1 ? elapsedBoundsMs.length : at;
};

const names = sql.join(columns.map((column) => sql.ref(column)));
const sumsOf = sql.join(
  columns.map(
    (column) => sql`${sql.ref(column)} = delivery_minutes.${sql.ref(column)} + VALUES(${sql.ref(column)})`,
  ),
);

const write = async (db: Database<Tables>, sums: readonly Sum[]): Promise<void> => {
  const rows = sums.toSorted(
    (a, b) => a.company_id - b.company_id || a.minuteMs - b.minuteMs || a.subscription_id - b.subscription_id,
  );
  for (let at = 0; at < rows.length; at += perStatement)
    await byShard(db, rows.slice(at, at + perStatement), companyOf, add);
};

const add = async (rows: readonly Sum[], db: Database<Tables>): Promise<void> => {
  await sql`
      INSERT INTO delivery_minutes (company_id, subscription_id, minute_utc, ${names})
    VALUES ${rowList(rows.map((sum) => [sum.company_id, sum.subscription_id, new Date(sum.minuteMs), ...sum.counts]))}
    ON DUPLICATE KEY UPDATE ${sumsOf}`.execute(
    acrossTenants(db, 'a dispatcher sums attempts of many companies in one batch'),
  );
};

const perStatement = 500;

type MinutesOptions = Pick<Context, 'db' | 'log' | 'metrics'>;
