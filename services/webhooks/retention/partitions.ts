import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** The tables that are kept by the day, each partitioned by the time of its rows. */
export const datedTables = ['events', 'deliveries', 'delivery_attempts', 'delivery_minutes'] as const;
export type DatedTable = (typeof datedTables)[number];

/** What is to be done to a table. */
export interface PartitionPlan {
  /** Days that get a partition of their own, in their order, as `20260131`. */
  readonly add: readonly string[];
  /** Names of partitions that go. */
  readonly drop: readonly string[];
}

/**
 * What a table needs so that there is a partition for today and each of the next days, and none that holds
 * nothing but what is older than `keepDays` whole days.
 *
 * `future` takes what comes after the last day. It is split while it is empty, a week ahead, which only writes
 * down a boundary; what lies in it on the very first day becomes that day's.
 * @param names of the table's partitions as they are.
 */
export const planPartitions = (names: readonly string[], now: Date, keepDays: number): PartitionPlan => {
  const days = names.filter((name) => name !== future).map((name) => name.slice(1));
  const today = startOfDay(now);
  const last = days.toSorted().at(-1);
  const firstMissing =
    last === undefined ? today : Math.max(fromDay(last) + dayMs, oldestKept(now, keepDays));
  const add: string[] = [];
  for (let ms = firstMissing; ms <= today + daysAhead * dayMs; ms += dayMs) add.push(toDay(ms));
  const drop = days.filter((day) => fromDay(day) < oldestKept(now, keepDays)).map((day) => `p${day}`);
  return { add, drop };
};

/** The first day of which something may be younger than `keepDays` days. */
const oldestKept = (now: Date, keepDays: number): number => startOfDay(now) - keepDays * dayMs;

/** With a week ahead the service may be away for some days, and still finds `future` empty. */
const daysAhead = 7;
const dayMs = 86_400_000;
const future = 'future';

const startOfDay = (now: Date): number => Math.floor(now.getTime() / dayMs) * dayMs;
const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
const fromDay = (day: string): number => Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);

/** The names of a table's partitions, the oldest first. */
export const readPartitions = async (db: Kysely<Tables>, table: DatedTable): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    SELECT partition_name AS name FROM information_schema.partitions
    WHERE table_schema = DATABASE() AND table_name = ${table} ORDER BY partition_ordinal_position`.execute(
    db,
  );
  return rows.map(({ name }) => name);
};

export const addDays = async (
  db: Kysely<Tables>,
  table: DatedTable,
  days: readonly string[],
): Promise<void> => {
  const parts = days.map((day) => {
    const end = new Date(fromDay(day) + dayMs).toISOString().slice(0, 10);
    return sql`PARTITION ${sql.id(`p${day}`)} VALUES LESS THAN (${sql.lit(end)})`;
  });
  await sql`ALTER TABLE ${sql.table(table)} REORGANIZE PARTITION ${sql.id(future)} INTO
    (${sql.join([...parts, sql`PARTITION ${sql.id(future)} VALUES LESS THAN (MAXVALUE)`])})`.execute(db);
};

export const dropPartition = async (db: Kysely<Tables>, table: DatedTable, name: string): Promise<void> => {
  await sql`ALTER TABLE ${sql.table(table)} DROP PARTITION ${sql.id(name)}`.execute(db);
};
