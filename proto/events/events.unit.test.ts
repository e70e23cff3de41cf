import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eventDefinitions, eventTypes, samplePayload } from '../events.ts';
import { keyOperations } from '../operations.ts';
import { parseBody } from '../parse.ts';
import { masked, maskPayload } from '../portal/mask.ts';
import { decodeEnvelopeHead, encodeEnvelope, encodePayload } from './ingest.ts';
import { subjectOf, summaryOf } from './summary.ts';

const now = new Date('2026-01-15T09:30:00.123Z');

describe.each(eventTypes)('%s', (type) => {
  test('has a sample with exactly the fields of its schema', () => {
    const sample = samplePayload(type, now);
    const schema = eventDefinitions[type].payload.strict();
    expect(schema.parse(sample)).toEqual(sample);
    expect(Object.keys(sample)).toEqual(Object.keys(schema.shape).filter((name) => name in sample));
    expect(Object.keys(sample).length).toBe(Object.keys(schema.shape).length);
    for (const [name, value] of Object.entries(sample))
      if (name.endsWith('_id')) expect(value, name).toBeGreaterThan(9_000_000_000_000_000);
  });
});

test('the contract names each event type, and each only once', () => {
  const contract = readFileSync(new URL('../CONTRACT.md', import.meta.url), 'utf8');
  const section = contract.split('\n## ').find((part) => part.startsWith('Events\n')) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const named = [...rows.join('\n').matchAll(/`(\w+\.\w+)`/g)].map(([, type]) => type!);
  expect(named.toSorted()).toEqual(eventTypes.toSorted());
});

test('client.created has the fields of the interface specification, in order', () => {
  expect(Object.keys(samplePayload('client.created', now))).toEqual([
    'client_id',
    'first_name',
    'last_name',
    'email',
    'phone',
    'status',
    'created_date',
  ]);
});

test('an envelope is its five fields in order, with the payload byte for byte', () => {
  const payload = Buffer.from('{"b":1,  "a":"\\u00e9é"}');
  const envelope = {
    event_id: 9,
    company_id: 1001,
    type: 'lead.created',
    created_utc: now,
    payload,
  } as const;
  expect(encodeEnvelope(envelope).toString()).toBe(
    '{"id":9,"type":"lead.created","createdUtc":"2026-01-15T09:30:00.123Z","companyId":1001,"payload":{"b":1,  "a":"\\u00e9é"}}',
  );
  expect(encodeEnvelope(envelope)).toEqual(encodeEnvelope(envelope));
});

// Recorded bytes, from the request of a caller to the body whose signature a receiver checks. A serializer that
// changes one of them breaks the signatures of stored events, and receivers that keep bodies.

const createTestEvent = keyOperations.find(({ id }) => id === 'createTestEvent')!;

const envelopeOf = (payload: string): Buffer => {
  const body = parseBody(createTestEvent, Buffer.from(`{"type":"client.created","payload":${payload}}`)) as {
    payload: unknown;
  };
  return encodeEnvelope({
    event_id: 90_071,
    company_id: 1001,
    type: 'client.created',
    created_utc: new Date('2026-01-15T09:30:00.123Z'),
    payload: encodePayload(body.payload),
  });
};

const head =
  '{"id":90071,"type":"client.created","createdUtc":"2026-01-15T09:30:00.123Z","companyId":1001,"payload":';

