import {
  contract,
  type EventType,
  encodeEnvelope,
  encodePayload,
  eventTypes,
  invalidField,
  maskPayload,
  notFound,
  Problem,
  type Role,
  type StoredEvent,
  sampleDelivery,
  sampleSecret,
} from '@causeway/proto';
import { createPauses, handler, json } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';
import type { WebhooksCursors } from '../cursors.ts';
import type { Tables } from '../tables.ts';
import { type EventRecord, ofRecord, recordOf } from './by-record.ts';

/** Ascending, every page has a cursor, for newer events; descending, the last page has none. */
export const listEvents = ({ db, cursors }: WebhooksContext) =>
  handler(contract.listEvents, async (call) => {
    const { companyId, query } = call;
    const { order, cursor, type: types, limit, include, wait } = query;
    const list = `events ${order}` as const;
    const begin = include === 'meta' ? entriesOpening : opening;
    // The gateway waits (contract, "Waiting").
    if (wait > 0 && order !== 'asc') throw invalidField('wait', 'must_agree', 'wait needs order=asc');
    if (cursor === 'latest') {
      if (order !== 'asc')
        throw invalidField('cursor', 'must_agree', 'invalid cursor: latest needs order=asc');
      const nextCursor = await cursors.seal(companyId, list, await lastSequence(db, companyId));
      return { status: 200, body: pageBody([], nextCursor, false, begin) };
    }
    let from = await openCursor(cursors, companyId, order, cursor);
    if (order === 'asc') from ??= await startOfLog(db, companyId);
    const page = await readPage(db, companyId, { order, from, types, limit });
    if (order === 'asc' && cursor !== undefined) await assertNothingRemoved(db, companyId, from!, page);
    const { events, position, hasMore } = page;
    const goesOn = order === 'asc' || hasMore;
    const nextCursor = goesOn ? await cursors.seal(companyId, list, position) : null;
    const shown = events.map(include === 'meta' ? encodeWithMeta : encodeEnvelope);
    return { status: 200, body: pageBody(shown, nextCursor, hasMore, begin) };
  });

/** @throws Problem `invalid_request`, which says so if the cursor belongs to the other order. */
const openCursor = async (
  cursors: WebhooksCursors,
  companyId: number,
  order: 'asc' | 'desc',
  cursor: string | undefined,
): Promise<number | undefined> => {
  try {
    return (await cursors.open(companyId, `events ${order}`, cursor))[0];
  } catch (error) {
    const other = order === 'asc' ? 'desc' : 'asc';
    await cursors.open(companyId, `events ${other}`, cursor).catch(() => {
      throw error;
    });
    throw invalidField('cursor', 'must_agree', `invalid cursor: it belongs to order=${other}`);
  }
};

export const listPortalEvents = ({ db, cursors }: WebhooksContext) =>
  handler(contract.listPortalEvents, async ({ companyId, user, query }) => {
    const { cursor, type, limit } = query;
    const [from] = await cursors.open(companyId, 'events desc', cursor);
    const page = await readPage(db, companyId, {
      order: 'desc',
      from,
      types: type && [type],
      record: recordOf(query),
      limit,
    });
    const { events, position, hasMore } = page;
    const nextCursor = hasMore ? await cursors.seal(companyId, 'events desc', position) : null;
    const pause = createPauses();
    const envelopes: Buffer[] = [];
    for (const event of events) {
      envelopes.push(shownEnvelope(event, user.role));
      await pause();
    }
    return { status: 200, body: pageBody(envelopes, nextCursor, hasMore) };
  });

export const listSampleEvents = ({ now }: WebhooksContext) =>
  handler(contract.listSampleEvents, async ({ companyId, query }) => {
    const types = query.type ? [query.type] : eventTypes;
    const samples = types.map((type) => sampleDelivery(type, companyId, now()));
    return json(200, { samples, signingSecret: sampleSecret });
  });

export const getEvent = ({ db }: WebhooksContext) =>
  handler(contract.getEvent, async (call) => {
    const { companyId } = call;
    const event = await readEvent(db, companyId, call.id('event'));
    if (!event) throw notFound('event');
    return { status: 200, body: encodeEnvelope(event) };
  });

export const getPortalEvent = ({ db }: WebhooksContext) =>
  handler(contract.getPortalEvent, async (call) => {
    const event = await readEvent(db, call.companyId, call.id('event'));
    if (!event) throw notFound('event');
    return { status: 200, body: shownEnvelope(event, call.user.role) };
  });

