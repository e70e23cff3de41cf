import type { DeliveryState, ErrorClass } from '@causeway/proto';
import { tenantIs } from '@causeway/runtime';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** Contract, "Deliveries": whether `d` should have arrived and has not. A row that waits is past its first due time. */
export const isUndelivered = (companyId: number): RawBuilder<SqlBool> => sql<SqlBool>`(
  d.state IN ('waiting', 'held', 'failed')
  AND EXISTS (SELECT 1 FROM subscriptions AS ds
    WHERE ds.company_id = ${tenantIs(companyId)} AND ds.subscription_id = d.subscription_id)
  AND IF(d.state = 'failed',
    NOT EXISTS (SELECT 1 FROM deliveries AS dl WHERE ${isLater(companyId, 'dl', 'd')}), TRUE))`;

/** Whether a replay has made a later delivery of the same event, which counts instead. */
const isLater = (companyId: number, later: string, earlier: string): RawBuilder<SqlBool> => {
  const [dl, d] = [sql.raw(later), sql.raw(earlier)];
  return sql<SqlBool>`${dl}.company_id = ${tenantIs(companyId)} AND ${dl}.event_id = ${d}.event_id
    AND ${dl}.subscription_id = ${d}.subscription_id AND ${dl}.replay_id > ${d}.replay_id
    AND ${dl}.created_utc = ${d}.created_utc AND ${dl}.state <> 'dropped'`;
};

export interface Undelivered {
  readonly count: number;
  readonly isMore: boolean;
  /** When the oldest of the events happened. */
  readonly oldestUtc: Date | null;
}

/** Undelivered deliveries and missed events with the same reason. */
export interface UndeliveredGroup {
  readonly subscriptionId: number;
  readonly state: 'waiting' | 'held' | 'failed' | 'missed';
  /** Of the last attempt; null without one, and unless causes were asked for. */
  readonly errorClass: ErrorClass | null;
  readonly statusCode: number | null;
  readonly count: number;
  readonly isMore: boolean;
  readonly oldestUtc: Date;
  readonly newestUtc: Date;
}

interface Wanted {
  readonly subscriptionId?: number | undefined;
  /** Reads every row; without causes, the index of states suffices. */
  readonly byCause?: boolean;
}

/** What has not arrived, as every page of the portal counts it: at most 10,000 deliveries of a subscription in a state. */
export const readUndelivered = async (
  db: Kysely<Tables>,
  companyId: number,
  selection: Wanted = {},
): Promise<readonly UndeliveredGroup[]> => {
  const [pairs, missed] = await Promise.all([
    readPairs(db, companyId, selection),
    readMissed(db, companyId, selection),
  ]);
  const groups: UndeliveredGroup[] = [];
  for (let at = 0; at < pairs.length; at += pairsAtOnce)
    groups.push(...(await countPairs(db, companyId, pairs.slice(at, at + pairsAtOnce), selection)));
  return [...groups, ...missed];
};

export const sumOfUndelivered = (groups: readonly UndeliveredGroup[]): Undelivered => ({
  count: groups.reduce((sum, { count }) => sum + count, 0),
  isMore: groups.some(({ isMore }) => isMore),
  oldestUtc: groups.reduce<Date | null>(
    (oldest, { oldestUtc }) => (oldest && oldest <= oldestUtc ? oldest : oldestUtc),
    null,
  ),
});

const mostCounted = 10_000;
/** Statements that one query joins. */
const pairsAtOnce = 300;

interface Pair {
  readonly subscription_id: number;
  readonly state: 'waiting' | 'held' | 'failed';
}

/** The queue's row says whether deliveries wait or are held; failed ones take one look into the index. */
const readPairs = async (
  db: Kysely<Tables>,
  companyId: number,
  { subscriptionId }: Wanted,
): Promise<readonly Pair[]> => {
  const { rows } = await sql<Readonly<Record<DeliveryState, number>> & { readonly subscription_id: number }>`
    SELECT s.subscription_id, q.next_due_utc IS NOT NULL AS waiting,
      q.held_deliveries > 0 AS held,
      EXISTS (SELECT /*+ INDEX(d by_state) */ 1 FROM deliveries AS d
        WHERE d.company_id = ${tenantIs(companyId)} AND d.subscription_id = s.subscription_id
          AND d.state = 'failed') AS failed
    FROM subscriptions AS s
    LEFT JOIN delivery_queues AS q
      ON q.company_id = ${tenantIs(companyId)} AND q.subscription_id = s.subscription_id
    WHERE s.company_id = ${tenantIs(companyId)}
      AND ${subscriptionId === undefined ? sql`TRUE` : sql`s.subscription_id = ${subscriptionId}`}`.execute(
    db,
  );
  return rows.flatMap((row) =>
    (['waiting', 'held', 'failed'] as const)
      .filter((state) => row[state] === 1)
      .map((state) => ({ subscription_id: row.subscription_id, state })),
  );
};