test.each([
  ['an emoji', '{"a":"🎉"}', '{"a":"🎉"}'],
  ['an emoji sent as escapes', '{"a":"\\ud83c\\udf89"}', '{"a":"🎉"}'],
  ['line separators', '{"a":"\u2028\u2029"}', '{"a":"\u2028\u2029"}'],
  ['a line separator sent as an escape', '{"a":"\\u2028"}', '{"a":"\u2028"}'],
  ['control characters', '{"a":"\\u0001\\b\\n\\u007f"}', '{"a":"\\u0001\\b\\n\u007f"}'],
  ['a slash and an escaped slash', '{"a":"/\\/"}', '{"a":"//"}'],
  ['marks of HTML', '{"a":"<script>&\'"}', '{"a":"<script>&\'"}'],
  ['minus zero', '{"a":-0}', '{"a":0}'],
  [
    '2^53 and the largest safe integer',
    '{"a":[9007199254740992,9007199254740991]}',
    '{"a":[9007199254740992,9007199254740991]}',
  ],
  [
    'two spellings of 2^60',
    '{"a":[1152921504606846976,1152921504606847000]}',
    '{"a":[1152921504606847000,1152921504606847000]}',
  ],
  ['numbers in other notations', '{"a":[1.0,1e2,0.1,1E-7,1e21]}', '{"a":[1,100,0.1,1e-7,1e+21]}'],
  [
    'white space and the order of names',
    '{ "b" : 1 ,\n "a":2, "10":3, "9":4 }',
    '{"9":4,"10":3,"b":1,"a":2}',
  ],
])('%s', (_, sent, stored) => {
  expect(envelopeOf(sent).toString()).toBe(`${head}${stored}}`);
});

test('the fields before the payload are read back from the bytes; other bytes are no envelope', () => {
  const event = {
    event_id: 2 ** 53 - 1,
    company_id: 1001,
    type: 'client.status_changed' as const,
    created_utc: new Date('2026-01-15T08:00:00.120Z'),
  };
  const bytes = encodeEnvelope({ ...event, payload: Buffer.from('{"id":7,"type":"lead.created"}') });
  expect(decodeEnvelopeHead(bytes)).toEqual(event);
  // A view into a larger buffer.
  expect(decodeEnvelopeHead(Buffer.concat([Buffer.from('x'), bytes]).subarray(1))).toEqual(event);
  for (const other of ['', '{}', '[]', ` ${bytes}`, String(bytes).replace('client.status', 'client.unknown')])
    expect(decodeEnvelopeHead(Buffer.from(other))).toBeUndefined();
});

test('their combined bytes have the recorded signature', () => {
  const payload =
    '{"first_name":"Zoë 🎉","note":"\\u2028<&>\\u0001","zero":-0,"big":9007199254740992,"rate":0.1}';
  const signed = createHmac('sha256', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=')
    .update('1768469400.')
    .update(envelopeOf(payload));
  expect(`sha256=${signed.digest('hex')}`).toBe(
    'sha256=bbfdc1eb73f9ea913520c9d28cc2c6c5e50cfa932ca699446f73899691b6297d',
  );
});

test('A summary has the amount with two decimals, and the change of a status', () => {
  expect(summaryOf({ invoice_number: 'INV-3001', amount: 129.5, currency: 'USD' })).toBe(
    'INV-3001 · 129.50 USD',
  );
  expect(summaryOf({ amount: 129 })).toBe('129');
  expect(summaryOf({ amount: 1.234, currency: 'KWD' })).toBe('1.234 KWD');
  expect(summaryOf({ first_name: 'Ada', previous_status: 'Lead', new_status: 'Client' })).toBe(
    'Lead → Client',
  );
  expect(summaryOf({})).toBe('');
});

test('Every type of event has a subject, and its name is hidden where the payload is masked', () => {
  for (const type of eventTypes) {
    const payload: Readonly<Record<string, unknown>> = { ...samplePayload(type, new Date()) };
    expect(subjectOf(payload)?.kind, type).toBe(type.startsWith('affiliate') ? 'affiliate' : 'client');
    const hidden = subjectOf(maskPayload(type, payload) as typeof payload);
    expect(hidden, type).toMatchObject({ id: expect.any(Number), name: null });
    expect(JSON.stringify(hidden)).not.toContain(masked);
  }
  expect(subjectOf({ client_id: 7, first_name: 'Łukasz', last_name: 'Hopper' })).toEqual({
    kind: 'client',
    id: 7,
    name: 'Łukasz Hopper',
  });
  expect(subjectOf({ invoice_id: 7 })).toEqual({ kind: 'invoice', id: 7, name: null });
  for (const odd of [{}, { client_id: '7' }, { client_id: -1 }, { client_id: 1.5 }, { client_id: null }])
    expect(subjectOf(odd)).toBeNull();
});
