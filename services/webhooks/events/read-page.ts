import { type EventType, Problem, type StoredEvent } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

export interface PageWanted {
  readonly order: 'asc' | 'desc';
  /** Continues after this sequence. Absent: starts at the first event in this order. */
  readonly from?: number | undefined;
  readonly type?: EventType | undefined;
  readonly limit: number;
}

export interface Page {
  readonly events: readonly (StoredEvent & { readonly sequence: number })[];
  /** The last sequence scanned, where the next page continues; 0 if none was. */
  readonly position: number;
  readonly hasMore: boolean;
}

/**
 * Reads a page of a company's events in commit order, or in reverse. crm assigns sequences so that a reader who
 * continues from the last one misses none (`event-log.ts` of crm).
 *
 * A page ends early, with `hasMore`, if its events are large or if matches are rare: the log has no index by type, so
 * a search by type scans it in chunks for a limited time.
 */
export const readPage = async (db: Kysely<Tables>, companyId: number, wanted: PageWanted): Promise<Page> => {
  const { order, type, limit } = wanted;
  const stopMs = performance.now() + maxSearchMs;
  const range = type === undefined ? undefined : await rangeOf(db, companyId);
  if (range && range.first > range.last) return { events: [], position: wanted.from ?? 0, hasMore: false };
  const events: Page['events'][number][] = [];
  let bytes = 0;
  let at = wanted.from ?? (order === 'asc' ? 0 : range ? range.last + 1 : Number.MAX_SAFE_INTEGER);
  for (;;) {
    const end =
      range && (order === 'asc' ? Math.min(at + stretch, range.last) : Math.max(at - stretch, range.first));
    const count = Math.min(limit - events.length + 1, rowsPerQuery);
    const rows = await readRows(db, companyId, { order, type, after: at, end, count });
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

/** One more than the default page size, so that no more large payloads are read than needed. */
const rowsPerQuery = 26;
/** A page of this size, with its envelopes, fits in one answer of a lane (3 MiB). */
const maxPageBytes = 2 * 2 ** 20;
/** Sequences that one query scans for a type. */
const stretch = 10_000;
const maxSearchMs = 1_000;

/**
 * The range of the company's sequences still stored; `first` is greater than `last` if none is. `last` is read first,
 * so every event up to `last` that is not stored has been removed.
 */
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

/** The position before the oldest event still stored, or at the end of the log if none is. */
export const startOfLog = async (db: Kysely<Tables>, companyId: number): Promise<number> =>
  (await rangeOf(db, companyId)).first - 1;

/**
 * Refuses a page that begins at a position behind which retention has removed events. Call it after reading the page,
 * so that no event is removed in between unnoticed.
 * @throws Problem `cursor_expired`
 */
export const assertNothingRemoved = async (
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

/** The sequence of the company's newest event; 0 if it never had one. */
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

const readRows = (db: Kysely<Tables>, companyId: number, { order, type, after, end, count }: Stretch) => {
  let query = db
    .selectFrom('events')
    .select(['company_id', 'sequence', 'event_id', 'type', 'created_utc', 'payload'])
    .where('company_id', '=', companyId)
    .where('sequence', order === 'asc' ? '>' : '<', after);
  if (end !== undefined) query = query.where('sequence', order === 'asc' ? '<=' : '>=', end);
  if (type !== undefined) query = query.where('type', '=', type);
  return query.orderBy('sequence', order).limit(count).execute();
};

interface Stretch {
  readonly order: 'asc' | 'desc';
  readonly type: EventType | undefined;
  /** Excluded. */
  readonly after: number;
  /** Included; absent: no end. */
  readonly end: number | undefined;
  readonly count: number;
}
