import { elapsedBoundsMs } from '@causeway/proto';
import { acrossTenants, bigint, type Database, type Log, sqlTime } from '@causeway/runtime';
import { sql } from 'kysely';
import { type QueueKey, queueName } from '../job.ts';
import { queueTable } from '../store/key-tables.ts';
import type { ElapsedColumn, Tables } from '../tables.ts';

/** Adds attempts up by minute and subscription, for the dashboards. */
export interface Minutes {
  add(key: QueueKey, startedMs: number, elapsedMs: number, succeeded: boolean): void;
  /** Writes what has been added up since. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Written every few seconds; a killed process takes as much along, and the attempts themselves stay. */
export const createMinutes = ({ db, log, everyMs = 5_000 }: MinutesOptions): Minutes => {
  let sums = new Map<string, Sum>();
  let running = Promise.resolve();

  const flush = (): Promise<void> => {
    running = running.then(async () => {
      const rows = [...sums.values()];
      sums = new Map();
      if (rows.length === 0) return;
      try {
        await write(db, rows);
      } catch (error) {
        log.warn({ error, rows: rows.length }, 'attempts per minute were not added up');
      }
    });
    return running;
  };
  const timer = setInterval(() => void flush(), everyMs).unref();

  return {
    add: ({ company_id, subscription_id }, startedMs, elapsedMs, succeeded) => {
      const minuteMs = startedMs - (startedMs % 60_000);
      const name = `${queueName({ company_id, subscription_id })}.${minuteMs}`;
      let sum = sums.get(name);
      if (!sum) {
        if (sums.size >= maxSums) void flush();
        sum = { company_id, subscription_id, minuteMs, counts: columns.map(() => 0) };
        sums.set(name, sum);
      }
      sum.counts[succeeded ? 0 : 1]!++;
      sum.counts[2 + bucketOf(elapsedMs)]!++;
    },
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
};

const maxSums = 10_000;

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
const types = Object.fromEntries(columns.map((column) => [column, bigint]));
const sumsOf = sql.join(
  columns.map(
    (column) => sql`${sql.ref(column)} = delivery_minutes.${sql.ref(column)} + k.${sql.ref(column)}`,
  ),
);

const write = async (db: Database<Tables>, sums: readonly Sum[]): Promise<void> => {
  const all = acrossTenants(db, 'attempts of many companies are added up together');
  const rows = sums.toSorted(
    (a, b) => a.company_id - b.company_id || a.minuteMs - b.minuteMs || a.subscription_id - b.subscription_id,
  );
  for (let at = 0; at < rows.length; at += perStatement)
    await sql`
      INSERT INTO delivery_minutes (company_id, subscription_id, minute_utc, ${names})
      SELECT * FROM ${queueTable(
        rows.slice(at, at + perStatement),
        { minute_utc: 'DATETIME', ...types },
        (sum) => [sqlTime(sum.minuteMs), ...sum.counts],
      )} AS k
      ON DUPLICATE KEY UPDATE ${sumsOf}`.execute(all);
};

const perStatement = 500;

export interface MinutesOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly everyMs?: number;
}
