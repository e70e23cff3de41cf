import {
  type EventPayload,
  type EventType,
  encodePayload,
  outboxLeaseMs,
  type StoredEvent,
  type WrittenKind,
} from '@causeway/proto';
import { companyRows, insertedId, later, type Rows, type Span, statement, type Trx } from '@causeway/runtime';
import { type Kysely, type Selectable, sql } from 'kysely';
import { insertRows } from '../store/rows.ts';
import type { Tables } from '../tables.ts';

export interface NewEvent {
  readonly companyId: number;
  readonly type: EventType;
  /** Returns compact JSON in UTF-8. Called after the statements before it have run, so it may use the ids they assigned. */
  readonly payload: () => Buffer;
  /** The caller's key for the event, stored until its window ends (contract, "Events"). */
  readonly dedupeKey?: string | undefined;
}

/** What a call writes beside its records. */
export interface WrittenCall {
  readonly companyId: number;
  /** Who caused it (contract, "Changes"). */
  readonly origin: string;
  readonly events: readonly NewEvent[];
  /** Whether it changed a record. */
  readonly changed: boolean;
  readonly span?: Span | undefined;
}

export interface EventLog {
  /**
   * Writes the events of a transaction, and publishes them after its commit. Call it last: the companies' other events
   * wait from here to the commit.
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
 * rollback returns its numbers.
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
    const companiesOf = (some: readonly WrittenCall[]) => some.map(({ companyId }) => companyId);
    const changes = companiesOf(calls.filter(({ changed }) => changed));
    if (events.length + changes.length === 0) return calls.map(() => []);
    const rows = events.length === 0 ? [] : numbered(events, await takeNumbers(trx, events), now);
    if (rows.length > 0) {
      // These travel with COMMIT, so that the counters are locked for two round trips only.
      await insertEvents(trx, rows);
      await insertOutbox(trx, rows, new Date(now.getTime() + outboxLeaseMs));
      await insertDedupeKeys(trx, rows, events);
      trx.onCommit(() => publish(rows, events));
    }
    trx.onCommit(() =>
      announce({ events: companiesOf(calls.filter((call) => call.events.length > 0)), changes }),
    );
    let from = 0;
    return calls.map(({ events: { length } }) => {
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
  await later(trx, raiseSequences(trx, taken));
  const last = await trx.executeQuery(selectSequences(trx, companyRows([...counts.keys()])));
  return new Map(
    last.rows.map(({ company_id, last_sequence, subscriptions_version }) => [
      company_id,
      { next: last_sequence - counts.get(company_id)! + 1, subscriptionsVersion: subscriptions_version },
    ]),
  );
};

const raiseSequences = statement<[Rows]>(
  (counts) => sql`
    INSERT INTO event_sequences (company_id, last_sequence) VALUES ${counts}
    ON DUPLICATE KEY UPDATE last_sequence = event_sequences.last_sequence + VALUES(last_sequence)`,
);
const selectSequences = statement<[Rows], Selectable<Tables['event_sequences']>>(
  (companies) => sql`
    SELECT company_id, last_sequence, subscriptions_version FROM event_sequences
    WHERE (company_id) IN (${companies})`,
);

const numbered = (
  events: readonly (NewEvent & { readonly origin: string })[],
  numbers: Awaited<ReturnType<typeof takeNumbers>>,
  now: Date,
) =>
  events.map(({ companyId, type, payload, origin }): CommittedEvent => {
    const company = numbers.get(companyId)!;
    return {
      company_id: companyId,
      sequence: company.next++,
      created_utc: now,
      event_id: 0,
      type,
      payload: payload(),
      origin,
      subscriptionsVersion: company.subscriptionsVersion,
    };
  });

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
  return later(trx, insertIntoOutbox(trx, rows));
};

const insertIntoOutbox = statement<[Rows]>(
  (rows) => sql`
    INSERT INTO event_outbox (company_id, event_id, sequence, created_utc, leased_until) VALUES ${rows}`,
);

const insertDedupeKeys = async (
  trx: Kysely<Tables>,
  events: readonly CommittedEvent[],
  sources: readonly NewEvent[],
) => {
  const rows = events.flatMap(({ company_id, created_utc }, at) => {
    const { dedupeKey } = sources[at]!;
    return dedupeKey === undefined ? [] : [[company_id, dedupeKey, insertedId(at), created_utc]];
  });
  if (rows.length > 0) await later(trx, insertKeys(trx, rows));
};

const insertKeys = statement<[Rows]>(
  (rows) => sql`
    INSERT INTO event_dedupe_keys (company_id, dedupe_key, event_id, created_utc) VALUES ${rows}`,
);

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

/** The companies of what a transaction has written, by its kind. */
export type Written = Readonly<Record<WrittenKind, readonly number[]>>;

/** An event with the version of its company's subscriptions at its commit. */
export interface CommittedEvent extends StoredEvent {
  readonly sequence: number;
  readonly origin: string;
  readonly subscriptionsVersion: number;
}
