import { contract } from '@causeway/proto';
import { handler, json, tenantIs } from '@causeway/runtime';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { readEventIds, recordOf } from '../events/by-record.ts';
import type { Tables } from '../tables.ts';
import { type Filter, matches, within } from './list.ts';
import {
  isUndelivered,
  readUndelivered,
  sumOfUndelivered,
  type Undelivered,
  type UndeliveredGroup,
} from './undelivered.ts';

/**
 * Looks at a bounded number of rows, so that a page of a million deliveries costs no more than one of twenty thousand:
 * at the newest deliveries, and at those in each state that is not the usual one, by its index.
 */
export const countDeliveries = ({ db }: WebhooksContext) =>
  handler(contract.countDeliveries, async ({ companyId, query }) => {
    const { subscriptionId, ...others } = query;
    // The same call as that of other pages, which includes what was missed.
    const whole = Object.values(others).every((value) => value === undefined)
      ? await readUndelivered(db, companyId, { subscriptionId })
      : undefined;
    const record = recordOf(query);
    const eventIds =
      record &&
      (await readEventIds(db, companyId, {
        ...{ record, before: Number.MAX_SAFE_INTEGER, count: mostEvents },
      }));
    const selection = { companyId, filter: query, eventIds, whole };
    const newest = eventIds?.length === 0 ? nothing : await countNewest(db, selection);
    const isComplete = newest.looked <= mostRows && (eventIds?.length ?? 0) < mostEvents;
    const rare =
      isComplete || whole || eventIds || query.eventId !== undefined
        ? newest
        : await countRare(db, selection);
    const isRareComplete = rare === newest ? isComplete : rare.looked <= mostCounted;
    return json(200, {
      all: bounded(newest.counted, isComplete),
      succeeded: bounded(newest.succeeded, isComplete),
      held: whole ? countsIn(whole, 'held') : bounded(rare.held, isRareComplete),
      undelivered: whole
        ? { ...sumOfUndelivered(whole), missed: countsIn(whole, 'missed').count }
        : { ...bounded(rare.undelivered, isRareComplete), oldestUtc: rare.oldest, missed: 0 },
    });
  });

const countsIn = (groups: readonly UndeliveredGroup[], state: UndeliveredGroup['state']) => {
  const { count, isMore } = sumOfUndelivered(groups.filter((one) => one.state === state));
  return { count, isMore };
};

const mostRows = 20_000;
const mostEvents = 500;
const mostCounted = 10_000;

interface Wanted {
  readonly companyId: number;
  readonly filter: Filter;
  readonly eventIds: readonly number[] | undefined;
  /** What has not arrived, if it is counted already. */
  readonly whole: readonly UndeliveredGroup[] | undefined;
}

interface Counts {
  readonly looked: number;
  readonly counted: number;
  readonly succeeded: number;
  readonly undelivered: number;
  readonly held: number;
  readonly oldest: Undelivered['oldestUtc'];
}

const nothing: Counts = { looked: 0, counted: 0, succeeded: 0, undelivered: 0, held: 0, oldest: null };

const bounded = (count: number, isComplete: boolean) => ({
  count: Math.min(count, mostCounted),
  isMore: !isComplete || count > mostCounted,
});

const columns = sql.raw(
  [
    'state',
    'event_id',
    'subscription_id',
    'replay_id',
    'created_utc',
    'event_type',
    'last_status',
    'last_error',
  ]
    .map((column) => `d.${column}`)
    .join(', '),
);

const countRows = async (
  db: Kysely<Tables>,
  { companyId, filter, whole }: Wanted,
  looked: RawBuilder<unknown>,
): Promise<Counts> => {
  const { rows } = await sql<Counts>`
    SELECT COUNT(*) AS looked, COUNT(IF(is_match, 1, NULL)) AS counted,
      COUNT(IF(is_match AND state = 'succeeded', 1, NULL)) AS succeeded,
      COUNT(IF(is_match AND is_open, 1, NULL)) AS undelivered,
      COUNT(IF(is_match AND state = 'held', 1, NULL)) AS held,
      MIN(IF(is_match AND is_open, created_utc, NULL)) AS oldest
    FROM (
      SELECT d.state, d.created_utc, ${matches(companyId, filter)} AS is_match,
        ${whole ? sql`FALSE` : isUndelivered(companyId)} AS is_open
      FROM (${looked}) AS d
    ) AS counted`.execute(db);
  return rows[0]!;
};

const countNewest = (db: Kysely<Tables>, selection: Wanted): Promise<Counts> =>
  countRows(
    db,
    selection,
    sql`SELECT /*+ INDEX(d PRIMARY) */ ${columns} FROM deliveries AS d
      WHERE d.company_id = ${tenantIs(selection.companyId)} AND ${within(selection)}
      ORDER BY d.event_id DESC LIMIT ${sql.lit(mostRows + 1)}`,
  );

/** The index of states begins with the subscription. */
const countRare = (db: Kysely<Tables>, selection: Wanted): Promise<Counts> => {
  const { companyId, filter } = selection;
  const { subscriptionId } = filter;
  return countRows(
    db,
    selection,
    sql`SELECT /*+ JOIN_PREFIX(s, d) INDEX(d by_state) */ ${columns}
      FROM subscriptions AS s
      JOIN deliveries AS d ON d.company_id = ${tenantIs(companyId)} AND d.subscription_id = s.subscription_id
        AND d.state IN ('waiting', 'held', 'failed')
      WHERE s.company_id = ${tenantIs(companyId)} AND ${within({ filter })}
        AND ${subscriptionId === undefined ? sql`TRUE` : sql`s.subscription_id = ${subscriptionId}`}
      LIMIT ${sql.lit(mostCounted + 1)}`,
  );
};
