import { contract } from '@causeway/proto';
import { handler, json, tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import { readEventIds, recordOf } from '../events/by-record.ts';
import type { Tables } from '../tables.ts';
import { readStates, unusualStates } from './causes.ts';
import { type Filter, isFailing, matches, within } from './list.ts';

/**
 * Looks at a bounded number of rows, so that a page of a million deliveries costs no more than one of twenty thousand:
 * at the newest deliveries, and if there are more, at those in each state that is not the usual one, by its index.
 */
export const countDeliveries = ({ db }: WebhooksContext) =>
  handler(contract.countDeliveries, async ({ companyId, query }) => {
    const record = recordOf(query);
    const eventIds =
      record &&
      (await readEventIds(db, companyId, {
        ...{ record, before: Number.MAX_SAFE_INTEGER, count: mostEvents },
      }));
    if (eventIds?.length === 0) return json(200, answerOf(nothing, true));
    const selection = { companyId, filter: query, eventIds };
    const newest = await countNewest(db, selection);
    const isComplete = newest.looked <= mostRows && (eventIds?.length ?? 0) < mostEvents;
    if (isComplete || eventIds || query.eventId !== undefined) return json(200, answerOf(newest, isComplete));
    const unusual = await countUnusual(db, selection);
    return json(200, { ...answerOf(newest, false), ...unusual });
  });

const mostRows = 20_000;
const mostEvents = 500;
const mostCounted = 10_000;

interface Wanted {
  readonly companyId: number;
  readonly filter: Filter;
  readonly eventIds: readonly number[] | undefined;
}

interface Counts {
  readonly looked: number;
  readonly counted: number;
  readonly succeeded: number;
  readonly failing: number;
  readonly held: number;
}

const nothing: Counts = { looked: 0, counted: 0, succeeded: 0, failing: 0, held: 0 };

const bounded = (count: number, isComplete: boolean) => ({
  count: Math.min(count, mostCounted),
  isMore: !isComplete || count > mostCounted,
});

const answerOf = ({ counted, succeeded, failing, held }: Counts, isComplete: boolean) => ({
  all: bounded(counted, isComplete),
  succeeded: bounded(succeeded, isComplete),
  failing: bounded(failing, isComplete),
  held: bounded(held, isComplete),
});

const columns = sql`d.state, d.attempts, d.subscription_id, d.replay_id, d.event_type, d.last_status, d.last_error`;

const countNewest = async (db: Kysely<Tables>, { companyId, ...selection }: Wanted): Promise<Counts> => {
  const isMatch = matches(selection.filter);
  const { rows } = await sql<Counts>`
    SELECT COUNT(*) AS looked, COUNT(IF(${isMatch}, 1, NULL)) AS counted,
      COUNT(IF(${isMatch} AND d.state = 'succeeded', 1, NULL)) AS succeeded,
      COUNT(IF(${isMatch} AND ${isFailing}, 1, NULL)) AS failing,
      COUNT(IF(${isMatch} AND d.state = 'held', 1, NULL)) AS held
    FROM (
      SELECT /*+ INDEX(d PRIMARY) */ ${columns} FROM deliveries AS d
      WHERE d.company_id = ${tenantIs(companyId)} AND ${within(selection)}
      ORDER BY d.event_id DESC LIMIT ${sql.lit(mostRows + 1)}
    ) AS d`.execute(db);
  return rows[0]!;
};

/** The index of states begins with the subscription. */
const countUnusual = async (db: Kysely<Tables>, { companyId, filter }: Wanted) => {
  const { subscriptionId: chosen } = filter;
  const states = await readStates(db, companyId);
  const counted = await Promise.all(
    unusualStates.map(async (state) => {
      const subscriptionIds = states
        .filter((one) => one.state === state && one.subscription_id === (chosen ?? one.subscription_id))
        .map((one) => one.subscription_id);
      if (subscriptionIds.length === 0) return { ...nothing, state, isComplete: true };
      const { rows } = await sql<Omit<Counts, 'succeeded' | 'held'>>`
        SELECT COUNT(*) AS looked, COUNT(IF(${matches(filter)}, 1, NULL)) AS counted,
          COUNT(IF(${matches(filter)} AND ${isFailing}, 1, NULL)) AS failing
        FROM (
          SELECT /*+ INDEX(d by_state) */ ${columns} FROM deliveries AS d
          WHERE d.company_id = ${tenantIs(companyId)} AND d.subscription_id IN (${sql.join(subscriptionIds)})
            AND d.state = ${state} AND ${within({ filter })}
          LIMIT ${sql.lit(mostCounted + 1)}
        ) AS d`.execute(db);
      const row = rows[0]!;
      return { ...row, state, isComplete: row.looked <= mostCounted };
    }),
  );
  const held = counted.find(({ state }) => state === 'held')!;
  const failing = counted.reduce((sum, one) => sum + one.failing, 0);
  return {
    failing: bounded(
      failing,
      counted.every(({ isComplete }) => isComplete),
    ),
    held: bounded(held.counted, held.isComplete),
  };
};
