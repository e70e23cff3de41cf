import { eventTypes } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { readPublished } from './support/published.ts';
import { type Json, openWorld } from './support/world.ts';

// Every delivery must match what the OpenAPI document publishes under `webhooks`.

const world = await openWorld();
const problemOf = readPublished((await world.ask('/openapi.json')).json);
const receiver = await testReceiver();

const company = await world.company();
const { value: key } = await company.key();
const send = async (method: string, path: string, body: Json): Promise<Json> => {
  const { status, json } = await world.ask(path, { method, key, body: JSON.stringify(body) });
  expect(status, JSON.stringify(json)).toBeLessThan(300);
  return json;
};

test('Every delivered event follows the published schema of its type, whatever caused it', async () => {
  await send('POST', '/webhooks/subscriptions', { url: receiver.url, eventTypes });
  for (const type of eventTypes) await send('POST', '/events/test', { type });
  // Without a phone, and with all fields.
  const person = { first_name: 'Zoë', last_name: '李 🎉', email: 'zoe@example.com' };
  await send('POST', '/integrations/leads', person);
  const lead = await send('POST', '/integrations/leads', {
    ...person,
    phone: '+1 555 010 4477',
    city: 'Graz',
  });
  await send('PATCH', `/integrations/clients/${lead.client_id}/status`, {
    new_status: 'Client - Active',
    status_note: 'Signed.',
  });
  await send('POST', '/integrations/clients', person);
  await send('POST', '/integrations/affiliates', person);
  await send('POST', '/integrations/affiliates', {
    ...person,
    commission_rate: 0.29,
    affiliate_company_name: 'A',
  });
  const expected = eventTypes.length + 6;
  await until('all have arrived', () => receiver.received.length >= expected);
  expect(new Set(receiver.received.map(({ type }) => type))).toEqual(new Set(eventTypes));
  for (const { headers, body } of receiver.received)
    expect(problemOf(Object.keys(headers), body)).toBeUndefined();
});
