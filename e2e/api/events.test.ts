import { contract, samplePayload } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { openWorld, type Reply } from './support/world.ts';

const world = await openWorld();
const plenty = { read: 1_000_000, write: 1_000_000, admin: 1_000_000 };
const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };

/** A company, and a function that sends requests with its key. */
const newcomer = async () => {
  const company = await world.company(plenty);
  const { value: key } = await company.key();
  const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
    world.ask(path, { method, key, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const list = async (query: Readonly<Record<string, string>> = {}): Promise<Page> => {
    const reply = await ask('GET', `/events?${new URLSearchParams(query)}`);
    expect([reply.status, reply.json.error]).toEqual([200, undefined]);
    expect(reply.json).toEqual(contract.listEvents.answers[200].schema.parse(reply.json));
    return reply.json;
  };
  return { company, ask, list };
};

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
  const one = await ask('GET', `/events/${events[0]!.id}`);
  expect([one.status, one.json]).toEqual([200, events[0]]);
  expect((await list()).events).toEqual(events.toReversed());
});

test('The log is followed from its end while clients are created on every gateway, and no event is missed', async () => {
  const { ask, list } = await newcomer();
  let writing = true;
  const creating = Promise.all(
    Array.from({ length: 8 }, async () => {
      const ids: number[] = [];
      for (let at = 0; at < 15; at++)
        ids.push((await ask('POST', '/integrations/leads', person)).json.client_id);
      return ids;
    }),
  ).finally(() => {
    writing = false;
  });
  const seen: number[] = [];
  let cursor: string | null = null;
  for (let last = false; ; ) {
    const page: Page = await list({ order: 'asc', limit: '9', ...(cursor && { cursor }) });
    seen.push(...page.events.map(({ payload }) => (payload as { client_id: number }).client_id));
    cursor = page.nextCursor;
    if (last && !page.hasMore) break;
    last = !writing;
  }
  expect(seen.toSorted((a, b) => a - b)).toEqual((await creating).flat().toSorted((a, b) => a - b));
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

  test('without a payload has the sample payload of its type', async () => {
    const { ask } = await newcomer();
    const { json } = await ask('POST', '/events/test', { type: 'agreement.signed' });
    expect(Object.keys(json.payload)).toEqual(Object.keys(samplePayload('agreement.signed', new Date())));
  });
});
