import { randomInt } from 'node:crypto';
import { acrossTenants, rowList, tenantIn, tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { noteMissed, type WaitingEvent } from './missed.ts';

interface AdmitOptions {
  readonly quota: number;
  readonly now: Date;
  readonly makesRoom: boolean;
}

export interface Admission<Row> {
  readonly admitted: readonly Row[];
  readonly refused: readonly Row[];
  /** Already counted as missed. */
  readonly dropped: readonly WaitingEvent[];
}

/**
 * Admits deliveries within the quota of each company (contract, "Quotas"). Call it before locking queues or
 * deliveries; the company's row stays locked until the commit. One statement raises a company's upper bound
 * of waiting deliveries. Nothing lowers the bound as deliveries end: when it reaches the quota, the rows are
 * counted. If the quota is really reached, the subscription with the longest backlog is refused, and its
 * newest deliveries that were never attempted make room for other subscriptions.
 */
export const admitWaiting = async <DB, Row extends WaitingEvent>(
  db: Kysely<DB>,
  rows: readonly Row[],
  options: AdmitOptions,
): Promise<Admission<Row>> => {
  if (rows.length === 0) return { admitted: rows, refused: [], dropped: [] };
  const all = acrossTenants(db, 'a service admits waiting deliveries of many companies in one batch');
  const companies = Map.groupBy(
    rows.toSorted((a, b) => a.company_id - b.company_id),
    ({ company_id }) => company_id,
  );
  const raiseId = randomInt(2 ** 47);
  if (await raise(all, companies, raiseId, options.quota))
    return { admitted: rows, refused: [], dropped: [] };
  const bounds = await lockBounds(all, [...companies.keys()]);
  const admissions: Admission<Row>[] = [];
  for (const [companyId, rows] of companies) {
    const bound = bounds.get(companyId)!;
    admissions.push(
      bound.raise_id === raiseId
        ? { admitted: rows, refused: [], dropped: [] }
        : await share(all, bound, rows, options),
    );
  }
  return {
    admitted: admissions.flatMap(({ admitted }) => admitted),
    refused: admissions.flatMap(({ refused }) => refused),
    dropped: admissions.flatMap(({ dropped }) => dropped),
  };
};

/** @returns whether all companies had room for all their deliveries. */
const raise = async <DB>(
  db: Kysely<DB>,
  companies: ReadonlyMap<number, readonly unknown[]>,
  raiseId: number,
  quota: number,
): Promise<boolean> => {
  const rows = [...companies]
    .filter(([, { length }]) => length <= quota)
    .map(([companyId, { length }]) => [companyId, 0, length, raiseId]);
  if (rows.length === 0) return false;
  // MySQL assigns in this order, so the second condition sees the new ID. It counts an updated row twice.
  const { numAffectedRows } = await sql`
    INSERT INTO webhook_companies (company_id, subscriptions_created, waiting_bound, raise_id)
    VALUES ${rowList(rows)}
    ON DUPLICATE KEY UPDATE
      raise_id = IF(waiting_bound + VALUES(waiting_bound) <= ${quota}, VALUES(raise_id), raise_id),
      waiting_bound = waiting_bound + IF(raise_id = VALUES(raise_id), VALUES(waiting_bound), 0)`.execute(db);
  return Number(numAffectedRows) === 2 * companies.size;
};

interface WaitingBound {
  readonly company_id: number;
  readonly waiting_bound: number;
  readonly raise_id: number | null;
  readonly longest_subscription_id: number | null;
}

/** Creating a subscription creates the row; a company without a row gets it here. */
const lockBounds = async <DB>(
  db: Kysely<DB>,
  companyIds: readonly number[],
): Promise<ReadonlyMap<number, WaitingBound>> => {
  await sql`
    INSERT INTO webhook_companies (company_id, subscriptions_created)
    VALUES ${rowList(companyIds.map((id) => [id, 0]))}
    ON DUPLICATE KEY UPDATE subscriptions_created = webhook_companies.subscriptions_created`.execute(db);
  const { rows } = await sql<WaitingBound>`
    SELECT company_id, waiting_bound, raise_id, longest_subscription_id
    FROM webhook_companies WHERE company_id in ${tenantIn(companyIds)} ORDER BY company_id FOR UPDATE`.execute(
    db,
  );
  return new Map(rows.map((row) => [row.company_id, row]));
};

/** The subscription with the longest backlog comes last. */
const share = async <DB, Row extends WaitingEvent>(
  db: Kysely<DB>,
  { company_id, waiting_bound, longest_subscription_id }: WaitingBound,
  rows: readonly Row[],
  { quota, now, makesRoom }: AdmitOptions,
): Promise<Admission<Row>> => {
  const counted = waiting_bound <= maxCounted ? await countWaiting(db, company_id) : undefined;
  const waiting = counted?.total ?? waiting_bound;
  const longest = counted ? counted.longest : longest_subscription_id;
  const room = Math.max(0, quota - waiting);
  const others = rows.filter(({ subscription_id }) => subscription_id !== longest);
  const longestRows = rows.filter(({ subscription_id }) => subscription_id === longest);
  const fitting = others.slice(0, room);
  const more = others.slice(room);
  const dropped =
    makesRoom && longest !== null ? await dropNewest(db, company_id, longest, more.length, now) : [];
  const replacing = more.slice(0, dropped.length);
  const ownFitting = longestRows.slice(0, room - fitting.length);
  // Clearing the lease discards a background count that began earlier.
  await sql`
    UPDATE webhook_companies
    SET waiting_bound = ${waiting + fitting.length + ownFitting.length}, longest_subscription_id = ${longest}
      ${counted ? sql`, recount_utc = NULL` : sql``}
    WHERE company_id = ${tenantIs(company_id)}`.execute(db);
  return {
    admitted: [...fitting, ...replacing, ...ownFitting],
    refused: [...more.slice(replacing.length), ...longestRows.slice(ownFitting.length)],
    dropped,
  };
};

/** Counting so many rows under the lock takes some 10 ms. A background job counts longer backlogs. */
const maxCounted = 5_000;

/** A delivery under way has a due time in the future, and stays. */
const dropNewest = async <DB>(
  db: Kysely<DB>,
  companyId: number,
  subscriptionId: number,
  count: number,
  now: Date,
): Promise<readonly WaitingEvent[]> => {
  if (count === 0) return [];
  const { rows } = await sql<WaitingRow>`
    SELECT company_id, subscription_id, event_id, replay_id, created_utc, attempts
    FROM deliveries FORCE INDEX (by_state)
    WHERE company_id = ${tenantIs(companyId)} AND subscription_id = ${subscriptionId}
      AND state = 'waiting' AND due_utc <= ${now}
    ORDER BY due_utc DESC LIMIT ${sql.lit(2 * count)} FOR UPDATE SKIP LOCKED`.execute(db);
  const newest = rows.filter(({ attempts, replay_id }) => attempts === 0 && replay_id === 0).slice(0, count);
  if (newest.length === 0) return [];
  await sql`
    UPDATE deliveries FORCE INDEX (PRIMARY)
    SET state = 'dropped', due_utc = NULL, updated_utc = ${now}
    WHERE company_id = ${tenantIs(companyId)} AND subscription_id = ${subscriptionId} AND replay_id = 0
      AND (event_id, created_utc) IN (${rowList(newest.map((one) => [one.event_id, one.created_utc]))})`.execute(
    db,
  );
  await noteMissed(db, newest);
  return newest;
};

interface WaitingRow extends WaitingEvent {
  readonly event_id: number;
  readonly replay_id: number;
  readonly attempts: number;
}

/** Contract, "Quotas". Locks and changes nothing; `admitWaiting` decides. */
export const hasRoomForWaiting = async <DB>(
  db: Kysely<DB>,
  companyId: number,
  quota: number,
): Promise<boolean> => {
  const { rows } = await sql<{ waiting_bound: number }>`
    SELECT waiting_bound FROM webhook_companies WHERE company_id = ${tenantIs(companyId)}`.execute(db);
  const bound = rows[0]?.waiting_bound ?? 0;
  if (bound < quota) return true;
  return bound <= maxCounted && (await countWaiting(db, companyId)).total < quota;
};

interface WaitingCount {
  readonly total: number;
  readonly longest: number | null;
}

/** Takes about a second for 600,000 deliveries. */
export const countWaiting = async <DB>(db: Kysely<DB>, companyId: number): Promise<WaitingCount> => {
  // A queue without a due time has no waiting deliveries.
  const { rows } = await sql<{ subscription_id: number; waiting: number }>`
    SELECT d.subscription_id, COUNT(*) AS waiting
    FROM delivery_queues AS q
    STRAIGHT_JOIN deliveries AS d FORCE INDEX (by_state)
      ON d.company_id = ${tenantIs(companyId)} AND d.subscription_id = q.subscription_id
        AND d.state = 'waiting'
    WHERE q.company_id = ${tenantIs(companyId)} AND q.next_due_utc IS NOT NULL
    GROUP BY d.subscription_id
    ORDER BY waiting DESC, d.subscription_id`.execute(db);
  return {
    total: rows.reduce((sum, { waiting }) => sum + Number(waiting), 0),
    longest: rows[0]?.subscription_id ?? null,
  };
};
