import { createHmac } from 'node:crypto';
import { contract, eventTypes } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { readPublished, startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld } from './support/world.ts';

const world = await openWorld();
const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };

/** A company, and a function that sends requests with its key. */
const newcomer = async () => {
  const { company, ask } = await openCaller(world);
  const list = async (query: Readonly<Record<string, string>> = {}): Promise<Page> => {
    const reply = await ask('GET', `/events?${new URLSearchParams(query)}`);
    expect([reply.status, reply.json.error]).toEqual([200, undefined]);
    expect(reply.json).toEqual(contract.listEvents.answers[200].schema.parse(reply.json));
    return reply.json;
  };
  return { company, ask, list };
};

interface Sample {
  readonly event: { readonly type: string; readonly companyId: number; readonly payload: object };
  readonly body: string;
  readonly headers: Record<string, string>;
}

interface Page {
  readonly events: readonly { readonly id: number; readonly type: string; readonly payload: object }[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

test('Changes of a client are in the log at once, in order', async () => {
  const { company, ask, list } = await newcomer();
  const { client_id } = (await ask('POST', '/integrations/clients', person)).json;
  await ask('PATCH', `/integrations/clients/${client_id}/status`, { new_status: 'Client - Paused' });
  const { events } = await list({ order: 'asc' });
  expect(events.map(({ type }) => type)).toEqual(['client.created', 'client.status_changed']);
  expect(events[0]).toMatchObject({ companyId: company.id, payload: { client_id, ...person } });
  const { json } = await ask('GET', '/events?order=asc&include=meta&limit=1000');
  expect(json).toEqual(contract.listEvents.answers[200].schema.parse(json));
  expect(json.entries).toEqual(
    events.map((event, at) => ({ event, origin: expect.stringMatching(/^key:\d+$/), sequence: at + 1 })),
  );
  const one = await ask('GET', `/events/${events[0]!.id}`);
  expect([one.status, one.json]).toEqual([200, events[0]]);
  expect((await list()).events).toEqual(events.toReversed());
});

test('Another company’s event is 404, and its cursor invalid', async () => {
  const [mine, theirs] = await Promise.all([newcomer(), newcomer()]);
  const made = await theirs.ask('POST', '/events/test', { type: 'lead.created' });
  await theirs.ask('POST', '/events/test', { type: 'lead.created' });
  const missing = await mine.ask('GET', `/events/${made.json.id}`);
  expect([missing.status, missing.json]).toEqual([404, { error: 'event not found' }]);
  const { nextCursor } = await theirs.list({ limit: '1' });
  const foreign = await mine.ask('GET', `/events?cursor=${nextCursor}`);
  expect([foreign.status, foreign.json.error]).toEqual([400, 'invalid cursor']);
});

describe('The samples', () => {
  test('of all types verify with the sample secret, in a company without events, and are in no log', async () => {
    const { company, ask, list } = await newcomer();
    const { status, json } = await ask('GET', '/events/samples');
    expect([status, json]).toEqual([200, contract.listSampleEvents.answers[200].schema.parse(json)]);
    expect(json.samples.map(({ event }: Sample) => event.type)).toEqual(eventTypes);
    for (const { event, body, headers } of json.samples as Sample[]) {
      expect(JSON.stringify(event)).toBe(body);
      expect(event.companyId).toBe(company.id);
      const signed = `${headers['X-Webhook-Timestamp']}.${body}`;
      const hex = createHmac('sha256', json.signingSecret).update(signed).digest('hex');
      expect(headers['X-Webhook-Signature']).toBe(`sha256=${hex}`);
      expect(new Webhook(json.signingSecret).verify(body, headers)).toEqual(event);
    }
    const { events } = await list();
    expect(events).toEqual([]);
  });

  test('have the headers and the fields of a delivery of their type', async () => {
    const receiver = await startPublishedReceiver(world);
    const { ask } = await newcomer();
    const type = 'payment.failed';
    await ask('POST', '/webhooks/subscriptions', { url: receiver.url, eventTypes: [type] });
    await ask('POST', '/events/test', { type });
    const delivery = await until('it arrives', () => receiver.received[0]);
    const { json } = await ask('GET', `/events/samples?type=${type}`);
    const [sample, ...others] = json.samples as Sample[];
    expect(others).toEqual([]);
    for (const name of Object.keys(sample!.headers))
      expect(delivery.headers, name).toHaveProperty(name.toLowerCase());
    const delivered = JSON.parse(delivery.body.toString());
    expect(Object.keys(sample!.event)).toEqual(Object.keys(delivered));
    expect(Object.keys(sample!.event.payload)).toEqual(Object.keys(delivered.payload));
  });

  test('of an unknown type, or of two, are refused', async () => {
    const { ask } = await newcomer();
    for (const query of ['type=lead.exploded', 'type=lead.created&type=client.created', 'limit=1'])
      expect((await ask('GET', `/events/samples?${query}`)).status).toBe(400);
  });
});

describe('A test event', () => {
  test('is a real event of the type, and its answer has the number of subscriptions', async () => {
    const { company, ask, list } = await newcomer();
    const subscribe = (more: object) =>
      ask('POST', '/webhooks/subscriptions', { url: 'https://hooks.example.com/x', enabled: false, ...more });
    await subscribe({ eventTypes: ['payment.failed'] });
    const enabled = await subscribe({ eventTypes: ['lead.created', 'payment.failed'] });
    const before = await ask('POST', '/events/test', { type: 'payment.failed' });
    expect([before.status, before.json.subscriptionCount]).toEqual([202, 0]);
    await ask('PATCH', `/webhooks/subscriptions/${enabled.json.id}`, { enabled: true });
    const payload = { b: 1, a: 'ä', nested: { deep: [null] } };
    const reply = await ask('POST', '/events/test', { type: 'payment.failed', payload });
    expect(reply.status).toBe(202);
    expect(reply.json).toEqual(contract.createTestEvent.answers[202].schema.parse(reply.json));
    expect(Object.keys(reply.json)).toEqual([
      'id',
      'type',
      'createdUtc',
      'companyId',
      'payload',
      'subscriptionCount',
    ]);
    expect(reply.json).toMatchObject({ companyId: company.id, payload, subscriptionCount: 1 });
    const { subscriptionCount, ...envelope } = reply.json;
    expect((await list({ type: 'payment.failed' })).events[0]).toEqual(envelope);
    expect((await list({ type: 'lead.created' })).events).toEqual([]);
  });
});

// Every delivery must match what the OpenAPI document publishes under `webhooks`.

const problemOf = readPublished((await world.ask('/openapi.json')).json);
const receiver = await testReceiver();

const company = await world.company();
const { value: key } = await company.key();
const send = async (method: string, path: string, body: Json): Promise<Json> => {
  const { status, json } = await world.ask(path, { method, key, body });
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
