import {
  type EventPayload,
  type EventType,
  encodePayload,
  outboxLeaseMs,
  type StoredEvent,
} from '@causeway/proto';
import type { Span, Trx } from '@causeway/runtime';
import { sql } from 'kysely';
import { insertedId, insertRows } from '../store/rows.ts';
import { perCount, type Tables } from '../tables.ts';

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
export const createEventLog = ({ publish }: EventLogOptions): EventLog => {
  const takeNumbers = perCount<TakenNumbers>(
    (rows) => rows.flatMap((row) => [row.company_id, row.last_sequence]),
    (db, rows) =>
      db
        .insertInto('event_sequences')
        .values([...rows])
        .onDuplicateKeyUpdate({
          last_sequence: sql`event_sequences.last_sequence + VALUES(last_sequence)`,
        })
        .compile(),
  );
  const lastNumbers = perCount<TakenNumbers, TakenNumbers & { readonly subscriptions_version: number }>(
    (rows) => rows.map((row) => row.company_id),
    (db, rows) =>
      db
        .selectFrom('event_sequences')
        .select(['company_id', 'last_sequence', 'subscriptions_version'])
        .where(
          'company_id',
          'in',
          rows.map((row) => row.company_id),
        )
        .compile(),
  );
  const insertEvents = insertRows(
    'events',
    ['company_id', 'sequence', 'created_utc', 'type', 'payload'],
    'event_id',
  );
  const insertOutbox = perCount<OutboxRow>(
    (rows) =>
      rows.flatMap((row) => [row.company_id, row.at, row.sequence, row.created_utc, row.leased_until]),
    (db, rows) =>
      db
        .insertInto('event_outbox')
        .values(
          rows.map(({ company_id, at, sequence, created_utc, leased_until }) => ({
            company_id,
            event_id: insertedId(at),
            sequence,
            created_utc,
            leased_until,
          })),
        )
        .compile(),
  );
  const insertDedupeKeys = perCount<KeyRow>(
    (rows) => rows.flatMap((row) => [row.company_id, row.dedupe_key, row.at, row.created_utc]),
    (db, rows) =>
      db
        .insertInto('event_dedupe_keys')
        .values(
          rows.map(({ company_id, dedupe_key, at, created_utc }) => ({
            company_id,
            dedupe_key,
            event_id: insertedId(at),
            created_utc,
          })),
        )
        .compile(),
  );

  return {
    write: async ({ trx, now }, events) => {
      const all = events.flat();
      if (all.length === 0) return events.map(() => []);
      const counts = new Map<number, number>();
      for (const { companyId } of all) counts.set(companyId, (counts.get(companyId) ?? 0) + 1);
      // Locked in the same order by every transaction, to avoid deadlocks.
      const taken = [...counts]
        .map(([company_id, last_sequence]) => ({ company_id, last_sequence }))
        .sort((a, b) => a.company_id - b.company_id);
      await takeNumbers.later(trx, taken);
      const { rows: last } = await lastNumbers(trx, taken);
      const next = new Map(
        last.map((row) => [row.company_id, row.last_sequence - counts.get(row.company_id)! + 1]),
      );
      const versions = new Map(last.map((row) => [row.company_id, row.subscriptions_version]));
      const rows = all.map(({ companyId, type, payload }): CommittedEvent & { readonly sequence: number } => {
        const sequence = next.get(companyId)!;
        next.set(companyId, sequence + 1);
        return {
          company_id: companyId,
          sequence,
          created_utc: now,
          event_id: 0,
          type,
          payload: payload(),
          subscriptionsVersion: versions.get(companyId)!,
        };
      });
      // These travel with COMMIT, so that the counters are locked for two round trips only.
      await insertEvents(trx, rows);
      const leased_until = new Date(now.getTime() + outboxLeaseMs);
      await insertOutbox.later(
        trx,
        rows.map((row, at) => ({ ...row, at, leased_until })),
      );
      const keyed = rows.flatMap(({ company_id, created_utc }, at) => {
        const { dedupeKey } = all[at]!;
        return dedupeKey === undefined ? [] : [{ company_id, dedupe_key: dedupeKey, created_utc, at }];
      });
      if (keyed.length > 0) await insertDedupeKeys.later(trx, keyed);
      trx.onCommit(() => publish(rows, all));
      let from = 0;
      return events.map(({ length }) => {
        from += length;
        return rows.slice(from - length, from);
      });
    },
  };
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

interface TakenNumbers {
  readonly company_id: number;
  readonly last_sequence: number;
}

interface OutboxRow {
  readonly company_id: number;
  readonly sequence: number;
  readonly created_utc: Date;
  readonly leased_until: Date;
  /** The place of the event in the statement that inserts the events. */
  readonly at: number;
}

interface KeyRow extends Omit<OutboxRow, 'sequence' | 'leased_until'> {
  readonly dedupe_key: string;
}
