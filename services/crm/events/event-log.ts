import {
  type EventPayload,
  type EventType,
  encodePayload,
  outboxLeaseMs,
  type StoredEvent,
} from '@causeway/proto';
import { insertedId, later, rowList, type Span, type Trx } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { insertRows } from '../store/rows.ts';
import type { Tables } from '../tables.ts';

export interface NewEvent {
  readonly companyId: number;
  readonly type: EventType;
  /** Returns compact JSON in UTF-8. Called after the statements before it have run, so it may use the ids they assigned. */
  readonly payload: () => Buffer;
  /** The caller's key for the event, stored until its window ends (contract, "Events"). */
  readonly dedupeKey?: string | undefined;
  readonly span?: Span | undefined;
}

export interface EventLog {
  /**
   * Writes the events of a transaction and publishes them after its commit. Call it last: the companies' other events
   * wait from here to the commit.
   * @returns the events in the shape of the argument; their ids are there after the commit.
   */
  write(
    transaction: { readonly trx: Trx<Tables>; readonly now: Date },
    events: readonly (readonly NewEvent[])[],
  ): Promise<readonly (readonly StoredEvent[])[]>;
}

/**
 * A counter row numbers each company's events 1, 2, 3, …, and the transaction locks it until its commit. So
 * numbers follow the order of commits: once event n can be read, so can every event below n, and a reader
 * that continues after the last number it has seen misses none, however late a transaction commits. A
 * rollback returns its numbers.
 *
 * Each event has a row in the outbox until its deliveries have rows. The row begins with a lease: the
 * dispatcher that gets the event's message may act on it without asking the database
 * (services/dispatcher/README.md).
 */
export const createEventLog = ({ publish }: EventLogOptions): EventLog => ({
  write: async ({ trx, now }, events) => {
    const all = events.flat();
    if (all.length === 0) return events.map(() => []);
    const rows = numbered(all, await takeNumbers(trx, all), now);
    // These travel with COMMIT, so that the counters are locked for two round trips only.
    await insertEvents(trx, rows);
    await insertOutbox(trx, rows, new Date(now.getTime() + outboxLeaseMs));
    await insertDedupeKeys(trx, rows, all);
    trx.onCommit(() => publish(rows, all));
    let from = 0;
    return events.map(({ length }) => {
      from += length;
      return rows.slice(from - length, from);
    });
  },
});

/** @returns the next number of each company, after its events are counted. */
const takeNumbers = async (trx: Kysely<Tables>, events: readonly NewEvent[]) => {
  const counts = new Map<number, number>();
  for (const { companyId } of events) counts.set(companyId, (counts.get(companyId) ?? 0) + 1);
  // Locked in the same order by every transaction, to avoid deadlocks.
  const taken = [...counts].sort(([a], [b]) => a - b);
  const count = sql`
    INSERT INTO event_sequences (company_id, last_sequence) VALUES ${rowList(taken)}
    ON DUPLICATE KEY UPDATE last_sequence = event_sequences.last_sequence + VALUES(last_sequence)`;
  await later(trx, count.compile(trx));
  const last = await trx
    .selectFrom('event_sequences')
    .select(['company_id', 'last_sequence', 'subscriptions_version'])
    .where(
      'company_id',
      'in',
      taken.map(([companyId]) => companyId),
    )
    .execute();
  return new Map(
    last.map((row) => [
      row.company_id,
      {
        next: row.last_sequence - counts.get(row.company_id)! + 1,
        subscriptionsVersion: row.subscriptions_version,
      },
    ]),
  );
};

const numbered = (events: readonly NewEvent[], numbers: Awaited<ReturnType<typeof takeNumbers>>, now: Date) =>
  events.map(({ companyId, type, payload }): NumberedEvent => {
    const company = numbers.get(companyId)!;
    return {
      company_id: companyId,
      sequence: company.next++,
      created_utc: now,
      event_id: 0,
      type,
      payload: payload(),
      subscriptionsVersion: company.subscriptionsVersion,
    };
  });

const insertEvents = insertRows(
  'events',
  ['company_id', 'sequence', 'created_utc', 'type', 'payload'],
  'event_id',
);

const insertOutbox = (trx: Kysely<Tables>, events: readonly NumberedEvent[], leasedUntil: Date) => {
  const rows = events.map((event, at) => [
    event.company_id,
    insertedId(at),
    event.sequence,
    event.created_utc,
    leasedUntil,
  ]);
  const insert = sql`
    INSERT INTO event_outbox (company_id, event_id, sequence, created_utc, leased_until)
    VALUES ${rowList(rows)}`;
  return later(trx, insert.compile(trx));
};

const insertDedupeKeys = async (
  trx: Kysely<Tables>,
  events: readonly NumberedEvent[],
  sources: readonly NewEvent[],
) => {
  const rows = events.flatMap(({ company_id, created_utc }, at) => {
    const { dedupeKey } = sources[at]!;
    return dedupeKey === undefined ? [] : [[company_id, dedupeKey, insertedId(at), created_utc]];
  });
  if (rows.length === 0) return;
  const insert = sql`
    INSERT INTO event_dedupe_keys (company_id, dedupe_key, event_id, created_utc) VALUES ${rowList(rows)}`;
  await later(trx, insert.compile(trx));
};

export const newEvent = <Type extends EventType>(
  companyId: number,
  type: Type,
  payload: EventPayload<Type> | (() => EventPayload<Type>),
): NewEvent => ({
  companyId,
  type,
  payload: () => encodePayload(typeof payload === 'function' ? payload() : payload),
});

interface EventLogOptions {
  /** Called after the commit with the stored events and the events they came from. */
  readonly publish: (committed: readonly CommittedEvent[], events: readonly NewEvent[]) => void;
}

/** An event with the version of its company's subscriptions at its commit. */
export interface CommittedEvent extends StoredEvent {
  readonly subscriptionsVersion: number;
}

interface NumberedEvent extends CommittedEvent {
  readonly sequence: number;
}
