import { contract, type DeliveryState, type ErrorClass } from '@causeway/proto';
import { handler, json, tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';

export const listFailureCauses = ({ db }: WebhooksContext) =>
  handler(contract.listFailureCauses, async ({ companyId }) =>
    json(200, { causes: await readGroups(db, companyId) }),
  );

interface CauseGroup {
  readonly subscriptionId: number;
  readonly errorClass: ErrorClass;
  readonly statusCode: number | null;
  readonly count: number;
  readonly isMore: boolean;
  readonly firstSeenUtc: Date;
  readonly lastSeenUtc: Date;
}

/** Of each subscription and state, so that a subscription with many failures does not hide those of the others. */
const mostCounted = 1_000;
const mostPairs = 300;

const readGroups = async (db: Kysely<Tables>, companyId: number): Promise<readonly CauseGroup[]> => {
  const pairs = (await readStates(db, companyId)).slice(0, mostPairs);
  if (pairs.length === 0) return [];
  // Of waiting ones those first that are due last, because they were attempted. The tenant guard wants an alias for each.
  const parts = pairs.map(({ subscription_id, state }, at) => {
    const d = sql.raw(`d${at}`);
    return sql`(
      SELECT /*+ INDEX(${d} by_state) */ ${d}.subscription_id, ${d}.state, ${d}.last_error, ${d}.last_status,
        ${d}.created_utc, ${d}.updated_utc
      FROM deliveries AS ${d}
      WHERE ${d}.company_id = ${tenantIs(companyId)} AND ${d}.subscription_id = ${subscription_id}
        AND ${d}.state = ${state}
      ORDER BY ${d}.due_utc DESC LIMIT ${sql.lit(mostCounted)})`;
  });
  const { rows } = await sql<CauseRow>`
    SELECT subscription_id, state, last_error, last_status, COUNT(*) AS counted,
      MIN(created_utc) AS first_utc, MAX(IF(state = 'dropped', created_utc, updated_utc)) AS last_utc
    FROM (${sql.join(parts, sql` UNION ALL `)}) AS failing
    GROUP BY subscription_id, state, last_error, last_status`.execute(db);
  const full = Map.groupBy(rows, (row) => `${row.subscription_id} ${row.state}`);
  const isFull = (row: CauseRow): boolean =>
    full.get(`${row.subscription_id} ${row.state}`)!.reduce((sum, one) => sum + one.counted, 0) >=
    mostCounted;
  // The others were not attempted.
  const failed = rows.filter((row): row is CauseRow & { last_error: ErrorClass } => row.last_error !== null);
  const groups = Map.groupBy(
    failed,
    (row) => `${row.subscription_id} ${row.last_error} ${row.last_status ?? ''}`,
  );
  return [...groups.values()]
    .map((ofCause) => ({
      subscriptionId: ofCause[0]!.subscription_id,
      errorClass: ofCause[0]!.last_error,
      statusCode: ofCause[0]!.last_status,
      count: ofCause.reduce((sum, row) => sum + row.counted, 0),
      isMore: ofCause.some(isFull),
      firstSeenUtc: new Date(Math.min(...ofCause.map((row) => row.first_utc.getTime()))),
      lastSeenUtc: new Date(Math.max(...ofCause.map((row) => row.last_utc.getTime()))),
    }))
    .sort((a, b) => b.lastSeenUtc.getTime() - a.lastSeenUtc.getTime());
};

interface CauseRow {
  readonly subscription_id: number;
  readonly state: DeliveryState;
  readonly last_error: ErrorClass | null;
  readonly last_status: number | null;
  readonly counted: number;
  readonly first_utc: Date;
  readonly last_utc: Date;
}

/** The states of deliveries that did not arrive. */
export const unusualStates = ['failed', 'held', 'dropped', 'waiting'] as const;

/** In which of these states each subscription has deliveries: one look into the index for each. */
export const readStates = async (db: Kysely<Tables>, companyId: number) => {
  const exists = unusualStates.map((state, at) => {
    const d = sql.raw(`d${at}`);
    return sql`EXISTS (
      SELECT /*+ INDEX(${d} by_state) */ 1 FROM deliveries AS ${d}
      WHERE ${d}.company_id = ${tenantIs(companyId)} AND ${d}.subscription_id = s.subscription_id
        AND ${d}.state = ${state}) AS ${sql.raw(state)}`;
  });
  const { rows } = await sql<SubscriptionStates>`
    SELECT s.subscription_id, ${sql.join(exists)} FROM subscriptions AS s
    WHERE s.company_id = ${tenantIs(companyId)}`.execute(db);
  return rows.flatMap((row) =>
    unusualStates
      .filter((state) => row[state] === 1)
      .map((state) => ({ subscription_id: row.subscription_id, state })),
  );
};

type SubscriptionStates = { readonly subscription_id: number } & {
  readonly [State in (typeof unusualStates)[number]]: number;
};
