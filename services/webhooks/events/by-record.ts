import type { Kysely, SelectQueryBuilder } from 'kysely';
import type { Tables } from '../tables.ts';

/** Events name it in their payloads. */
export interface EventRecord {
  readonly clientId?: number | undefined;
  readonly invoiceId?: number | undefined;
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
}

/** Undefined if a filter names no record. */
export const recordOf = ({ clientId, invoiceId, email, externalId }: EventRecord): EventRecord | undefined =>
  (clientId ?? invoiceId ?? email ?? externalId) === undefined
    ? undefined
    : { clientId, invoiceId, email, externalId };

export const ofRecord = <Query extends EventQuery>(query: Query, record: EventRecord | undefined): Query => {
  let some: EventQuery = query;
  if (record?.clientId !== undefined) some = some.where('client_id', '=', record.clientId);
  if (record?.invoiceId !== undefined) some = some.where('invoice_id', '=', record.invoiceId);
  if (record?.email !== undefined) some = some.where('email', '=', record.email);
  if (record?.externalId !== undefined) some = some.where('external_id', '=', record.externalId);
  return some as Query;
};

type EventQuery = SelectQueryBuilder<Tables, 'events', object>;

/** The newest of the record's events that are not newer than `before`, the newest first. */
export const readEventIds = async (
  db: Kysely<Tables>,
  companyId: number,
  {
    record,
    before,
    count,
  }: { readonly record: EventRecord; readonly before: number; readonly count: number },
): Promise<readonly number[]> => {
  const rows = await ofRecord(db.selectFrom('events').where('company_id', '=', companyId), record)
    .select('event_id')
    .where('event_id', '<=', before)
    .orderBy('event_id', 'desc')
    .limit(count)
    .execute();
  return rows.map(({ event_id }) => event_id);
};
