import { expect, test } from 'vitest';
import { samplePayload } from '../events/samples.ts';
import { eventTypes } from '../events.ts';
import { masked, maskPayload, maskText } from './mask.ts';

const now = new Date('2026-01-15T09:30:00.000Z');

test('a client shows its id, status and time, and nothing of the person', () => {
  expect(maskPayload(samplePayload('client.created', now))).toEqual({
    client_id: 1042,
    first_name: masked,
    last_name: masked,
    email: masked,
    phone: masked,
    status: 'Client - Active',
    created_date: now.toISOString(),
  });
});

test.each(eventTypes)('no name, address or number of a person is left in a sample of %s', (type) => {
  const text = JSON.stringify(maskPayload(samplePayload(type, now)));
  expect(text).not.toMatch(/Katherine|Johnson|Meitner|Lise|@|555/);
});

test('a field nobody has thought of is masked, however deep', () => {
  expect(
    maskPayload({ custom: { nickname: 'Kit', tags: ['a', 'b'], n: 5 }, status_note: 'call Kit' }),
  ).toEqual({
    custom: { nickname: masked, tags: [masked, masked], n: 5 },
    status_note: masked,
  });
});

test('a harmless name does not let an address or a number through', () => {
  expect(
    maskPayload({ status: 'kit@example.com', client_id: '+1 555 010 4477', phone: 15550104477 }),
  ).toEqual({
    status: masked,
    client_id: masked,
    phone: masked,
  });
  expect(maskPayload({ 'kit@example.com': 1 })).toEqual({ [masked]: 1 });
});

test('a text is masked as JSON where it is JSON, and whole where it is not', () => {
  expect(maskText('{"ok":true,"message":"Hello Kit"}')).toBe(`{"ok":true,"message":"${masked}"}`);
  expect(maskText('Hello Kit')).toBe(masked);
  expect(maskText('"Kit"')).toBe(`"${masked}"`);
  expect(maskText('')).toBe('');
});
