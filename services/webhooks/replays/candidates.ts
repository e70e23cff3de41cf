import {
  type DeliveryRow,
  type DeliveryState,
  type EventType,
  invalidField,
  maxReplayDeliveries,
} from '@causeway/proto';
import { bigint, jsonTable, tenantIn } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';
import type { Selection } from './selection.ts';

/** An event that a replay delivers. */
export interface Candidate {
  readonly event_id: number;
  readonly created_utc: Date;
  readonly event_type: EventType;
  /** The position from which the search continues after it. */
  readonly position: number;
}

export interface Found {
  readonly candidates: readonly Candidate[];
  /** Everything up to this position has been examined. */
  readonly position: number;
  /** Whether the search has reached the end. */
  readonly end: boolean;
}

/**
 * Finds candidates after a position, chunk by chunk, until it has enough or the time is up. Counting and replaying
 * both use it, so that they agree.
 */
export const findCandidates = async (
  db: Kysely<Tables>,
  selection: Selection,
  { after, limit, maxMs }: { readonly after: number; readonly limit: number; readonly maxMs: number },
): Promise<Found> => {
  const stopMs = performance.now() + maxMs;
  const candidates: Candidate[] = [];
  for (let position = after; ; ) {
    const looked = await (selection.states === null
      ? readEvents(db, selection, position)
      : readEnded(db, selection, selection.states, position));
    const taken = await onlyWanted(db, selection, looked);
    for (const one of taken) {
      if (candidates.length === limit)
        return { candidates, position: candidates.at(-1)!.position, end: false };
      candidates.push(one);
    }
    position = looked.at(-1)?.position ?? position;
    const end = looked.length < chunk;
    if (end || candidates.length === limit || performance.now() > stopMs)
      return { candidates, position, end };
  }
};

/**
 * Counts the candidates.
 * @throws Problem `invalid_request` if that takes too long, or there are more than a replay may deliver.
 */
export const countCandidates = async (db: Kysely<Tables>, selection: Selection): Promise<number> => {
  const limit = maxReplayDeliveries + 1;
  const { candidates, end } = await findCandidates(db, selection, { after: 0, limit, maxMs: maxCountMs });
  if (candidates.length === limit)
    throw invalidField(
      'since',
      `a replay makes at most ${maxReplayDeliveries} deliveries; choose a shorter time`,
    );
  if (!end) throw invalidField('since', 'there is too much to look through; choose a shorter time');
  return candidates.length;
};

/** Rows that one query reads. */
const chunk = 2_000;
const maxCountMs = 10_000;

/** Deliveries that ended in one of the states, each event once, in the order of the events. */
const readEnded = async (
  db: Kysely<Tables>,
  { companyId, subscriptionId, since, until, startedUtc, types, statusCodes }: Selection,
  states: readonly DeliveryState[],
  after: number,
): Promise<readonly Looked[]> => {
  const found = await Promise.all(
    // Within one state, the index has this order.
    states.map((state) =>
      db
        .selectFrom('deliveries as d')
        .modifyFront(sql`/*+ INDEX(d by_state) */`)
        .select(['event_id', 'replay_id', 'created_utc', 'event_type', 'last_status', 'updated_utc'])
        .where('company_id', '=', companyId)
        .where('subscription_id', '=', subscriptionId)
        .where('state', '=', state)
        .where('due_utc', 'is', null)
        .where('event_id', '>', after)
        .where('created_utc', '>=', since)
        .where('created_utc', '<', until)
        .orderBy('event_id')
        .limit(chunk)
        .execute(),
    ),
  );
  const events = new Map<number, Looked>();
  for (const row of found.flat()) {
    const wanted =
      row.updated_utc <= startedUtc &&
      (types?.includes(row.event_type) ?? true) &&
      (statusCodes?.includes(row.last_status ?? 0) ?? true);
    const known = events.get(row.event_id);
    events.set(row.event_id, {
      event_id: row.event_id,
      created_utc: row.created_utc,
      event_type: row.event_type,
      position: row.event_id,
      ended: [...(known?.ended ?? []), ...(wanted ? [row.replay_id] : [])],
    });
  }
  // The states' chunks end at different events: beyond the first `chunk` events, some may be missing.
  return [...events.values()].sort((a, b) => a.event_id - b.event_id).slice(0, chunk);
};

