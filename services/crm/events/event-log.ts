import {
  type EventPayload,
  type EventType,
  encodePayload,
  outboxLeaseMs,
  type RecordType,
  type StoredEvent,
  type WrittenKind,
} from '@causeway/proto';
import { insertedId, later, rowList, type Span, type Trx } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { insertRows, updateRows } from '../store/rows.ts';
import type { Tables } from '../tables.ts';

export interface NewEvent {
  readonly companyId: number;
  readonly type: EventType;
  /** Returns compact JSON in UTF-8. Called after the statements before it have run, so it may use the ids they assigned. */
  readonly payload: () => Buffer;
  /** The caller's key for the event, stored until its window ends (contract, "Events"). */
  readonly dedupeKey?: string | undefined;
}

/** A person, affiliate or note of which a value changed, as it is now. Its id may be known only later, as an event's payload. */
export type ChangedRecord = {
  readonly [Type in RecordType]: {
    readonly type: Type;
    readonly row: Readonly<Record<(typeof recordKeys)[Type][1], number>> & {
      readonly company_id: number;
      readonly version: number;
      readonly updated_utc: Date;
    };
    readonly isDeleted?: boolean;
  };
}[RecordType];

/** What a call writes beside its records. */
export interface WrittenCall {
  /** Who caused it (contract, "Changes"). */
  readonly origin: string;
  readonly events: readonly NewEvent[];
  readonly records: readonly ChangedRecord[];
  readonly span?: Span | undefined;
}

/** The table of each type of record, and the column of its id. */
export const recordKeys = {
  person: ['clients', 'client_id'],
  affiliate: ['employees', 'employee_id'],
  note: ['client_notes', 'client_note_id'],
} as const satisfies Record<RecordType, readonly [table: keyof Tables, id: string]>;

export interface EventLog {
  /**
   * Writes the events and changes of a transaction, and publishes the events after its commit. Call it last: the
   * companies' other events and changes wait from here to the commit.
   * @returns the events of each call; their ids are there after the commit.
   */
  write(
    transaction: { readonly trx: Trx<Tables>; readonly now: Date },
    calls: readonly WrittenCall[],
  ): Promise<readonly (readonly StoredEvent[])[]>;
}

/**
 * A counter row numbers each company's events 1, 2, 3, …, and the transaction locks it until its commit. So
 * numbers follow the order of commits: once event n can be read, so can every event below n, and a reader
 * that continues after the last number it has seen misses none, however late a transaction commits. A
 * rollback returns its numbers. Changes of records have numbers of their own, in the same row.
 *
 * Each event has a row in the outbox until its deliveries have rows. The row begins with a lease: the
 * dispatcher that gets the event's message may act on it without asking the database
 * (services/dispatcher/README.md).
 */
export const createEventLog = ({ publish, announce }: EventLogOptions): EventLog => ({
  write: async ({ trx, now }, calls) => {
    const events = calls.flatMap(({ origin, span, events }) =>
      events.map((event) => ({ ...event, origin, span })),
    );
    const changes = calls.flatMap(({ origin, records }) => records.map((record) => ({ ...record, origin })));
    if (events.length + changes.length === 0) return calls.map(() => []);
    const numbers = await takeNumbers(trx, events, changes);
    const rows = numbered(events, numbers, now);
    // These travel with COMMIT, so that the counters are locked for two round trips only.
    await insertChanges(trx, changes, numbers);
    if (rows.length > 0) {
      await insertEvents(trx, rows);
      await insertOutbox(trx, rows, new Date(now.getTime() + outboxLeaseMs));
      await insertDedupeKeys(trx, rows, events);
      trx.onCommit(() => publish(rows, events));
    }
    trx.onCommit(() => announce({ events: rows, changes: changes.map(({ row }) => row) }));
    let from = 0;
    return calls.map(({ events: { length } }) => {
      from += length;
      return rows.slice(from - length, from);
    });
  },
});

