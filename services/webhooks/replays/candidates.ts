import { type EventType, invalidField, maxReplayDeliveries } from '@causeway/proto';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import type { Selection } from './selection.ts';

/** An event that a replay makes a delivery of. */
export interface Candidate {
  readonly event_id: number;
  readonly created_utc: Date;
  readonly event_type: EventType;
  /** Where to go on after it. */
  readonly position: number;
}

/** The next of them, from after a position on. */
export const readCandidates = (
  db: Kysely<Tables>,
  selection: Selection,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly Candidate[]> => candidates(db, selection, after).limit(limit).execute();

/**
 * How many there are.
 * @throws Problem `invalid_request` where that takes too long, or they are more than a replay may make.
 */
export const countCandidates = async (db: Kysely<Tables>, selection: Selection): Promise<number> => {
  const counted = db
    .selectFrom(
      candidates(db, selection, 0)
        .limit(maxReplayDeliveries + 1)
        .as('candidates'),
    )
    .modifyFront(sql`/*+ MAX_EXECUTION_TIME(${sql.lit(maxCountMs)}) */`)
    .select(({ fn }) => fn.countAll<number>().as('count'));
  const count = await counted.executeTakeFirst().catch((error: { errno?: number }) => {
    if (error.errno === queryTimeout) return undefined;
    throw error;
  });
  if (count === undefined)
    throw invalidField('since', 'there is too much to look through; choose a shorter time');
  if (count.count > maxReplayDeliveries)
    throw invalidField(
      'since',
      `a replay makes at most ${maxReplayDeliveries} deliveries; choose a shorter time`,
    );
  return count.count;
};

const maxCountMs = 3_000;
/** https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html#error_er_query_timeout */
const queryTimeout = 3024;

/** Two queries of the same columns, which is more than their types know. */
const candidates = (db: Kysely<Tables>, selection: Selection, after: number): CandidateQuery =>
  selection.states === null
    ? (missed(db, selection, after) as unknown as CandidateQuery)
    : (ended(db, selection, selection.states, after) as unknown as CandidateQuery);

type CandidateQuery = SelectQueryBuilder<Tables, keyof Tables, Candidate>;

/**
 * Deliveries that ended in one of the states, and after which nothing else became of their event: none waits, and
 * none was made later, but for those that were dropped. The times are said of the inner rows too, so that only
 * the partitions of these days are looked at.
 */
const ended = (
  db: Kysely<Tables>,
  { companyId, subscriptionId, since, until, begun, types, statusCodes }: Selection,
  states: NonNullable<Selection['states']>,
  after: number,
) => {
  let query = db
    .selectFrom('deliveries as d')
    .select(['d.event_id', 'd.created_utc', 'd.event_type', 'd.event_id as position'])
    .where('d.company_id', '=', companyId)
    .where('d.subscription_id', '=', subscriptionId)
    .where('d.state', 'in', states)
    .where('d.event_id', '>', after)
    .where('d.created_utc', '>=', since)
    .where('d.created_utc', '<', until)
    .where('d.updated_utc', '<=', begun);
  if (types) query = query.where('d.event_type', 'in', types);
  if (statusCodes) query = query.where('d.last_status', 'in', statusCodes);
  return query
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deliveries as other')
            .select('other.event_id')
            .whereRef('other.company_id', '=', 'd.company_id')
            .whereRef('other.event_id', '=', 'd.event_id')
            .whereRef('other.subscription_id', '=', 'd.subscription_id')
            .where('other.created_utc', '>=', since)
            .where('other.created_utc', '<', until)
            .where((eb) =>
              eb.or([
                eb('other.state', '=', 'waiting'),
                eb.and([
                  eb('other.replay_id', '>', eb.ref('d.replay_id')),
                  eb('other.state', '<>', 'dropped'),
                ]),
              ]),
            ),
        ),
      ),
    )
    .groupBy(['d.event_id', 'd.created_utc', 'd.event_type'])
    .orderBy('d.event_id');
};

/**
 * Events that have been fanned out, and for which nothing was ever tried: there is no delivery to the subscription,
 * or what there is was held or dropped before its first attempt. In the order of their commits.
 */
const missed = (
  db: Kysely<Tables>,
  { companyId, subscriptionId, since, until, types = [] }: Selection,
  after: number,
) =>
  db
    .selectFrom('events as e')
    .select(['e.event_id', 'e.created_utc', 'e.type as event_type', 'e.sequence as position'])
    .where('e.company_id', '=', companyId)
    .where('e.sequence', '>', after)
    .where('e.created_utc', '>=', since)
    .where('e.created_utc', '<', until)
    .where('e.type', 'in', types)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('event_outbox as waiting')
            .select('waiting.event_id')
            .whereRef('waiting.company_id', '=', 'e.company_id')
            .whereRef('waiting.event_id', '=', 'e.event_id'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deliveries as d')
            .select('d.event_id')
            .whereRef('d.company_id', '=', 'e.company_id')
            .whereRef('d.event_id', '=', 'e.event_id')
            .where('d.subscription_id', '=', subscriptionId)
            .where('d.created_utc', '>=', since)
            .where('d.created_utc', '<', until)
            .where((eb) => eb.or([eb('d.attempts', '>', 0), eb('d.state', 'not in', ['held', 'dropped'])])),
        ),
      ),
    )
    .orderBy('e.sequence');
