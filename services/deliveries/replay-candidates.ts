import type { DeliveryState, ErrorClass, EventType, PayloadCondition } from '@causeway/proto';
import { tenantIs } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { eventsAtOnce, eventsMeeting, sizeFor } from './conditions.ts';
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

/** Reads chunk by chunk, until there are enough candidates or the time is up. */
export const findReplayCandidates = async <DB>(
  db: Kysely<DB>,
  selection: ReplaySelection,
  { after, limit, maxMs }: { readonly after: number; readonly limit: number; readonly maxMs: number },
): Promise<FoundCandidates> => {
  const stopMs = performance.now() + maxMs;
  const candidates: ReplayCandidate[] = [];
  for (let position = after; ; ) {
    const looked = await (selection.states === null
      ? readEvents(db, selection, position)
      : readEnded(db, selection, selection.states, position));
    const selected = await onlyWanted(db, selection, looked);
    const { met, examined } = await eventsMeeting(
      db,
      selection.companyId,
      conditionsOf(selection),
      selected,
      {
        most: limit - candidates.length + 1,
        stopMs,
      },
    );
    for (const one of met) {
      if (candidates.length === limit)
        return { candidates, position: candidates.at(-1)!.position, end: false };
      candidates.push(one);
    }
    if (examined < selected.length)
      return { candidates, position: selected[examined - 1]!.position, end: false };
    position = looked.at(-1)?.position ?? position;
    const end = looked.length < chunkOf(selection);
    if (end || candidates.length === limit || performance.now() > stopMs)
      return { candidates, position, end };
  }
};

const chunk = eventsAtOnce(null);
/** Deliveries that were made have met them. */
const conditionsOf = ({ states, conditions = null }: ReplaySelection) =>
  states === null ? conditions : null;
const chunkOf = (selection: ReplaySelection): number => eventsAtOnce(conditionsOf(selection));

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

const readEvents = async <DB>(
  db: Kysely<DB>,
  selection: ReplaySelection,
  after: number,
): Promise<readonly ExaminedEvent[]> => {
  const { companyId, since, until, types = [] } = selection;
  if (types.length === 0) return [];
  const { rows } = await sql<ReplayCandidate & { readonly bytes: number }>`
    SELECT /*+ INDEX(e PRIMARY) */ e.event_id, e.created_utc, e.type AS event_type, e.sequence AS position,
      ${sizeFor(conditionsOf(selection))} AS bytes
    FROM events AS e
    WHERE e.company_id = ${tenantIs(companyId)} AND e.sequence > ${after}
      AND e.created_utc >= ${since} AND e.created_utc < ${until} AND e.type IN (${sql.join(types)})
    ORDER BY e.sequence LIMIT ${sql.lit(chunkOf(selection))}`.execute(db);
  return rows.map((row) => ({ ...row, ended: [] }));
};

type EndedDelivery = Pick<
  DeliveryRow,
  'event_id' | 'replay_id' | 'created_utc' | 'event_type' | 'last_status' | 'last_error' | 'updated_utc'
>;

interface ExaminedEvent extends ReplayCandidate {
  readonly bytes: number;
  readonly ended: readonly number[];
}

const onlyWanted = async <DB>(
  db: Kysely<DB>,
  selection: ReplaySelection,
  looked: readonly ExaminedEvent[],
): Promise<readonly Omit<ExaminedEvent, 'ended'>[]> => {
  const likely = selection.states === null ? looked : looked.filter(({ ended }) => ended.length > 0);
  if (likely.length === 0) return [];
  // Before its deliveries: an event that is fanned out between the two reads is in one of them.
  const waiting = selection.states === null ? await readUnfanned(db, selection, likely) : new Set<number>();
  const siblings = Map.groupBy(await readSiblings(db, selection, likely), (row) => row.event_id);
  return likely
    .filter(({ event_id, ended }) => {
      const others = siblings.get(event_id) ?? [];
      return selection.states === null
        ? !waiting.has(event_id) && !others.some(wasTried)
        : ended.some((replayId) => isLast(replayId, others));
    })
    .map(({ ended, ...candidate }) => candidate);
};

/** A held delivery is no missed event: it may still be released or discarded. */
const wasTried = ({ attempts, state }: Sibling): boolean => attempts > 0 || state !== 'dropped';

const isLast = (replayId: number, others: readonly Sibling[]): boolean =>
  !others.some(
    ({ replay_id, state }) => state === 'waiting' || (replay_id > replayId && state !== 'dropped'),
  );

type Sibling = Pick<DeliveryRow, 'event_id' | 'replay_id' | 'state' | 'attempts'>;

const readSiblings = async <DB>(
  db: Kysely<DB>,
  { companyId, subscriptionId }: ReplaySelection,
  looked: readonly ExaminedEvent[],
): Promise<readonly Sibling[]> => {
  const times = looked.map(({ created_utc }) => created_utc.getTime());
  // The time range limits the query to the partitions of these days.
  const { rows } = await sql<Sibling>`
    SELECT event_id, replay_id, state, attempts FROM deliveries FORCE INDEX (PRIMARY)
    WHERE company_id = ${tenantIs(companyId)} AND subscription_id = ${subscriptionId}
      AND event_id IN (${looked.map(({ event_id }) => event_id)})
      AND created_utc >= ${new Date(Math.min(...times))}
      AND created_utc <= ${new Date(Math.max(...times))}`.execute(db);
  return rows;
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
