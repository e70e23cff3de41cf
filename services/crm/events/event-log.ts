import {
  type EventPayload,
  type EventType,
  encodePayload,
  outboxLeaseMs,
  type StoredEvent,
  type WrittenKind,
} from '@causeway/proto';
import {
  companyRows,
  type Ids,
  later,
  type Rows,
  sendDeferred,
  statement,
  type Trx,
} from '@causeway/runtime';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Tables } from '../tables.ts';

export interface NewEvent {
  readonly companyId: number;
  readonly type: EventType;
  /** Compact JSON in UTF-8. */
  readonly payload: Buffer;
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
}

export interface EventLog {
  /**
   * Takes a number for each of the companies' events with the transaction's next statement. The companies' other events wait
   * from there to the commit.
   */
  takeNumbers(trx: Trx<Tables>, companyIds: readonly number[]): Promise<Numbers>;
  /**
   * Writes the events of a transaction with COMMIT, if enough numbers were taken, and publishes them after it.
   * @returns the events of each call.
   */
  write(
    transaction: { readonly trx: Trx<Tables>; readonly now: Date },
    calls: readonly WrittenCall[],
    numbers?: Numbers,
  ): Promise<readonly (readonly StoredEvent[])[]>;
}

/** The numbers that a transaction has taken for each company. It gives back those that it does not use. */
export type Numbers = Map<number, { next: number; last: number; subscriptionsVersion: number }>;

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
export const createEventLog = ({ publish, announce, ids }: EventLogOptions): EventLog => ({
  takeNumbers: async (trx, companyIds) => {
    const numbers: Numbers = new Map();
    await takeNumbers(trx, countOf(companyIds), numbers);
    return numbers;
  },
  write: async ({ trx, now }, calls, numbers = new Map()) => {
    const events = calls.flatMap(({ origin, events }) => events.map((event) => ({ ...event, origin })));
    const companiesOf = (some: readonly WrittenCall[]) => some.map(({ companyId }) => companyId);
    const changes = companiesOf(calls.filter(({ changed }) => changed));
    await takeMissing(trx, events, numbers);
    const rows = numbered(events, numbers, await ids.take(events.length), now);
    await giveBack(trx, numbers);
    if (rows.length > 0) {
      // These travel with COMMIT, so that the counters are locked for no other round trip.
      await insertEvents(trx, rows);
      await insertOutbox(trx, rows, new Date(now.getTime() + outboxLeaseMs));
      await insertDedupeKeys(trx, rows, events);
      trx.onCommit(() => publish(rows));
    }
    if (events.length + changes.length > 0)
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

type Counts = ReadonlyMap<number, number>;

const countOf = (companyIds: readonly number[]): Counts => {
  const counts = new Map<number, number>();
  for (const companyId of companyIds) counts.set(companyId, (counts.get(companyId) ?? 0) + 1);
  return counts;
};

/** With the next statement. Further numbers follow the first ones, because the transaction holds the lock. */
const takeNumbers = async (trx: Kysely<Tables>, counts: Counts, numbers: Numbers): Promise<void> => {
  if (counts.size === 0) return;
  // Locked in the same order by every transaction, to avoid deadlocks.
  const taken = [...counts].sort(([a], [b]) => a - b);
  await later(trx, raiseSequences(trx, taken));
  await later(trx, selectSequences(trx, companyRows(taken.map(([companyId]) => companyId))), ({ rows }) => {
    for (const { company_id, last_sequence: last, subscriptions_version: subscriptionsVersion } of rows) {
      const next = numbers.get(company_id)?.next ?? last - counts.get(company_id)! + 1;
      numbers.set(company_id, { next, last, subscriptionsVersion });
    }
  });
};

const takeMissing = async (
  trx: Kysely<Tables>,
  events: readonly NewEvent[],
  numbers: Numbers,
): Promise<void> => {
  const missing = new Map<number, number>();
  for (const [companyId, count] of countOf(events.map((event) => event.companyId))) {
    const { next, last } = numbers.get(companyId) ?? { next: 1, last: 0 };
    const more = count - (last - next + 1);
    if (more > 0) missing.set(companyId, more);
  }
  if (missing.size === 0) return;
  await takeNumbers(trx, missing, numbers);
  await sendDeferred(trx);
};

/** With the next statement, so that the numbers have no gaps. */
const giveBack = async (trx: Kysely<Tables>, numbers: Numbers): Promise<void> => {
  const unused = [...numbers].filter(([, { next, last }]) => next <= last);
  if (unused.length > 0)
    await later(
      trx,
      lowerSequences(
        trx,
        unused.map(([companyId, { next }]) => [companyId, next - 1]),
      ),
    );
};

const raiseSequences = statement<[Rows]>(
  (counts) => sql`
    INSERT INTO event_sequences (company_id, last_sequence) VALUES ${counts}
    ON DUPLICATE KEY UPDATE last_sequence = event_sequences.last_sequence + VALUES(last_sequence)`,
);
const lowerSequences = statement<[Rows]>(
  (lasts) => sql`
    INSERT INTO event_sequences (company_id, last_sequence) VALUES ${lasts}
    ON DUPLICATE KEY UPDATE last_sequence = VALUES(last_sequence)`,
);
const selectSequences = statement<[Rows], Selectable<Tables['event_sequences']>>(
  (companies) => sql`
    SELECT company_id, last_sequence, subscriptions_version FROM event_sequences
    WHERE (company_id) IN (${companies})`,
);

const numbered = (
  events: readonly (NewEvent & { readonly origin: string })[],
  numbers: Numbers,
  ids: readonly number[],
  now: Date,
) =>
  events.map(({ companyId, type, payload, origin }, at): CommittedEvent => {
    const company = numbers.get(companyId)!;
    return {
      company_id: companyId,
      sequence: company.next++,
      created_utc: now,
      event_id: ids[at]!,
      type,
      payload,
      origin,
      subscriptionsVersion: company.subscriptionsVersion,
    };
  });

const insertEvents = (trx: Kysely<Tables>, events: readonly CommittedEvent[]) => {
  const rows = events.map(({ company_id, sequence, created_utc, event_id, type, payload, origin }) => [
    company_id,
    sequence,
    created_utc,
    event_id,
    type,
    payload,
    origin,
  ]);
  return later(trx, insertIntoEvents(trx, rows));
};

const insertIntoEvents = statement<[Rows]>(
  (rows) => sql`
    INSERT INTO events (company_id, sequence, created_utc, event_id, type, payload, origin) VALUES ${rows}`,
);

const insertOutbox = (trx: Kysely<Tables>, events: readonly CommittedEvent[], leasedUntil: Date) => {
  const rows = events.map((event) => [
    event.company_id,
    event.event_id,
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
  const rows = events.flatMap(({ company_id, event_id, created_utc }, at) => {
    const { dedupeKey } = sources[at]!;
    return dedupeKey === undefined ? [] : [[company_id, dedupeKey, event_id, created_utc]];
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
  payload: EventPayload<Type>,
): NewEvent => ({ companyId, type, payload: encodePayload(payload) });

interface EventLogOptions {
  /** Called after the commit. */
  readonly publish: (committed: readonly CommittedEvent[]) => void;
  /** Called after the commit. */
  readonly announce: (written: Written) => void;
  readonly ids: Ids;
}

/** The companies of what a transaction has written, by its kind. */
export type Written = Readonly<Record<WrittenKind, readonly number[]>>;

/** An event with the version of its company's subscriptions at its commit. */
export interface CommittedEvent extends StoredEvent {
  readonly sequence: number;
  readonly origin: string;
  readonly subscriptionsVersion: number;
}
