import type { DeliveryState, ErrorClass, EventType, PayloadCondition } from '@causeway/proto';
import { tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { eventsAtOnce, eventsMeeting, type SearchBounds, sizeFor } from './conditions.ts';
import type { DeliveryRow, ReplayRow, SubscriptionRow } from './tables.ts';

export interface ReplayCandidate {
  readonly event_id: number;
  readonly created_utc: Date;
  readonly event_type: EventType;
  readonly position: number;
}

interface FoundCandidates {
  readonly candidates: readonly ReplayCandidate[];
  readonly position: number;
  readonly end: boolean;
}

export const findReplayCandidates = async <DB>(
  db: Kysely<DB>,
  selection: ReplaySelection,
  { after, limit, maxMs }: { readonly after: number; readonly limit: number; readonly maxMs: number },
): Promise<FoundCandidates> => {
  const { states } = selection;
  const range = { ...selection, conditions: conditionsOf(selection) };
  const look = async (position: number) => {
    const looked = await (states === null
      ? readLog(db, range, position)
      : readEnded(db, selection, states, position));
    return {
      events: await onlyWanted(db, selection, looked),
      position: looked.at(-1)?.position ?? position,
      end: looked.length < eventsAtOnce(range.conditions),
    };
  };
  const bounds = { after, limit, stopMs: performance.now() + maxMs };
  const { found: candidates, ...rest } = await searchLog(db, range, look, bounds);
  return { candidates, ...rest };
};

/**
 * Looks at events chunk by chunk, until enough of them meet the conditions or the time is up. `end`: there are no more.
 * @param look reads a chunk of the events after a position, and says which of them are wanted.
 */
export const searchLog = async <Event extends LoggedEvent, DB>(
  db: Kysely<DB>,
  { companyId, conditions }: Pick<LogRange, 'companyId' | 'conditions'>,
  look: (after: number) => Promise<LookedEvents<Event>>,
  {
    after,
    limit,
    ...bounds
  }: { readonly after: number; readonly limit: number } & Omit<SearchBounds, 'most'>,
) => {
  const found: Event[] = [];
  for (let at = after; ; ) {
    const { events, position, end } = await look(at);
    const most = limit - found.length;
    const { met, examined } = await eventsMeeting(db, companyId, conditions, events, { ...bounds, most });
    found.push(...met.slice(0, most));
    if (found.length === limit) return { found, position: found.at(-1)!.position, end: false };
    if (examined < events.length) return { found, position: events[examined - 1]!.position, end: false };
    if (end || performance.now() > bounds.stopMs) return { found, position, end };
    at = position;
  }
};

interface LookedEvents<Event> {
  readonly events: readonly Event[];
  /** Of the last event looked at. */
  readonly position: number;
  readonly end: boolean;
}

const chunk = eventsAtOnce(null);
/** Deliveries that were made have met them. */
const conditionsOf = ({ states, conditions = null }: ReplaySelection) =>
  states === null ? conditions : null;

const readEnded = async <DB>(
  db: Kysely<DB>,
  { companyId, subscriptionId, since, until, startedUtc, types, statusCodes, errorClasses }: ReplaySelection,
  states: readonly DeliveryState[],
  after: number,
): Promise<readonly ExaminedEvent[]> => {
  const found = await Promise.all(
    // Within one state, the index has this order.
    states.map(async (state) => {
      const { rows } = await sql<EndedDelivery>`
        SELECT /*+ INDEX(d by_state) */
          d.event_id, d.replay_id, d.created_utc, d.event_type, d.last_status, d.last_error, d.updated_utc
        FROM deliveries AS d
        WHERE d.company_id = ${tenantIs(companyId)} AND d.subscription_id = ${subscriptionId}
          AND d.state = ${state} AND d.due_utc IS NULL AND d.event_id > ${after}
          AND d.created_utc >= ${since} AND d.created_utc < ${until}
        ORDER BY d.event_id LIMIT ${sql.lit(chunk)}`.execute(db);
      return rows;
    }),
  );
  const events = new Map<number, ExaminedEvent>();
  for (const row of found.flat()) {
    const isMatch =
      row.updated_utc <= startedUtc &&
      (types?.includes(row.event_type) ?? true) &&
      (statusCodes?.includes(row.last_status ?? 0) ?? true) &&
      (errorClasses === undefined || (row.last_error !== null && errorClasses.includes(row.last_error)));
    const seenEvent = events.get(row.event_id);
    events.set(row.event_id, {
      event_id: row.event_id,
      created_utc: row.created_utc,
      event_type: row.event_type,
      position: row.event_id,
      bytes: 0,
      ended: [...(seenEvent?.ended ?? []), ...(isMatch ? [row.replay_id] : [])],
    });
  }
  // The states' chunks end at different events: beyond the first `chunk` events, some may be missing.
  return [...events.values()].sort((a, b) => a.event_id - b.event_id).slice(0, chunk);
};

/** A chunk of the event log. */
export const readLog = async <DB>(
  db: Kysely<DB>,
  { companyId, since, until, through, types = [], conditions }: LogRange,
  after: number,
): Promise<readonly LoggedEvent[]> => {
  if (types.length === 0) return [];
  const { rows } = await sql<LoggedEvent>`
    SELECT /*+ INDEX(e PRIMARY) */ e.event_id, e.created_utc, e.type AS event_type, e.sequence AS position,
      ${sizeFor(conditions)} AS bytes
    FROM events AS e
    WHERE e.company_id = ${tenantIs(companyId)} AND e.sequence > ${after} AND e.created_utc >= ${since}
      ${until ? sql`AND e.created_utc < ${until}` : sql``}
      ${through === undefined ? sql`` : sql`AND e.sequence <= ${through}`}
      AND e.type IN (${sql.join(types)})
    ORDER BY e.sequence LIMIT ${sql.lit(eventsAtOnce(conditions))}`.execute(db);
  return rows;
};

interface LogRange extends Pick<ReplaySelection, 'companyId' | 'since' | 'types'> {
  readonly until?: Date;
  /** Up to this sequence. */
  readonly through?: number;
  readonly conditions: readonly PayloadCondition[] | null;
}

export interface LoggedEvent extends ReplayCandidate {
  readonly bytes: number;
}

type EndedDelivery = Pick<
  DeliveryRow,
  'event_id' | 'replay_id' | 'created_utc' | 'event_type' | 'last_status' | 'last_error' | 'updated_utc'
>;

/** `ended`: the replays whose deliveries of the event have ended as wanted. */
type ExaminedEvent = LoggedEvent & { readonly ended?: readonly number[] };

const onlyWanted = async <DB>(
  db: Kysely<DB>,
  selection: ReplaySelection,
  looked: readonly ExaminedEvent[],
): Promise<readonly LoggedEvent[]> => {
  const likely = selection.states === null ? looked : looked.filter(({ ended = [] }) => ended.length > 0);
  if (likely.length === 0) return [];
  // Before its deliveries: an event that is fanned out between the two reads is in one of them.
  const waiting = selection.states === null ? await readUnfanned(db, selection, likely) : new Set<number>();
  const siblings = await readEventDeliveries(db, selection, likely);
  return likely.filter(({ event_id, ended = [] }) => {
    const others = siblings.get(event_id) ?? [];
    return selection.states === null
      ? !waiting.has(event_id) && !others.some(wasTried)
      : ended.some((replayId) => isLast(replayId, others));
  });
};

/** A held delivery is no missed event: it may still be released or discarded. */
const wasTried = ({ attempts, state }: EventDelivery): boolean => attempts > 0 || state !== 'dropped';

const isLast = (replayId: number, others: readonly EventDelivery[]): boolean =>
  !others.some(
    ({ replay_id, state }) => state === 'waiting' || (replay_id > replayId && state !== 'dropped'),
  );

export type EventDelivery = Pick<DeliveryRow, 'event_id' | 'replay_id' | 'state' | 'attempts'>;

/** By event: its deliveries to the subscription, the last one last. */
export const readEventDeliveries = async <DB>(
  db: Kysely<DB>,
  { companyId, subscriptionId }: Pick<ReplaySelection, 'companyId' | 'subscriptionId'>,
  looked: readonly LoggedEvent[],
): Promise<ReadonlyMap<number, readonly EventDelivery[]>> => {
  if (looked.length === 0) return new Map();
  const times = looked.map(({ created_utc }) => created_utc.getTime());
  // The time range limits the query to the partitions of these days.
  const { rows } = await sql<EventDelivery>`
    SELECT event_id, replay_id, state, attempts FROM deliveries FORCE INDEX (PRIMARY)
    WHERE company_id = ${tenantIs(companyId)} AND subscription_id = ${subscriptionId}
      AND event_id IN (${looked.map(({ event_id }) => event_id)})
      AND created_utc >= ${new Date(Math.min(...times))}
      AND created_utc <= ${new Date(Math.max(...times))}
    ORDER BY event_id, replay_id`.execute(db);
  return Map.groupBy(rows, ({ event_id }) => event_id);
};

const readUnfanned = async <DB>(
  db: Kysely<DB>,
  { companyId }: ReplaySelection,
  looked: readonly ExaminedEvent[],
): Promise<ReadonlySet<number>> => {
  const { rows } = await sql<{ event_id: number }>`
    SELECT event_id FROM event_outbox FORCE INDEX (PRIMARY)
    WHERE company_id = ${tenantIs(companyId)}
      AND event_id IN (${looked.map(({ event_id }) => event_id)})`.execute(db);
  return new Set(rows.map((row) => row.event_id));
};

export interface ReplaySelection {
  readonly companyId: number;
  readonly subscriptionId: number;
  readonly since: Date;
  readonly until: Date;
  readonly types?: readonly EventType[] | undefined;
  /** Of the subscription, for events without any attempt. */
  readonly conditions?: readonly PayloadCondition[] | null | undefined;
  /** Null: events without any attempt. */
  readonly states: readonly DeliveryState[] | null;
  readonly statusCodes?: readonly number[] | undefined;
  readonly errorClasses?: readonly ErrorClass[] | undefined;
  readonly startedUtc: Date;
}

export const replayFilterOf = ({
  since,
  until,
  types,
  states,
  statusCodes,
  errorClasses,
}: ReplaySelection): string =>
  JSON.stringify({
    ...(since.getTime() > 0 && { since }),
    until,
    types,
    ...(states && { states }),
    statusCodes,
    errorClasses,
  });

export const replaySelectionOf = (
  row: ReplayRow,
  { conditions }: Pick<SubscriptionRow, 'conditions'>,
): ReplaySelection => {
  const { since, until, types, states, statusCodes, errorClasses } = row.filter as StoredFilter;
  return {
    companyId: row.company_id,
    subscriptionId: row.subscription_id,
    since: since === undefined ? new Date(0) : new Date(since),
    until: new Date(until),
    types,
    states: states ?? null,
    statusCodes,
    errorClasses,
    conditions,
    startedUtc: row.created_utc,
  };
};

interface StoredFilter {
  readonly since?: string;
  readonly until: string;
  readonly types?: readonly EventType[];
  readonly states?: readonly DeliveryState[];
  readonly statusCodes?: readonly number[];
  readonly errorClasses?: readonly ErrorClass[];
}
