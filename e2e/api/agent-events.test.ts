import { randomBytes } from 'node:crypto';
import { testReceiver } from '@causeway/runtime/testing';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { until } from './support/clock.ts';
import { openTeam } from './support/portal.ts';
import { type Json, openWorld } from './support/world.ts';

// MCP Events: what an agent's program subscribes to, by the official client, and what its receiver gets.

const world = await openWorld();
const anything = z.looseObject({});
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

const openAgent = async (key: string) => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${world.baseUrl}/mcp`), { requestInit }));
  const ask = async (method: string, params: Json = {}): Promise<Json> =>
    client.request({ method, params }, anything);
  return { client, ask };
};

const refusalOf = async (asked: Promise<unknown>): Promise<Json> => {
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ProtocolError);
  const { code, message, data } = error as ProtocolError;
  return { code, message, data };
};

/** Echoes challenges as MCP Events says, and answers everything else as told. */
const openReceiver = async () => {
  const receiver = await testReceiver();
  const told = { status: 200, echoes: true };
  receiver.answer = (response, { body }) => {
    const { type, challenge } = JSON.parse(body.toString());
    if (type !== 'verification') return response.writeHead(told.status).end('secret words of the receiver');
    return response.end(JSON.stringify({ challenge: told.echoes ? challenge : 'guess' }));
  };
  const of = (isChallenge: boolean) =>
    receiver.received.filter(
      ({ body }) => (JSON.parse(body.toString()).type === 'verification') === isChallenge,
    );
  return { url: receiver.url, told, challenges: () => of(true), deliveries: () => of(false) };
};

const name = 'lead.created';
const person = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com' };
const createLead = (key: string) =>
  world.ask('/integrations/leads', { method: 'POST', key, body: JSON.stringify(person) });

test('an agent subscribes with its own secret, and its receiver gets signed occurrences', async () => {
  const team = await openTeam(world);
  const { browser } = team.owner;
  const { json: made } = await browser.ask('POST', '/keys', {
    name: 'agent',
    scopes: ['events:read', 'webhooks:write', 'integrations:write'],
  });
  const key = made.value;
  const agent = await openAgent(key);
  expect(agent.client.getServerCapabilities()).toMatchObject({
    extensions: { 'io.modelcontextprotocol/events': {} },
  });
  const { events } = await agent.ask('events/list');
  expect(events).toHaveLength(10);
  expect(events.find((one: Json) => one.name === name)).toMatchObject({
    delivery: ['poll', 'webhook'],
    payloadSchema: { properties: { payload: { properties: { client_id: {} } } } },
  });

  const receiver = await openReceiver();
  const secret = newSecret();
  const delivery = { mode: 'webhook', url: `${receiver.url}/hook`, secret };
  const subscribe = (more: Json = {}) =>
    agent.ask('events/subscribe', { name, arguments: {}, delivery, cursor: null, ttlMs: 3_600_000, ...more });
  const first = await subscribe();
  expect(first).toMatchObject({
    id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
    cursor: null,
    truncated: false,
  });
  const left = Date.parse(first.refreshBefore) - Date.now();
  expect(left).toBeGreaterThan(3_500_000);
  expect(left).toBeLessThanOrEqual(3_601_000);
  const [challenge] = receiver.challenges();
  expect(new Webhook(secret).verify(challenge!.body.toString(), challenge!.headers as never)).toEqual({
    type: 'verification',
    challenge: expect.any(String),
  });
  expect(challenge!.headers['x-mcp-subscription-id']).toBe(first.id);

  await createLead(key);
  await until('the delivery', () => receiver.deliveries().length === 1);
  const [got] = receiver.deliveries();
  const occurrence = new Webhook(secret).verify(got!.body.toString(), got!.headers as never) as Json;
  expect(occurrence).toMatchObject({
    eventId: got!.headers['webhook-id'],
    name,
    data: { type: name, companyId: team.companyId, payload: { first_name: 'Ada' } },
    cursor: null,
  });
  expect(occurrence.timestamp).toBe(occurrence.data.createdUtc);
  expect(got!.headers['x-mcp-subscription-id']).toBe(first.id);

  // The portal shows it as what it is, with its end; the API does not edit it.
  const { subscriptions } = (await browser.ask('GET', '/subscriptions')).json;
  expect(subscriptions).toMatchObject([
    { isAgent: true, managedBy: 'an agent', enabled: true, expiresUtc: first.refreshBefore },
  ]);
  const path = `/webhooks/subscriptions/${subscriptions[0].id}`;
  expect((await world.ask(path, { key })).text).not.toContain(secret);
  const edited = await world.ask(path, { method: 'PATCH', key, body: '{"enabled":false}' });
  expect([edited.status, edited.json.is_tool_managed]).toEqual([403, true]);

  // Renewed, with another secret: the same subscription, and no second challenge, also not for another type.
  const next = newSecret();
  const again = await subscribe({ delivery: { ...delivery, secret: next }, ttlMs: null });
  expect(again).toMatchObject({ id: first.id, deliveryStatus: { active: true, lastError: null } });
  expect(Date.parse(again.refreshBefore) - Date.now()).toBeGreaterThan(6 * 86_400_000);
  const renewed = () => subscribe({ delivery: { ...delivery, secret: next } });
  await expect
    .poll(async () => (await renewed()).deliveryStatus.lastDeliveryAt, { timeout: 30_000 })
    .toEqual(expect.any(String));
  const other = await subscribe({ name: 'client.created' });
  expect(other.id).not.toBe(first.id);
  expect(receiver.challenges()).toHaveLength(1);
  await createLead(key);
  await until('the second delivery', () => receiver.deliveries().length === 2);
  const [, second] = receiver.deliveries();
  for (const one of [next, secret])
    expect(new Webhook(one).verify(second!.body.toString(), second!.headers as never)).toMatchObject({
      name,
    });

  await agent.ask('events/unsubscribe', { name, arguments: {}, delivery: { url: delivery.url } });
  expect(
    await refusalOf(agent.ask('events/unsubscribe', { name, delivery: { url: delivery.url } })),
  ).toMatchObject({
    code: -32_011,
    data: { kind: 'subscription' },
  });
  // The other one ends with its key.
  await browser.ask('POST', `/keys/${made.id}/revoke`);
  const shown = async () => (await browser.ask('GET', '/subscriptions')).json.subscriptions;
  await expect.poll(shown, { timeout: 30_000 }).toMatchObject([
    {
      enabled: false,
      disabledReason: 'the API key of its tool was revoked',
      expiresUtc: other.refreshBefore,
    },
  ]);
});

test('a receiver that does not echo gets nothing, and the agent learns a category of why', async () => {
  const company = await world.company();
  const { value: key } = await company.key();
  const agent = await openAgent(key);
  const receiver = await openReceiver();
  const subscribe = (url: string) =>
    agent.ask('events/subscribe', { name, delivery: { mode: 'webhook', url, secret: newSecret() } });
  receiver.told.echoes = false;
  expect(await refusalOf(subscribe(receiver.url))).toEqual({
    code: -32_015,
    message: expect.not.stringContaining('secret words'),
    data: { reason: 'challenge_failed' },
  });
  expect(await refusalOf(subscribe('http://localhost:9/'))).toMatchObject({
    code: -32_015,
    data: { reason: 'connection_refused' },
  });
  await createLead(key);
  const outbox = () => world.sql('SELECT event_id FROM event_outbox WHERE company_id = ?', [company.id]);
  await expect.poll(outbox).toEqual([]);
  expect((await world.ask('/webhooks/subscriptions', { key })).json.count).toBe(0);
  expect(receiver.deliveries()).toEqual([]);
  // Verified, it fails later: a refresh tells it in the same words, and the receiver's are told nobody.
  receiver.told.echoes = true;
  await subscribe(receiver.url);
  receiver.told.status = 404;
  await createLead(key);
  const status = async () => (await subscribe(receiver.url)).deliveryStatus;
  await expect.poll(status, { timeout: 30_000 }).toMatchObject({ active: true, lastError: 'http_4xx' });
  expect(new Set(receiver.deliveries().map(({ id }) => id)).size).toBe(1);
});

test('two keys subscribe apart, and neither may end what the other has', async () => {
  const company = await world.company();
  const receiver = await openReceiver();
  const delivery = { mode: 'webhook', url: receiver.url, secret: newSecret() };
  const agents = await Promise.all([1, 2].map(async () => openAgent((await company.key()).value)));
  const ids = await Promise.all(
    agents.map(async ({ ask }) => (await ask('events/subscribe', { name, delivery })).id),
  );
  expect(new Set(ids).size).toBe(2);
  expect(receiver.challenges()).toHaveLength(2);
  const stranger = await openAgent((await (await world.company()).key()).value);
  const third = await openAgent((await company.key()).value);
  for (const { ask } of [stranger, third])
    expect((await refusalOf(ask('events/unsubscribe', { name, delivery }))).code).toBe(-32_011);
  // The same agent from many processes at once.
  const { ask } = agents[0]!;
  const same = await Promise.all(
    Array.from({ length: 8 }, () => ask('events/subscribe', { name, delivery })),
  );
  expect(new Set(same.map(({ id }) => id))).toEqual(new Set([ids[0]]));
});

test('an agent polls with a cursor, misses nothing, and is told when events are skipped', async () => {
  const company = await world.company();
  const { value: key } = await company.key();
  const { ask } = await openAgent(key);
  await createLead(key);
  const from = await ask('events/poll', { name, cursor: null });
  expect(from).toMatchObject({
    events: [],
    truncated: false,
    hasMore: false,
    nextPollMs: expect.any(Number),
  });
  for (let at = 0; at < 3; at++) await createLead(key);
  const page = await ask('events/poll', { name, arguments: {}, cursor: from.cursor, maxEvents: 2 });
  expect(page).toMatchObject({ hasMore: true });
  expect(page.events).toHaveLength(2);
  expect(page.events[0]).toMatchObject({ eventId: expect.any(String), name, data: { type: name } });
  const rest = await ask('events/poll', { name, cursor: page.cursor });
  expect(rest).toMatchObject({ hasMore: false, truncated: false });
  expect(rest.events).toHaveLength(1);
  // Soon: a clock that was set back a little takes the event for one of now.
  await expect
    .poll(() => ask('events/poll', { name, cursor: page.cursor, maxAgeMs: 0 }))
    .toMatchObject({ events: [], truncated: true });
  expect((await refusalOf(ask('events/poll', { name, cursor: 'nonsense' }))).code).toBe(-32_602);
});

test('what is wrong or not allowed is refused, each with its code', async () => {
  const company = await world.company();
  const agent = await openAgent((await company.key()).value);
  const delivery = { mode: 'webhook', url: 'https://hooks.example.com/a', secret: newSecret() };
  const subscribe = (more: Json) => refusalOf(agent.ask('events/subscribe', { name, delivery, ...more }));
  expect(await subscribe({ name: 'lead.lost' })).toMatchObject({ code: -32_011, data: { kind: 'event' } });
  expect((await subscribe({ arguments: { city: 'Bern' } })).message).toContain('has no argument city');
  for (const secret of [
    'hand-picked',
    'whsec_',
    `whsec_${randomBytes(23).toString('base64')}`,
    `whsec_${randomBytes(65).toString('base64')}`,
  ])
    expect(await subscribe({ delivery: { ...delivery, secret } })).toMatchObject({
      code: -32_602,
      message: expect.stringContaining('secret must be'),
    });
  expect((await subscribe({ delivery: { ...delivery, url: 'nowhere' } })).code).toBe(-32_602);
  expect((await subscribe({ delivery: { url: delivery.url } })).code).toBe(-32_602);
  // Each key sees what its scopes allow.
  const reader = await openAgent((await company.key(['events:read'])).value);
  expect((await reader.ask('events/list')).events[0].delivery).toEqual(['poll']);
  expect((await refusalOf(reader.ask('events/subscribe', { name, delivery }))).code).toBe(-32_012);
  const neither = await openAgent((await company.key(['integrations:read'])).value);
  expect((await neither.ask('events/list')).events).toEqual([]);
  expect((await refusalOf(neither.ask('events/poll', { name }))).code).toBe(-32_012);
  // Only agents have these operations.
  const direct = await world.ask('/agents/subscribe', {
    method: 'POST',
    key: (await company.key()).value,
    body: '{}',
  });
  expect(direct.status).toBe(404);
});
