import { rowList } from '@causeway/runtime';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../tables.ts';

interface OutboxKey {
  readonly company_id: number;
  readonly event_id: number;
}

/** Whether a row of `event_outbox` is that of one of these events. */
export const isOneOfEvents = (events: readonly OutboxKey[]): RawBuilder<SqlBool> => {
  const keys = new Map(events.map(({ company_id, event_id }) => [event_id, [company_id, event_id]]));
  return sql`(company_id, event_id) IN (${rowList([...keys.values()])})`;
};

/**
 * Locks the outbox rows of events, so that no dispatcher takes them before the transaction ends. Call it before locking
 * companies.
 * @returns the IDs of the events that have a row. Another dispatcher has taken the others, and decided about their
 * deliveries.
 */
export const lockOutbox = async (
  db: Kysely<Tables>,
  events: readonly OutboxKey[],
  lock: RawBuilder<unknown>,
): Promise<ReadonlySet<number>> => {
  if (events.length === 0) return new Set();
  const { rows } = await sql<{ event_id: number }>`
    SELECT event_id FROM event_outbox FORCE INDEX (PRIMARY)
    WHERE ${isOneOfEvents(events)} ${lock}`.execute(db);
  return new Set(rows.map(({ event_id }) => event_id));
};

export const forShare = sql`FOR SHARE`;
export const forUpdate = sql`FOR UPDATE`;
