import { type Kysely, sql } from 'kysely';

/** The partitions to add to and drop from a table. */
export interface PartitionPlan {
  /** Days to add a partition for, in order, as `20260131`. */
  readonly add: readonly string[];
  /** Names of partitions to drop. */
  readonly drop: readonly string[];
}

/**
 * Plans a table's partitions: one for today and each of the next days, and none whose rows are all older than
 * `keepDays` whole days.
 *
 * `future` takes rows after the last day. It is split a week ahead, while it is empty, which only changes metadata. On
 * the first day, its rows move to that day's partition.
 * @param names of the table's existing partitions.
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

/** The first day that may have rows younger than `keepDays` days. */
const oldestKept = (now: Date, keepDays: number): number => startOfDay(now) - keepDays * dayMs;

/** A week, so that `future` is still empty if the service was down for some days. */
const daysAhead = 7;
const dayMs = 86_400_000;
const future = 'future';

const startOfDay = (now: Date): number => Math.floor(now.getTime() / dayMs) * dayMs;
const toDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
const fromDay = (day: string): number => Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);

/** The names of a table's partitions, oldest first. */
export const readPartitions = async <DB>(db: Kysely<DB>, table: string): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    SELECT partition_name AS name FROM information_schema.partitions
    WHERE table_schema = DATABASE() AND table_name = ${table} ORDER BY partition_ordinal_position`.execute(
    db,
  );
  return rows.map(({ name }) => name);
};

export const addDays = async <DB>(db: Kysely<DB>, table: string, days: readonly string[]): Promise<void> => {
  const parts = days.map((day) => {
    const end = new Date(fromDay(day) + dayMs).toISOString().slice(0, 10);
    return sql`PARTITION ${sql.id(`p${day}`)} VALUES LESS THAN (${sql.lit(end)})`;
  });
  await sql`ALTER TABLE ${sql.table(table)} REORGANIZE PARTITION ${sql.id(future)} INTO
    (${sql.join([...parts, sql`PARTITION ${sql.id(future)} VALUES LESS THAN (MAXVALUE)`])})`.execute(db);
};

export const dropPartition = async <DB>(db: Kysely<DB>, table: string, name: string): Promise<void> => {
  await sql`ALTER TABLE ${sql.table(table)} DROP PARTITION ${sql.id(name)}`.execute(db);
};
