import { createHmac } from 'node:crypto';
import { contract, unverifiedReason } from '@causeway/proto';
import { type Received, type Receiver, testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { openTeam } from './support/portal.ts';
import { startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld, type Reply } from './support/world.ts';

const world = await openWorld();
const subscriptions = '/webhooks/subscriptions';
const wanted = { url: 'https://hooks.example.com/causeway', eventTypes: ['client.created', 'lead.created'] };

/** A company, and a function that sends requests with its key. */
const newcomer = async () => {
  const { company, ask } = await openCaller(world);
  const make = async (more: object = {}): Promise<Json> => {
    const { status, json } = await ask('POST', subscriptions, { ...wanted, ...more });
    expect([status, json.error]).toEqual([201, undefined]);
    return json;
  };
  return { company, ask, make };
};

/** Exactly the fields of the contract, and no more. */
const expectContract = (
  operation: {
    readonly answers: Readonly<
      Record<number, { readonly schema: { parse(value: unknown): unknown } | null }>
    >;
  },
  { status, json, text }: Reply,
): void => {
  const { schema } = operation.answers[status] ?? {};
  expect(schema, `${status}: ${text}`).toBeDefined();
  expect(json).toEqual(schema!.parse(json));
};

test('A subscription is created, listed, read, changed, rotated and deleted', async () => {
  const { ask } = await newcomer();
  const made = await ask('POST', subscriptions, { ...wanted, name: 'Billing' });
  expect(made.status).toBe(201);
  expectContract(contract.createSubscription, made);
  const { signingSecret, ...record } = made.json;
  const path = `${subscriptions}/${record.id}`;

  const listed = await ask('GET', subscriptions);
  expectContract(contract.listSubscriptions, listed);
  expect(listed.json).toEqual({ subscriptions: [record], count: 1, nextCursor: null, hasMore: false });
  const { json: other } = await ask('POST', subscriptions, { ...wanted, enabled: false });
  const pages = [(await ask('GET', `${subscriptions}?limit=1`)).json];
  const next = `${subscriptions}?limit=1&cursor=${pages[0].nextCursor}`;
  pages.push((await ask('GET', next)).json);
  expect(pages.map((page) => [page.subscriptions[0].id, page.count, page.hasMore])).toEqual([
    [record.id, 1, true],
    [other.id, 1, false],
  ]);
  const { ask: stranger } = await newcomer();
  expect((await stranger('GET', next)).json.error).toBe('invalid cursor');
  expect((await ask('DELETE', `${subscriptions}/${other.id}`)).status).toBe(204);
  const read = await ask('GET', path);
  expectContract(contract.getSubscription, read);
  expect(read.json).toEqual(record);

  const changed = await ask('PATCH', path, { eventTypes: ['payment.failed'], enabled: false });
  expectContract(contract.updateSubscription, changed);
  expect(changed.json).toMatchObject({
    ...wanted,
    name: 'Billing',
    eventTypes: ['payment.failed'],
    enabled: false,
    disabledReason: 'disabled through the API',
  });
  const rotated = await ask('POST', `${path}/rotate-secret`, { overlapHours: 1 });
  expectContract(contract.rotateSubscriptionSecret, rotated);
  expect(rotated.json.signingSecret).not.toBe(signingSecret);
  const again = await ask('POST', `${path}/rotate-secret`);
  expect([again.status, again.json]).toEqual([
    409,
    {
      error: `the previous secret is valid until ${again.json.previousSecretUntil}; rotate after that, or send overlapHours 0 to end it now`,
      previousSecretUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
  ]);
  const ended = await ask('POST', `${path}/rotate-secret`, { overlapHours: 0 });
  expect(ended.status).toBe(200);
  expectContract(contract.rotateSubscriptionSecret, ended);

  const deleted = await ask('DELETE', path);
  expect([deleted.status, deleted.text, deleted.headers['content-length']]).toEqual([204, '', undefined]);
  for (const method of ['GET', 'DELETE']) {
    const gone = await ask(method, path);
    expect([gone.status, gone.json]).toEqual([404, { error: 'subscription not found' }]);
  }
  expect((await ask('GET', subscriptions)).json).toMatchObject({ subscriptions: [], count: 0 });
});

test('An answered change is visible in the next answer, on every gateway and replica', async () => {
  const { ask, make } = await newcomer();
  for (let at = 1; at <= 20; at++) {
    const { id } = await make({ name: `no. ${at}` });
    expect((await ask('GET', subscriptions)).json.count).toBe(at);
    await ask('PATCH', `${subscriptions}/${id}`, { enabled: false });
    expect((await ask('GET', `${subscriptions}/${id}`)).json.enabled).toBe(false);
  }
});

describe('A test delivery', () => {
  test('is signed like a real delivery, has metadata, and is not recorded', async () => {
    const { company, ask, make } = await newcomer();
    const receiver = await testReceiver();
    const { id, signingSecret } = await make({ url: `${receiver.url}/hook`, enabled: false });
    const reply = await ask('POST', `${subscriptions}/${id}/test`, { statusOverride: 'Client - Active' });
    expectContract(contract.testSubscription, reply);
    expect(reply.json).toMatchObject({
      success: true,
      statusCode: 200,
      responseBody: 'thank you',
      responseBodyTruncated: false,
      targetUrlUsed: `${receiver.url}/hook`,
      error: null,
      message: null,
    });
    const [{ headers, body }] = receiver.received as [Received];
    const envelope = JSON.parse(String(body));
    expect(Object.keys(envelope)).toEqual(['id', 'type', 'createdUtc', 'companyId', 'payload', 'metadata']);
    expect(envelope).toMatchObject({
      type: 'client.created',
      companyId: company.id,
      metadata: { test: true, status: 'Client - Active' },
    });
    expect(headers['x-webhook-id']).toBe(String(envelope.id));
    expect(headers['x-webhook-event']).toBe('client.created');
    expect(headers).toMatchObject({
      'x-webhook-origin': expect.stringMatching(/^key:[1-9]\d*$/),
      'x-webhook-sequence': '0',
      'x-webhook-subscription': String(id),
    });
    const signed = `${headers['x-webhook-timestamp']}.${body}`;
    const hex = createHmac('sha256', signingSecret).update(signed).digest('hex');
    expect(headers['x-webhook-signature']).toBe(`sha256=${hex}`);

    expect((await ask('GET', '/events')).json.events).toEqual([]);
    const record = (await ask('GET', `${subscriptions}/${id}`)).json;
    expect([record.consecutiveFailures, record.enabled]).toEqual([0, false]);
  });

  test('has the given payload, and a new id each time', async () => {
    const { ask, make } = await newcomer();
    const receiver = await testReceiver();
    const { id } = await make({ url: `${receiver.url}/hook` });
    const samplePayload = { b: 1, a: ['ä', { deep: true }] };
    for (const more of [{}, { useSamplePayload: false }])
      await ask('POST', `${subscriptions}/${id}/test`, { eventType: 'lead.created', samplePayload, ...more });
    const [one, two] = receiver.received.map(({ body }) => JSON.parse(String(body)));
    expect([one.payload, two.payload]).toEqual([samplePayload, samplePayload]);
    expect([one.type, one.metadata]).toEqual(['lead.created', { test: true, status: null }]);
    expect(one.id).not.toBe(two.id);
    expect(Number.isSafeInteger(one.id)).toBe(true);
  });

  test('answers 200 with the result, whatever the receiver did, and counts no failure', async () => {
    const { ask, make } = await newcomer();
    const outcomes: [Receiver['answer'], object][] = [
      [
        (response) => response.writeHead(500).end('broken'),
        {
          statusCode: 500,
          responseBody: 'broken',
          error: 'status',
          message: 'The receiver answered 500.',
        },
      ],
      [
        (response) => response.writeHead(302, { location: 'https://example.com' }).end(),
        {
          statusCode: 302,
          error: 'redirect',
          message: 'The receiver answered 302; redirects are not followed.',
        },
      ],
      [
        (response) => response.socket?.destroy(),
        {
          statusCode: null,
          responseBody: '',
          error: 'reset',
          message: 'The connection ended before an answer came.',
        },
      ],
      [
        (response) => response.writeHead(410).end('x'.repeat(20_000)),
        { statusCode: 410, responseBody: 'x'.repeat(16_384), responseBodyTruncated: true },
      ],
    ];
    for (const [answer, expected] of outcomes) {
      const receiver = await testReceiver();
      receiver.answer = answer;
      const { id } = await make({ url: `${receiver.url}/hook` });
      const reply = await ask('POST', `${subscriptions}/${id}/test`);
      expect(reply.status).toBe(200);
      expectContract(contract.testSubscription, reply);
      expect(reply.json).toMatchObject({ success: false, ...expected });
      expect((await ask('GET', `${subscriptions}/${id}`)).json).toMatchObject({
        enabled: true,
        consecutiveFailures: 0,
      });
    }
  });

  test('names the URL that was called, and why the receiver could not be reached', async () => {
    const { ask, make } = await newcomer();
    const receiver = await testReceiver();
    const { id } = await make({ url: `${receiver.url.replace('127.0.0.1', '127.1')}/hook#part` });
    const reached = await ask('POST', `${subscriptions}/${id}/test`);
    expect(reached.json).toMatchObject({ success: true, targetUrlUsed: `${receiver.url}/hook` });

    await receiver.down();
    const { id: dead } = await make({ url: receiver.url });
    const refused = await ask('POST', `${subscriptions}/${dead}/test`);
    expectContract(contract.testSubscription, refused);
    expect(refused.json).toMatchObject({
      success: false,
      statusCode: null,
      targetUrlUsed: `${receiver.url}/`,
      error: 'connect',
      message: 'The connection was refused.',
    });
  });

  test('is refused for a type that is not subscribed, and without a payload if no sample is wanted', async () => {
    const { ask, make } = await newcomer();
    const { id } = await make();
    const other = await ask('POST', `${subscriptions}/${id}/test`, { eventType: 'payment.failed' });
    expect([other.status, other.json]).toEqual([
      400,
      {
        error: 'the subscription does not include the event type payment.failed',
        details: [
          {
            field: 'eventType',
            code: 'out_of_range',
            message: 'the subscription does not include the event type payment.failed',
          },
        ],
        subscribedEventTypes: wanted.eventTypes,
      },
    ]);
    const bare = await ask('POST', `${subscriptions}/${id}/test`, { useSamplePayload: false });
    expect([bare.status, bare.json.error, bare.json.hint]).toEqual([
      400,
      'samplePayload is required when useSamplePayload is false',
      'send samplePayload, or leave useSamplePayload out to have one generated',
    ]);
  });
});

const receiver = await startPublishedReceiver(world);

/** A company that requires endpoint verification, and a path of the receiver for it. */
const openCompany = async () => {
  const team = await openTeam(world);
  const { browser } = team.owner;
  const on = await browser.ask('PATCH', '/subscription-settings', { verifyEndpoints: true });
  expect([on.status, on.json]).toEqual([200, { verifyEndpoints: true }]);
  const { json: key } = await browser.ask('POST', '/keys', {
    name: 'integration',
    scopes: ['webhooks:write', 'integrations:write'],
  });
  const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
    world.ask(path, { method, key: key.value, body });
  const path = `/${team.companyId}`;
  const received = (type: string): readonly Received[] =>
    receiver.received.filter((one) => one.path === path && one.type === type);
  return {
    browser,
    path,
    url: `${receiver.url}${path}`,
    ask,
    challenges: () => received('endpoint.verification'),
    deliveries: () => received('client.created'),
    subscribe: async (more: object): Promise<Json> => {
      const body = { eventTypes: ['client.created'], ...more };
      const { status, json, text } = await ask('POST', '/webhooks/subscriptions', body);
      expect(status, text).toBe(201);
      return json;
    },
    read: async (id: number): Promise<Json> => (await ask('GET', `/webhooks/subscriptions/${id}`)).json,
    createClient: async (): Promise<number> => {
      const person = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
      const { status, json } = await ask('POST', '/integrations/clients', person);
      expect(status).toBe(201);
      return json.client_id;
    },
  };
};
const clientOf = ({ body }: Received): number => JSON.parse(body.toString()).payload.client_id;

describe('in a company that requires endpoint verification', () => {
  test('a receiver that echoes the signed challenge gets the deliveries after it, and none before', async () => {
    const company = await openCompany();
    receiver.behave(company.path, 'status=404');
    const { id, signingSecret, ...made } = await company.subscribe({ url: company.url });
    expect(made).toMatchObject({ enabled: false, disabledReason: unverifiedReason });
    await until('the challenge', () => company.challenges().length === 1);
    await company.createClient();

    receiver.behave(company.path, 'echo');
    const enabled = await company.ask('PATCH', `/webhooks/subscriptions/${id}`, { enabled: true });
    expect([enabled.status, enabled.json]).toMatchObject([200, { enabled: true, disabledReason: null }]);
    const clientId = await company.createClient();
    const delivery = await until('a delivery', () => company.deliveries()[0]);
    expect(clientOf(delivery)).toBe(clientId);

    const challenges = company.challenges();
    expect(challenges).toHaveLength(2);
    for (const { headers, body } of challenges) new Webhook(signingSecret).verify(body, headers);
    const log = await company.browser.ask('GET', '/audit?action=subscription.verified');
    expect(log.json.entries).toMatchObject([{ actor: { kind: 'key' }, after: { enabled: true } }]);
  });
});

describe('Rules of a subscription', () => {
  test('Conditions choose, own headers go along, and a pause holds and lets go what is due', async () => {
    const caller = await openCaller(world);
    const ask = async (method: string, path: string, body: object): Promise<Json> => {
      const reply = await caller.ask(method, path, body);
      expect(reply.status, reply.text).toBeLessThan(300);
      return reply.json;
    };
    const receiver = await testReceiver();
    const { id } = await ask('POST', '/webhooks/subscriptions', {
      url: receiver.url,
      eventTypes: ['lead.created'],
      conditions: [{ field: 'last_name', startsWith: 'Ł' }],
      pace: { limit: 100, per: 'second' },
      headers: { Authorization: 'Bearer abc' },
    });
    const create = (last_name: string) =>
      ask('POST', '/integrations/leads', { first_name: 'Ada', last_name, email: `${last_name}@example.com` });
    const arrived = () =>
      receiver.received.map(({ body, headers }) => [
        JSON.parse(String(body)).payload.last_name,
        headers.authorization,
      ]);
    const path = `/webhooks/subscriptions/${id}`;
    await create('Hopper');
    await create('Łukasz');
    await expect.poll(arrived).toEqual([['Łukasz', 'Bearer abc']]);
    expect(await ask('PATCH', path, { paused: true })).toMatchObject({ paused: true, enabled: true });
    for (const name of ['Łem', 'Byron', 'Łoś']) await create(name);
    const waiting = () =>
      world.sql("SELECT 1 FROM deliveries WHERE company_id = ? AND state = 'waiting'", [caller.company.id]);
    await expect.poll(async () => (await waiting()).length).toBe(2);
    expect(arrived()).toHaveLength(1);
    await ask('PATCH', path, { paused: false, headers: { Authorization: null, 'X-Team': 'billing' } });
    await expect.poll(arrived).toEqual([
      ['Łukasz', 'Bearer abc'],
      ['Łem', undefined],
      ['Łoś', undefined],
    ]);
    expect(receiver.received.at(-1)!.headers['x-team']).toBe('billing');
  });
});
