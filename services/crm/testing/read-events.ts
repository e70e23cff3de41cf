import type { EventType } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** In commit order: a reader that continues from the last sequence gets every event once (`event-log.ts`). */
export const readEvents = (
  db: Kysely<Tables>,
  companyId: number,
  { after, limit, type }: { readonly after: number; readonly limit: number; readonly type?: EventType },
) => {
  const query = db
    .selectFrom('events')
    .select(['company_id', 'sequence', 'event_id', 'type', 'created_utc', 'payload'])
    .where('company_id', '=', companyId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit);
  return (type === undefined ? query : query.where('type', '=', type)).execute();
};
