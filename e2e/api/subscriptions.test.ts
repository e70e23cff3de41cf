import { createHmac } from 'node:crypto';
import { contract } from '@causeway/proto';
import { type Received, type Receiver, testReceiver } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { type Json, openWorld, type Reply } from './support/world.ts';

const world = await openWorld();
const plenty = { read: 1_000_000, write: 1_000_000, admin: 1_000_000 };
const subscriptions = '/webhooks/subscriptions';
const wanted = { url: 'https://hooks.example.com/causeway', eventTypes: ['client.created', 'lead.created'] };

/** A company, and a function that sends requests with its key. */
const newcomer = async () => {
  const company = await world.company(plenty);
  const { value: key } = await company.key();
  const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
    world.ask(path, { method, key, ...(body !== undefined && { body: JSON.stringify(body) }) });
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
  expect(listed.json).toEqual({ subscriptions: [record], count: 1 });
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
  expect((await ask('GET', subscriptions)).json).toEqual({ subscriptions: [], count: 0 });
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
