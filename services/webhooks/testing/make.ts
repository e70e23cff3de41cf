import {
  type DeliveryAttemptRow,
  type DeliveryKey,
  type DeliveryRow,
  packRequest,
  packResponse,
  type ReceivedResponse,
} from '@causeway/deliveries';
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

type AttemptFields = DeliveryKey &
  Partial<DeliveryAttemptRow> & { readonly response?: ReceivedResponse | null };

/** An attempt as the dispatcher stores it; by default the first one, which the receiver answered with 503. */
export const makeAttempt = async (
  db: Database<Tables>,
  {
    response = { headers: [['Content-Type', 'text/plain']], body: Buffer.from('busy') },
    ...fields
  }: AttemptFields,
): Promise<void> => {
  const signatures = [
    `sha256=${'5f'.repeat(32)}`,
    `v1,${Buffer.alloc(32, 0x5f).toString('base64')}`,
  ] as const;
  const row = {
    attempt: 1,
    started_utc: fields.created_utc,
    elapsed_ms: 84,
    dns_ms: 3,
    connect_ms: 12,
    tls_ms: null,
    first_byte_ms: 80,
    url: 'https://hooks.example.com/causeway',
    address: '203.0.113.9',
    status_code: 503,
    error_class: 'status' as const,
    error: 'the receiver answered 503',
    sent: packRequest({
      signed: { timestamp: 1_768_469_400, signatures },
      ...{ bodyBytes: 2, event_type: 'client.created', sequence: 1, origin: null, accepts: true },
    }),
    response_body: response && packResponse(response),
    next_attempt_utc: null,
    ...fields,
  };
  await db.insertInto('delivery_attempts').values(row).execute();
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