/** @returns the next numbers of each company, after its events and changes are counted. */
const takeNumbers = async (
  trx: Kysely<Tables>,
  events: readonly NewEvent[],
  changes: readonly ChangedRecord[],
) => {
  const counts = new Map<number, { events: number; changes: number }>();
  const countsOf = (companyId: number) => {
    const found = counts.get(companyId) ?? { events: 0, changes: 0 };
    counts.set(companyId, found);
    return found;
  };
  for (const { companyId } of events) countsOf(companyId).events++;
  for (const { row } of changes) countsOf(row.company_id).changes++;
  // Locked in the same order by every transaction, to avoid deadlocks.
  const taken = [...counts]
    .map(([companyId, count]) => [companyId, count.events, count.changes] as const)
    .sort(([a], [b]) => a - b);
  const count = sql`
    INSERT INTO event_sequences (company_id, last_sequence, last_change) VALUES ${rowList(taken)}
    ON DUPLICATE KEY UPDATE last_sequence = event_sequences.last_sequence + VALUES(last_sequence),
      last_change = event_sequences.last_change + VALUES(last_change)`;
  await later(trx, count.compile(trx));
  const last = await trx
    .selectFrom('event_sequences')
    .select(['company_id', 'last_sequence', 'last_change', 'subscriptions_version'])
    .where(
      'company_id',
      'in',
      taken.map(([companyId]) => companyId),
    )
    .execute();
  return new Map(
    last.map((row) => {
      const count = countsOf(row.company_id);
      return [
        row.company_id,
        {
          nextEvent: row.last_sequence - count.events + 1,
          nextChange: row.last_change - count.changes + 1,
          subscriptionsVersion: row.subscriptions_version,
        },
      ];
    }),
  );
};

type Numbers = Awaited<ReturnType<typeof takeNumbers>>;

const numbered = (events: readonly (NewEvent & { readonly origin: string })[], numbers: Numbers, now: Date) =>
  events.map(({ companyId, type, payload, origin }): CommittedEvent => {
    const company = numbers.get(companyId)!;
    return {
      company_id: companyId,
      sequence: company.nextEvent++,
      created_utc: now,
      event_id: 0,
      type,
      payload: payload(),
      origin,
      subscriptionsVersion: company.subscriptionsVersion,
    };
  });

const changesTable = updateRows(
  'record_changes',
  ['sequence', 'version', 'origin', 'changed_utc', 'is_deleted'],
  ['company_id', 'type', 'record_id'],
);

const insertChanges = (
  trx: Kysely<Tables>,
  changes: readonly (ChangedRecord & { readonly origin: string })[],
  numbers: Numbers,
) =>
  changesTable(
    trx,
    changes.map(({ type, row, isDeleted, origin }) => ({
      company_id: row.company_id,
      type,
      record_id: (row as unknown as Record<string, number>)[recordKeys[type][1]]!,
      sequence: numbers.get(row.company_id)!.nextChange++,
      version: row.version,
      origin,
      changed_utc: row.updated_utc,
      is_deleted: Number(isDeleted ?? false),
    })),
  );

const insertEvents = insertRows(
  'events',
  ['company_id', 'sequence', 'created_utc', 'type', 'payload', 'origin'],
  'event_id',
);

const insertOutbox = (trx: Kysely<Tables>, events: readonly CommittedEvent[], leasedUntil: Date) => {
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
  events: readonly CommittedEvent[],
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
  readonly publish: (
    committed: readonly CommittedEvent[],
    causes: readonly { readonly span?: Span | undefined }[],
  ) => void;
  /** Called after the commit. */
  readonly announce: (written: Written) => void;
}

/** Rows that a transaction has written, by their kind. */
export type Written = Readonly<Record<WrittenKind, readonly { readonly company_id: number }[]>>;

/** An event with the version of its company's subscriptions at its commit. */
export interface CommittedEvent extends StoredEvent {
  readonly sequence: number;
  readonly origin: string;
  readonly subscriptionsVersion: number;
}