/** Events of the types, in the order of their commits. */
const readEvents = async (
  db: Kysely<Tables>,
  { companyId, since, until, types = [] }: Selection,
  after: number,
): Promise<readonly Looked[]> => {
  const rows = await db
    .selectFrom('events as e')
    .modifyFront(sql`/*+ INDEX(e PRIMARY) */`)
    .select(['event_id', 'created_utc', 'type as event_type', 'sequence as position'])
    .where('company_id', '=', companyId)
    .where('sequence', '>', after)
    .where('created_utc', '>=', since)
    .where('created_utc', '<', until)
    .where('type', 'in', types)
    .orderBy('sequence')
    .limit(chunk)
    .execute();
  return rows.map((row) => ({ ...row, ended: [] }));
};

interface Looked extends Candidate {
  /** The replay ids of its deliveries that match the filter. */
  readonly ended: readonly number[];
}

const onlyWanted = async (
  db: Kysely<Tables>,
  selection: Selection,
  looked: readonly Looked[],
): Promise<readonly Candidate[]> => {
  const likely = selection.states === null ? looked : looked.filter(({ ended }) => ended.length > 0);
  if (likely.length === 0) return [];
  const siblings = Map.groupBy(await readSiblings(db, selection, likely), (row) => row.event_id);
  const waiting = selection.states === null ? await readUnfanned(db, selection, likely) : new Set<number>();
  return likely
    .filter(({ event_id, ended }) => {
      const others = siblings.get(event_id) ?? [];
      return selection.states === null
        ? !waiting.has(event_id) && !others.some(wasTried)
        : ended.some((replayId) => isLast(replayId, others));
    })
    .map(({ ended, ...candidate }) => candidate);
};

/** Whether the delivery was attempted, or will be. */
const wasTried = ({ attempts, state }: Sibling): boolean =>
  attempts > 0 || (state !== 'held' && state !== 'dropped');

/** Whether this is the event's last delivery: none is waiting, and no later one exists that was not dropped. */
const isLast = (replayId: number, others: readonly Sibling[]): boolean =>
  !others.some(
    ({ replay_id, state }) => state === 'waiting' || (replay_id > replayId && state !== 'dropped'),
  );

type Sibling = Pick<DeliveryRow, 'event_id' | 'replay_id' | 'state' | 'attempts'>;

/** All deliveries of these events to the subscription. */
const readSiblings = async (
  db: Kysely<Tables>,
  { companyId, subscriptionId }: Selection,
  looked: readonly Looked[],
): Promise<readonly Sibling[]> => {
  const times = looked.map(({ created_utc }) => created_utc.getTime());
  // The time range limits the query to the partitions of these days.
  const { rows } = await sql<Sibling>`
    SELECT d.event_id, d.replay_id, d.state, d.attempts
    FROM ${eventTable(looked)} AS k
    STRAIGHT_JOIN deliveries AS d FORCE INDEX (PRIMARY) ON d.event_id = k.event_id
    WHERE d.company_id in ${tenantIn(companyId)} AND d.subscription_id = ${subscriptionId}
      AND d.created_utc >= ${new Date(Math.min(...times))}
      AND d.created_utc <= ${new Date(Math.max(...times))}`.execute(db);
  return rows;
};

/** The ids of those events that are still to be fanned out. */
const readUnfanned = async (
  db: Kysely<Tables>,
  { companyId }: Selection,
  looked: readonly Looked[],
): Promise<ReadonlySet<number>> => {
  const { rows } = await sql<{ event_id: number }>`
    SELECT o.event_id FROM ${eventTable(looked)} AS k
    STRAIGHT_JOIN event_outbox AS o ON o.event_id = k.event_id
    WHERE o.company_id in ${tenantIn(companyId)}`.execute(db);
  return new Set(rows.map((row) => row.event_id));
};

const eventTable = (looked: readonly Looked[]) =>
  jsonTable(
    { event_id: bigint },
    looked.map(({ event_id }) => [event_id]),
  );
