import type { StoredEvent } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** An event of the company by its id; undefined if it does not exist or retention has removed it. */
export const readEvent = (
  db: Kysely<Tables>,
  companyId: number,
  eventId: number,
): Promise<StoredEvent | undefined> =>
  db
    .selectFrom('events')
    .select(['company_id', 'event_id', 'type', 'created_utc', 'payload'])
    .where('company_id', '=', companyId)
    .where('event_id', '=', eventId)
    .executeTakeFirst();
