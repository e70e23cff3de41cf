import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readChanges } from './changes.ts';
import { CausewayApi } from './n8n/credentials/CausewayApi.credentials.ts';
import { actionProperties } from './n8n/nodes/properties.ts';
import { isRepeated, receive, remember } from './n8n/nodes/receive.ts';
import { type ConnectorRequest, type Json, problemOf, requestOf, rootOf } from './request.ts';
import { actions, events } from './table.ts';

test('no sample has an id that a record can have', () => {
  const ids = (sample: object): readonly number[] =>
    Object.entries(sample).flatMap(([name, value]) =>
      typeof value === 'object' && value !== null
        ? ids(value)
        : /(?:^|_)id$/.test(name) && value !== null
          ? [value]
          : [],
    );
  for (const { sample } of [...actions, ...events]) expect(ids(sample).filter((id) => id < 9e15)).toEqual([]);
});

test('n8n shows each field once, under the name that the interface has', () => {
  const properties = actionProperties();
  for (const { resource, operation, fields } of actions) {
    const own = properties.filter(
      ({ displayOptions }) =>
        displayOptions?.show.operation?.includes(operation) &&
        displayOptions.show.resource.includes(resource),
    );
    const names = own.flatMap(({ type, name, options }) =>
      type === 'collection' ? (options as { name: string }[]).map((one) => one.name) : [name],
    );
    expect(names.toSorted()).toEqual(fields.map(({ name }) => name).toSorted());
    expect(own.filter(({ required }) => required).map(({ name }) => name)).toEqual(
      fields.filter(({ required }) => required).map(({ name }) => name),
    );
  }
});

const action = (resource: string, operation: string) =>
  actions.find((one) => one.resource === resource && one.operation === operation)!;

test.each([
  ['reads every page', 'a', { a: ['b', true], b: ['c', false] }, ['person-a-1', 'person-b-1'], 'c'],
  ['goes on with the next poll', 'a', { a: ['a', true] }, Array(5).fill('person-a-1'), 'a'],
  ['starts at the end, however late it is known', undefined, { latest: ['z', true] }, [], 'latest'],
  ['starts over if it is too old', 'old', { latest: ['z', false] }, [], 'z'],
] as const)(
  'a poll of changes %s',
  async (_, from, feed: Readonly<Record<string, readonly [string, boolean]>>, ids, end) => {
    const said: string[] = [];
    const send = async ({ query: { cursor } }: ConnectorRequest): Promise<Json> => {
      const page = feed[cursor!];
      if (!page) return {};
      const [nextCursor, hasMore] = page;
      const change = { type: 'person', id: cursor, version: 1, operation: 'upsert', record: {} };
      const changes = cursor === 'latest' ? [] : [change, { ...change, operation: 'delete', record: null }];
      return { changes, nextCursor, hasMore };
    };
    const { records, cursor } = await readChanges(send, {
      types: 'person',
      from,
      warn: (text) => said.push(text),
    });
    expect([records.map(({ id }) => id), cursor, said.length]).toEqual([ids, end, from === 'old' ? 1 : 0]);
  },
);

describe('a request', () => {
  test('has what was given, each in its place', () => {
    expect(
      requestOf(action('leads', 'update'), { client_id: 7, city: '', first_name: '{{x}}', employee_id: '3' }),
    ).toEqual({
      method: 'PATCH',
      path: '/api/v1/integrations/leads/7',
      query: {},
      body: { city: null, first_name: '{{x}}', employee_id: 3 },
    });
    expect(requestOf(action('leads', 'find'), { email: 'a@example.com', phone: '' })).toEqual({
      method: 'GET',
      path: '/api/v1/integrations/leads/find',
      query: { email: 'a@example.com' },
    });
  });

  test('has each value as its field takes it', () => {
    const create = { first_name: 'Ada', last_name: 7, email: 'a@example.com' };
    const { body } = requestOf(action('leads', 'create'), {
      ...{ ...create, zip: 23666, phone: 15550104477, city: true, state: '  ', status: 20 },
      ...{ employee_id: ' 3 ', affiliate_id: '9007199254740993' },
    });
    expect(body).toEqual({
      ...{ ...create, last_name: '7', zip: '23666', phone: '15550104477', city: 'true', state: null },
      ...{ status: '20', employee_id: 3, affiliate_id: '9007199254740993' },
    });
    const flags = { true: true, FALSE: false, Yes: true, no: false, 1: true, 0: false, perhaps: 'perhaps' };
    for (const [text, is_active] of Object.entries(flags)) {
      const update = requestOf(action('affiliates', 'update'), {
        ...{ employee_id: '31 ', is_active: text, commission_rate: '12.50', first_name: null },
      });
      expect(update).toMatchObject({ path: '/api/v1/integrations/affiliates/31' });
      expect(update.body).toEqual({ is_active, commission_rate: 12.5, first_name: null });
    }
  });

  test.each(['', '/', '/api/v1', '/api/v1/', '//api/v1//'])(
    'goes to the same place by an address that ends in %j',
    (end) => {
      expect(rootOf(` https://crm.example.com${end} `)).toBe('https://crm.example.com');
      const { baseURL } = new CausewayApi().test.request;
      const expression = /^=\{\{(.*)\}\}$/.exec(baseURL)![1]!;
      const inN8n = new Function('$credentials', `return ${expression}`);
      expect(inN8n({ baseUrl: ` https://crm.example.com${end} ` })).toBe('https://crm.example.com');
    },
  );

  test('keeps a value that is no number, so that the interface says what is wrong', () => {
    const { body } = requestOf(action('affiliates', 'update'), { employee_id: 1, commission_rate: '12,5' });
    expect(body).toEqual({ commission_rate: '12,5' });
  });

  test.each(['..', '7/../8', '', '-1', undefined, '{{7}}', '1e3'])(
    'names no other path by the ID %s',
    (client_id) => {
      expect(() => requestOf(action('leads', 'get'), { client_id })).toThrow(
        'Client ID must be a positive integer',
      );
    },
  );
});

