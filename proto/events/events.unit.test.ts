import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eventDefinitions, eventTypes, samplePayload } from '../events.ts';
import { encodeEnvelope } from './ingest.ts';

const now = new Date('2026-01-15T09:30:00.123Z');

describe.each(eventTypes)('%s', (type) => {
  test('has a sample with exactly the fields of its schema', () => {
    const sample = samplePayload(type, now);
    const schema = eventDefinitions[type].payload.strict();
    expect(schema.parse(sample)).toEqual(sample);
    expect(Object.keys(sample)).toEqual(Object.keys(schema.shape).filter((name) => name in sample));
    expect(Object.keys(sample).length).toBe(Object.keys(schema.shape).length);
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