interface CountedRow extends Pair {
  readonly last_error: ErrorClass | null;
  readonly last_status: number | null;
  readonly looked: number;
  readonly counted: number;
  readonly oldest: Date | null;
  readonly newest: Date | null;
}

const countPairs = async (
  db: Kysely<Tables>,
  companyId: number,
  pairs: readonly Pair[],
  { byCause = false }: Wanted,
): Promise<readonly UndeliveredGroup[]> => {
  const cause = sql.raw(byCause ? 'd.last_error, d.last_status' : 'NULL AS last_error, NULL AS last_status');
  const newest = sql.raw(byCause ? 'd.updated_utc' : 'd.created_utc');
  const columns = ['subscription_id', 'event_id', 'replay_id', 'created_utc'];
  if (byCause) columns.push('updated_utc', 'last_error', 'last_status');
  const parts = pairs.map(({ subscription_id, state }, at) => {
    const [row, later] = [sql.raw(`d${at}`), `l${at}`];
    const isFailed = state === 'failed';
    const isOpen = isFailed ? sql`${sql.raw(later)}.event_id IS NULL` : sql`TRUE`;
    // What failed last is the likeliest not to be replayed yet; of the others, the oldest come first.
    const order = sql.raw(isFailed ? 'DESC' : 'ASC');
    return sql`(
      SELECT ${subscription_id} AS subscription_id, ${state} AS state, ${cause}, COUNT(*) AS looked,
        COUNT(IF(${isOpen}, 1, NULL)) AS counted, MIN(IF(${isOpen}, d.created_utc, NULL)) AS oldest,
        MAX(IF(${isOpen}, ${newest}, NULL)) AS newest
      FROM (
        SELECT /*+ INDEX(${row} by_state) */ ${sql.raw(columns.map((column) => `d${at}.${column}`).join(', '))}
        FROM deliveries AS ${row}
        WHERE ${row}.company_id = ${tenantIs(companyId)} AND ${row}.subscription_id = ${subscription_id}
          AND ${row}.state = ${state}
        ORDER BY ${row}.due_utc ${order}, ${row}.event_id ${order} LIMIT ${sql.lit(mostCounted + 1)}
      ) AS d
      ${isFailed ? sql`LEFT JOIN deliveries AS ${sql.raw(later)} ON ${isLater(companyId, later, 'd')}` : sql``}
      ${byCause ? sql`GROUP BY d.last_error, d.last_status` : sql``})`;
  });
  const { rows } = await sql<CountedRow>`${sql.join(parts, sql` UNION ALL `)}`.execute(db);
  const looked = Map.groupBy(rows, (row) => `${row.subscription_id} ${row.state}`);
  return rows.flatMap((row) =>
    row.oldest && row.newest
      ? [
          {
            subscriptionId: row.subscription_id,
            state: row.state,
            errorClass: row.last_error,
            statusCode: row.last_status,
            count: Math.min(row.counted, mostCounted),
            isMore:
              looked.get(`${row.subscription_id} ${row.state}`)!.reduce((sum, one) => sum + one.looked, 0) >
              mostCounted,
            oldestUtc: row.oldest,
            newestUtc: row.newest,
          },
        ]
      : [],
  );
};

const readMissed = async (
  db: Kysely<Tables>,
  companyId: number,
  { subscriptionId }: Wanted,
): Promise<readonly UndeliveredGroup[]> => {
  let query = db
    .selectFrom('missed_events')
    .select(['subscription_id', 'missed', 'since_utc'])
    .where('company_id', '=', companyId)
    .where('missed', '>', 0);
  if (subscriptionId !== undefined) query = query.where('subscription_id', '=', subscriptionId);
  return (await query.execute()).map((row) => ({
    subscriptionId: row.subscription_id,
    state: 'missed',
    errorClass: null,
    statusCode: null,
    count: row.missed,
    isMore: false,
    oldestUtc: row.since_utc,
    newestUtc: row.since_utc,
  }));
};