/** For viewers and strangers with a link. */
export const maskedEvent = <Event extends StoredEvent>(event: Event): Event => ({
  ...event,
  payload: encodePayload(maskPayload(event.type, JSON.parse(event.payload.toString()))),
});

const shownEnvelope = (event: StoredEvent & Pick<ListedEvent, 'origin'>, role: Role): Buffer => {
  const bytes = encodeEnvelope(role === 'viewer' ? maskedEvent(event) : event);
  return Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,"origin":${JSON.stringify(event.origin)}}`)]);
};

const encodeWithMeta = (event: ListedEvent): Buffer =>
  Buffer.concat([
    Buffer.from('{"event":'),
    encodeEnvelope(event),
    Buffer.from(`,"origin":${JSON.stringify(event.origin)},"sequence":${event.sequence}}`),
  ]);

const pageBody = (
  envelopes: readonly Buffer[],
  nextCursor: string | null,
  hasMore: boolean,
  begin = opening,
): Buffer => {
  const rest = `],"nextCursor":${JSON.stringify(nextCursor)},"hasMore":${hasMore}}`;
  const separated = envelopes.flatMap((envelope, at) => (at === 0 ? [envelope] : [comma, envelope]));
  return Buffer.concat([begin, ...separated, Buffer.from(rest)]);
};

const opening = Buffer.from('{"events":[');
const entriesOpening = Buffer.from('{"events":[],"entries":[');
const comma = Buffer.from(',');

/** Undefined if the event does not exist or retention has removed it. */
export const readEvent = (
  db: Kysely<Tables>,
  companyId: number,
  eventId: number,
): Promise<Omit<ListedEvent, 'sequence'> | undefined> =>
  db
    .selectFrom('events')
    .select(['company_id', 'event_id', 'type', 'created_utc', 'payload', 'origin'])
    .where('company_id', '=', companyId)
    .where('event_id', '=', eventId)
    .executeTakeFirst();

interface PageWanted {
  readonly order: 'asc' | 'desc';
  /** Continues after this sequence. Absent: starts at the first event in this order. */
  readonly from?: number | undefined;
  /** Absent: all. */
  readonly types?: readonly EventType[] | undefined;
  /** Absent: those of all records. */
  readonly record?: EventRecord | undefined;
  readonly limit: number;
}

type ListedEvent = StoredEvent & { readonly sequence: number; readonly origin: string | null };

interface Page {
  readonly events: readonly ListedEvent[];
  /** The last sequence scanned, where the next page continues; 0 if none was. */
  readonly position: number;
  readonly hasMore: boolean;
}

/**
 * crm assigns sequences so that a reader who continues from the last one misses none (`event-log.ts` of crm).
 * A page ends early, with `hasMore`, if its events are large or matches are rare: the log has no index by
 * type, so a search by type scans it in chunks for a limited time. It has indexes by record.
 */
const readPage = async (db: Kysely<Tables>, companyId: number, selection: PageWanted): Promise<Page> => {
  const { order, types, record, limit } = selection;
  const stopMs = performance.now() + maxSearchMs;
  const range = types === undefined || record ? undefined : await rangeOf(db, companyId);
  if (range && range.first > range.last) return { events: [], position: selection.from ?? 0, hasMore: false };
  const events: ListedEvent[] = [];
  let bytes = 0;
  let at = selection.from ?? (order === 'asc' ? 0 : range ? range.last + 1 : Number.MAX_SAFE_INTEGER);
  for (;;) {
    const end =
      range &&
      (order === 'asc'
        ? Math.min(at + stretchLength, range.last)
        : Math.max(at - stretchLength, range.first));
    const stretch: Stretch = { order, types, record, after: at, end };
    const most = limit - events.length + 1;
    const count =
      most <= rowsUnmeasured ? most : await countThatFit(db, companyId, stretch, most, maxPageBytes - bytes);
    const rows = await readRows(db, companyId, stretch, count);
    for (const row of rows) {
      bytes += row.payload.length;
      if (events.length === limit || (events.length > 0 && bytes > maxPageBytes))
        return { events, position: at, hasMore: true };
      events.push(row);
      at = row.sequence;
    }
    if (rows.length === count) continue;
    if (!range || end === undefined) return { events, position: at, hasMore: false };
    at = order === 'asc' ? Math.max(at, end) : Math.min(at, end);
    // A log restored from a backup has a gap in its sequences that is thousands of chunks wide.
    if (rows.length === 0) at = await skipGap(db, companyId, order, at, range);
    if (order === 'asc' ? at >= range.last : at <= range.first)
      return { events, position: at, hasMore: false };
    if (performance.now() > stopMs) return { events, position: at, hasMore: true };
  }
};

/** One more than the default page size. Before reading more, their sizes are added up: payloads can be large. */
const rowsUnmeasured = 26;
/** A page of this size, with its envelopes, fits in one answer of a lane (3 MiB). */
const maxPageBytes = 2 * 2 ** 20;
/** Sequences that one query scans for types. */
const stretchLength = 10_000;
const maxSearchMs = 1_000;

/** `first` > `last` if none is stored. `last` is read first: what is missing up to it was removed. */
const rangeOf = async (
  db: Kysely<Tables>,
  companyId: number,
): Promise<{ readonly first: number; readonly last: number }> => {
  const last = await lastSequence(db, companyId);
  const oldest = await oldestEvent(db, companyId);
  return { first: oldest?.sequence ?? last + 1, last };
};

const oldestEvent = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('events')
    .select(['sequence', 'created_utc'])
    .where('company_id', '=', companyId)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst();

const startOfLog = async (db: Kysely<Tables>, companyId: number): Promise<number> =>
  (await rangeOf(db, companyId)).first - 1;

/** Call it after reading the page, so that no event is removed unnoticed. @throws Problem `cursor_expired` */
const assertNothingRemoved = async (
  db: Kysely<Tables>,
  companyId: number,
  from: number,
  { events: [first] }: Page,
): Promise<void> => {
  if (first?.sequence === from + 1) return;
  if ((await lastSequence(db, companyId)) <= from) return;
  const oldest = await oldestEvent(db, companyId);
  if (oldest && oldest.sequence <= from + 1) return;
  const extra = { oldestUtc: oldest?.created_utc.toISOString() ?? null };
  throw new Problem({ code: 'cursor_expired', extra });
};

/** 0 if the company never had an event. */
export const lastSequence = async (db: Kysely<Tables>, companyId: number): Promise<number> => {
  const row = await db
    .selectFrom('event_sequences')
    .select('last_sequence')
    .where('company_id', '=', companyId)
    .executeTakeFirst();
  return row?.last_sequence ?? 0;
};

/** The position just before the next existing event, or the range's end. */
const skipGap = async (
  db: Kysely<Tables>,
  companyId: number,
  order: PageWanted['order'],
  after: number,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<number> => {
  const next = await db
    .selectFrom('events')
    .select('sequence')
    .where('company_id', '=', companyId)
    .where('sequence', order === 'asc' ? '>' : '<', after)
    .orderBy('sequence', order)
    .limit(1)
    .executeTakeFirst();
  if (order === 'asc') return Math.min(next ? next.sequence - 1 : last, last);
  return Math.max(next ? next.sequence + 1 : first, first);
};

/** @returns how many rows to read: one more than fit in a page, or than there are. */
const countThatFit = async (
  db: Kysely<Tables>,
  companyId: number,
  stretch: Stretch,
  most: number,
  bytes: number,
): Promise<number> => {
  const sizes = await selectRows(db, companyId, stretch)
    .select(sql<number>`LENGTH(payload)`.as('bytes'))
    .limit(most)
    .execute();
  let left = bytes;
  let fit = 0;
  for (const row of sizes) {
    left -= row.bytes;
    if (left < 0) break;
    fit++;
  }
  return Math.min(most, fit + 1);
};

const readRows = (db: Kysely<Tables>, companyId: number, stretch: Stretch, count: number) =>
  selectRows(db, companyId, stretch)
    .select(['company_id', 'sequence', 'event_id', 'type', 'created_utc', 'payload', 'origin'])
    .limit(count)
    .execute();

const selectRows = (db: Kysely<Tables>, companyId: number, { order, types, record, after, end }: Stretch) => {
  let query = ofRecord(db.selectFrom('events').where('company_id', '=', companyId), record).where(
    'sequence',
    order === 'asc' ? '>' : '<',
    after,
  );
  if (end !== undefined) query = query.where('sequence', order === 'asc' ? '<=' : '>=', end);
  if (types !== undefined) query = query.where('type', 'in', types);
  return query.orderBy('sequence', order);
};

interface Stretch {
  readonly order: 'asc' | 'desc';
  readonly types: readonly EventType[] | undefined;
  readonly record: EventRecord | undefined;
  readonly after: number;
  /** Included; absent: no end. */
  readonly end: number | undefined;
}