test.each([
  [
    403,
    { error: 'the API key does not have the scope integrations:write' },
    /scope integrations:write: add it/,
    undefined,
  ],
  [
    403,
    { error: 'the subscription is managed by n8n and cannot be edited here' },
    /managed by n8n/,
    undefined,
  ],
  [429, { error: 'too many', retryAfter: 12 }, /retry after 12 s/, 12],
  [
    429,
    { error_code: 'rate_limit_exceeded', message: 'too many', retry_after_seconds: 3 },
    /retry after 3 s/,
    3,
  ],
  [503, { error: 'away', reason: 'service_unavailable' }, /away/, 1],
  [
    400,
    { error: 'a', details: [{ message: 'a is wrong' }, { message: 'b is wrong' }] },
    /a is wrong; b is wrong/,
    undefined,
  ],
  [401, { error: 'unauthorized' }, /API key is not valid/, undefined],
  [502, '<html>', /status 502/, undefined],
] as const)('%s %j is told as a sentence', (status, body, sentence, retryAfter) => {
  expect(problemOf(status, body)).toMatchObject({
    status,
    retryAfter,
    message: expect.stringMatching(sentence),
  });
});

describe('the n8n trigger', () => {
  const kept = { subscriptionId: 1, signingSecret: 'whsec_c2VjcmV0' };
  const event = {
    id: 7,
    type: 'lead.created',
    createdUtc: '2026-01-15T09:30:00.000Z',
    companyId: 1,
    payload: {},
  };
  const signed = (body: string, { secret = kept.signingSecret, ageSeconds = 0 } = {}) => {
    const timestamp = Math.floor(Date.now() / 1000) - ageSeconds;
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    return { 'x-webhook-timestamp': `${timestamp}`, 'x-webhook-signature': `sha256=${signature}` };
  };
  const delivered = (given: object, options = {}, to: object = kept) => {
    const body = JSON.stringify(given);
    return receive(Buffer.from(body), signed(body, options), to);
  };

  test('takes a delivery', async () => {
    expect(await delivered(event)).toEqual({ status: 200, answer: {}, event });
  });

  test.each([
    ['with another secret', delivered(event, { secret: 'whsec_x' }), 401],
    ['of ten minutes ago', delivered(event, { ageSeconds: 600 }), 401],
    ['of before it subscribed', delivered(event, {}, {}), 401],
    ['without headers', receive(Buffer.from('{}'), {}, kept), 401],
    ['that is too large', delivered({ ...event, payload: { text: 'x'.repeat(1024 * 1024) } }), 413],
    ['without a body', receive(undefined, {}, kept), 413],
  ])('refuses a delivery %s', async (_, received, status) => {
    expect(await received).toEqual({ status, answer: { error: expect.any(String) } });
  });

  test('echoes a challenge that is signed, and no other', async () => {
    const challenge = { ...event, type: 'endpoint.verification', payload: { challenge: 'c-1' } };
    expect(await delivered(challenge)).toEqual({ status: 200, answer: { challenge: 'c-1' } });
    expect((await delivered(challenge, { secret: 'whsec_x' })).status).toBe(401);
  });

  test('knows the last 500 events of each workflow, and skips no test delivery', () => {
    for (let id = 1; id <= 501; id++) remember('w', { ...event, id } as never);
    const repeated = (workflow: string, more: object) => isRepeated(workflow, { ...event, ...more } as never);
    expect([1, 2, 501, 502].map((id) => repeated('w', { id }))).toEqual([false, true, true, false]);
    expect(repeated('other', { id: 2 })).toBe(false);
    expect(repeated('w', { id: 2, metadata: { test: true, status: null } })).toBe(false);
  });
});
