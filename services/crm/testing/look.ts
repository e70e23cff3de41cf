import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { readEvents } from './read-events.ts';

export const eventsOf = async (db: Kysely<Tables>, companyId: number) =>
  (await readEvents(db, companyId, { after: 0, limit: 10_000 })).map(({ sequence, type, payload }) => ({
    sequence,
    type,
    payload: JSON.parse(payload.toString()),
  }));

export const historyOf = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('client_status_history')
    .select(['client_id', 'from_status_id', 'to_status_id'])
    .select(['changed_by_employee_id', 'status_note', 'changed_utc'])
    .where('company_id', '=', companyId)
    .orderBy('change_id')
    .execute();
