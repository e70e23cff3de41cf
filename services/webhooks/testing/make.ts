import type { DeliveryRow } from '@causeway/deliveries';
import type { EventType, StoredEvent } from '@causeway/proto';
import type { Database } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

let lastEvent = 0;

type DeliveryFields = Partial<DeliveryRow> & Pick<DeliveryRow, 'company_id' | 'subscription_id'>;

/** Deliveries without events; waiting and due by default. */
export const makeDelivery = (db: Database<Tables>, fields: DeliveryFields, count = 1): Promise<void> =>
  makeDeliveries(db, Array<DeliveryFields>(count).fill(fields));

/** Deliveries of one state and subscription, a thousand to a statement. */
export const makeDeliveries = async (
  db: Database<Tables>,
  deliveries: readonly DeliveryFields[],
): Promise<void> => {
  const now = new Date();
  const rows = deliveries.map((fields) => ({
    event_id: ++lastEvent,
    created_utc: now,
    event_type: 'client.created' as const,
    due_utc: now,
    updated_utc: now,
    ...fields,
  }));
  for (let at = 0; at < rows.length; at += rowsPerInsert)
    await db
      .insertInto('deliveries')
      .values(rows.slice(at, at + rowsPerInsert))
      .execute();
  const [first] = deliveries;
  const { state = 'waiting', due_utc = now } = first ?? {};
  if (!first || (state !== 'held' && state !== 'waiting')) return;
  await db
    .updateTable('delivery_queues')
    .set(({ eb }) =>
      state === 'held'
        ? { held_deliveries: eb('held_deliveries', '+', rows.length) }
        : { next_due_utc: due_utc },
    )
    .where('company_id', '=', first.company_id)
    .where('subscription_id', '=', first.subscription_id)
    .execute();
};

/** Events as crm writes them: with consecutive numbers, in one transaction with the sequence of the company. */
export const makeEvents = async (
  db: Database<Tables>,
  companyId: number,
  events: readonly { readonly type?: EventType; readonly payload?: unknown; readonly created_utc?: Date }[],
): Promise<readonly StoredEvent[]> => {
  const { last_sequence } = (await db
    .selectFrom('event_sequences')
    .select('last_sequence')
    .where('company_id', '=', companyId)
    .executeTakeFirst()) ?? { last_sequence: 0 };
  const rows = events.map(({ type = 'client.created', payload = {}, created_utc = new Date() }, at) => ({
    company_id: companyId,
    sequence: last_sequence + 1 + at,
    event_id: ++lastEvent,
    created_utc,
    type,
    payload: Buffer.from(JSON.stringify(payload)),
  }));
  for (let at = 0; at < rows.length; at += rowsPerInsert)
    await db
      .insertInto('events')
      .values(rows.slice(at, at + rowsPerInsert))
      .execute();
  await db
    .insertInto('event_sequences')
    .values({ company_id: companyId, last_sequence: last_sequence + rows.length })
    .onDuplicateKeyUpdate({ last_sequence: last_sequence + rows.length })
    .execute();
  return rows;
};

const rowsPerInsert = 1_000;
