import { maskPayload, type Role, summaryOf } from '@causeway/proto';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** Longer payloads are left out, so that a page of the log reads little. */
const maxPayloadBytes = 8_192;

/** The summary of each event as a role may see it; none of events with long payloads, or that are kept no longer. */
export const readSummaries = async (
  db: Kysely<Tables>,
  companyId: number,
  eventIds: readonly number[],
  role: Role,
): Promise<ReadonlyMap<number, string>> => {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('events')
    .select(['event_id', 'payload'])
    .where('company_id', '=', companyId)
    .where('event_id', 'in', [...new Set(eventIds)])
    .where(sql<boolean>`LENGTH(payload) <= ${maxPayloadBytes}`)
    .execute();
  return new Map(
    rows.map(({ event_id, payload }) => {
      const whole: unknown = JSON.parse(payload.toString());
      const shown = role === 'viewer' ? maskPayload(whole) : whole;
      return [event_id, summaryOf(shown as Readonly<Record<string, unknown>>)];
    }),
  );
};
