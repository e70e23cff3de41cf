import {
  companyEntryName,
  dedupeWindowMs,
  erasedPayload,
  type IngestAnswer,
  ingestSubject,
  samplePayload,
} from '@causeway/proto';
import { rowsOf } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { deleteExpired } from './cleanup.ts';
import { bootCrm } from './testing/boot.ts';
import { eventsOf } from './testing/look.ts';

const crm = await bootCrm({ replicas: 2 });

let company = 5000;
/** A company that `access` has announced. */
const newCompany = async () => {
  await crm.callers.bucket.put(companyEntryName(++company), '{"version":1}');
  return company;
};
const ingest = async (body: unknown): Promise<IngestAnswer> => {
  const data = typeof body === 'string' ? body : JSON.stringify(body);
  return (await crm.bus.nc.request(ingestSubject, data, { timeout: 60_000 })).json();
};
const payment = {
  ...samplePayload('payment.succeeded', new Date()),
  payment_method: 'card – €',
  // A schema allows unknown fields, which are kept.
  note: 'kept',
};
const invoice = samplePayload('invoice.created', new Date());

test('an answered event is in the log, with its payload as sent', async () => {
  const companyId = await newCompany();
  const answer = await ingest({ companyId, type: 'payment.succeeded', payload: payment });
  expect(answer).toEqual({ id: expect.any(Number), duplicate: false });
  expect(await eventsOf(crm.db, companyId)).toEqual([
    { sequence: 1, type: 'payment.succeeded', payload: payment },
  ]);
});

test('the same dedupeKey answers the first event’s id, even concurrently on two replicas', async () => {
  const [companyId, other] = [await newCompany(), await newCompany()];
  const send = (where: number, dedupeKey: string) =>
    ingest({
      companyId: where,
      type: 'invoice.created',
      payload: { ...invoice, n: Math.random() },
      dedupeKey,
    });
  const answers = await Promise.all(Array.from({ length: 40 }, () => send(companyId, 'k')));
  expect(new Set(answers.map((answer) => 'id' in answer && answer.id)).size).toBe(1);
  expect(answers.filter((answer) => 'id' in answer && !answer.duplicate)).toHaveLength(1);
  expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  expect(await send(companyId, 'K')).toMatchObject({ duplicate: false });
  expect(await send(other, 'k')).toMatchObject({ duplicate: false });
});

test('after 24 hours the key means a new event, and is deleted', async () => {
  const companyId = await newCompany();
  const event = { companyId, type: 'invoice.created', payload: invoice, dedupeKey: 'k' };
  const first = await ingest(event);
  await crm.database.query(
    'UPDATE event_dedupe_keys SET created_utc = created_utc - INTERVAL 1441 MINUTE WHERE company_id = ?',
    [companyId],
  );
  const second = await ingest(event);
  expect(second).toMatchObject({ duplicate: false });
  expect(await ingest(event)).toEqual({ ...second, duplicate: true });
  expect(second).not.toEqual(first);

  await deleteExpired(crm.db, new Date());
  expect(await rowsOf(crm.db, 'event_dedupe_keys', companyId)).toHaveLength(1);
  await deleteExpired(crm.db, new Date(Date.now() + dedupeWindowMs + 60_000));
  expect(await rowsOf(crm.db, 'event_dedupe_keys', companyId)).toEqual([]);
});

test('a payload of 262144 bytes is accepted, one byte more is not', async () => {
  const companyId = await newCompany();
  const document = samplePayload('document.uploaded', new Date());
  const event = (bytes: number) => ({
    companyId,
    type: 'document.uploaded',
    payload: { ...document, x: 'x'.repeat(bytes - JSON.stringify(document).length - 7) },
  });
  expect(await ingest(event(262_144))).toMatchObject({ duplicate: false });
  expect(await ingest(event(262_145))).toMatchObject({
    error: 'payload exceeds 262144 bytes (actual: 262145)',
    retry: false,
  });
});

const exactly = (field: string) => `${field} cannot be stored exactly as a number; send it as a string`;

test.each([
  ['{', 'payload must be valid JSON: line 1, column 2'],
  [{ companyId: 1, type: 'nothing', payload: {} }, 'unknown event type: nothing'],
  [{ companyId: 1, payload: {} }, 'type is required'],
  [{ companyId: '1', type: 'lead.created', payload: {} }, 'companyId must be a positive integer'],
  [{ companyId: 1, type: 'lead.created', payload: [] }, 'payload must be a JSON object'],
  [{ companyId: 1, type: 'lead.created', payload: {}, extra: 1 }, 'unknown field: extra'],
  [{ companyId: 1, type: 'invoice.created', payload: {} }, 'payload.invoice_id is required'],
  [
    { companyId: 1, type: 'invoice.created', payload: { ...invoice, amount: '5' } },
    'payload.amount must be a number',
  ],
  [
    '{"companyId":1,"type":"lead.created","payload":{"client_id":1e400}}',
    'payload.client_id must be a number',
  ],
  [
    JSON.stringify({ companyId: 1, type: 'invoice.created', payload: { ...invoice, a: ['?'] } }).replace(
      '"?"',
      '9007199254740993',
    ),
    exactly('payload.a[0]'),
  ],
  [
    '{"companyId":1,"type":"lead.created","payload":{"a":{"__proto__":1}}}',
    'payload.a.__proto__ is not an allowed key',
  ],
  ['{"companyId":1,"companyId":2,"type":"lead.created"}', 'companyId must be given only once'],
])('%j is refused permanently', async (body, error) => {
  expect(await ingest(body)).toMatchObject({ error, retry: false });
});

test('no payload is refused for the keys that it is found by, and erasing a payload takes them along', async () => {
  const companyId = await newCompany();
  const values = [
    7,
    1e300,
    true,
    null,
    '',
    [],
    {},
    ['a@b.c'],
    { a: 1 },
    'é'.repeat(254),
    '🧾'.repeat(255),
    '\u0001',
  ];
  const nested = Array.from({ length: 60 }).reduce((inner) => ({ email: inner }), 'a@b.c');
  const odd = [...values, nested].map((value) => ({
    ...{ email: value, external_id: value, client_id: value, invoice_id: value },
  }));
  for (const payload of [...odd, { email: 'x@example.com' }])
    expect(await ingest({ companyId, type: 'invoice.created', payload, isTest: true })).toEqual({
      id: expect.any(Number),
      duplicate: false,
    });
  const found = async () => {
    const rows = await crm.database.query(
      "SELECT sequence FROM events WHERE company_id = ? AND email = 'X@EXAMPLE.COM'",
      [companyId],
    );
    return (rows as unknown[]).length;
  };
  expect(await found()).toBe(1);
  await crm.db
    .updateTable('events')
    .set({ payload: erasedPayload(7) })
    .where('company_id', '=', companyId)
    .execute();
  expect(await found()).toBe(0);
});

test('an unknown company is refused, and accepted as soon as it is known', async () => {
  const event = { companyId: 987_654, type: 'invoice.created', payload: invoice };
  expect(await ingest(event)).toMatchObject({ error: 'there is no company 987654', retry: false });
  await crm.callers.bucket.put(companyEntryName(987_654), '{"version":1}');
  expect(await ingest(event)).toMatchObject({ duplicate: false });
});

test('a test event of POST /events/test may have any object as its payload', async () => {
  const companyId = await newCompany();
  const event = { companyId, type: 'invoice.created', payload: { n: 1 }, isTest: true };
  expect(await ingest(event)).toMatchObject({ duplicate: false });
});
