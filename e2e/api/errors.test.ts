import { gzipSync } from 'node:zlib';
import { keyOperations } from '@causeway/proto';
import { Client } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Ask, openWorld, type Reply, send } from './support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const search = '/integrations/lookups/clients';
const find = '/integrations/clients/find';

let key = '';
beforeAll(async () => {
  const limit = 1_000_000_000;
  key = (await (await world.company({ read: limit, write: limit, admin: limit })).key()).value;
});

const ask = (path: string, more: Ask = {}): Promise<Reply> => world.ask(path, { key, ...more });

const expect400 = (reply: Reply, message: string, field?: string, isCounted = true): void => {
  expect(reply.status).toBe(400);
  expect(reply.json.message ?? reply.json.error).toBe(message);
  expect(reply.json.details[0].message).toBe(message);
  if (field) expect(reply.json.details[0].field).toBe(field);
  expect(reply.headers['x-ratelimit-limit'] !== undefined).toBe(isCounted);
  expect(reply.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
};

const pathOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '987654321');
const named = (id: string, path: string): string =>
  pathOf(path) + (id === 'updatePersonByExternalId' ? '?external_id=nobody' : '');

describe.each(keyOperations.map((operation) => [operation.id, operation] as const))(
  '%s',
  (id, { path, method, bodyExample, bucket }) => {
    const sent = bodyExample === undefined ? {} : { body: bodyExample };

    test('refuses an unknown query parameter and names it', async () => {
      const reply = await ask(`${pathOf(path)}?foo=1`, { method, ...sent });
      expect400(reply, 'unknown query parameter: foo', undefined, bucket !== null);
    });

    if (bodyExample !== undefined) {
      test('refuses an unknown body field and names it', async () => {
        const body = { ...(bodyExample as object), foo: 1 };
        expect400(await ask(named(id, path), { method, body }), 'unknown field: foo');
      });

      test('refuses a body that is not JSON', async () => {
        const name = id === 'createTestEvent' ? 'payload' : 'the body';
        const reply = await ask(named(id, path), { method, body: '{\n"a":' });
        expect400(reply, `${name} must be valid JSON: line 2, column 5`);
      });
    }

    test('answers 413 to a body over 1 MiB, even if it takes no body', async () => {
      // The limit also applies to an unexpected body.
      const reply = await ask(pathOf(path), { method, body: Buffer.alloc(1024 * 1024 + 1, ' ') });
      expect(reply.status).toBe(413);
      expect(reply.json.error ?? reply.json.message).toBe('the request body exceeds 1048576 bytes');
    });
  },
);

describe('The interface’s validation messages', () => {
  const url = 'https://hooks.example.com/x';
  const subscriptions = '/webhooks/subscriptions';
  test.each<[string, string, object, string]>([
    ['missing type', '/events/test', {}, 'type is required'],
    ['no event types', subscriptions, { url, eventTypes: [] }, 'at least one event type is required'],
    [
      'payload in quotes',
      '/events/test',
      { type: 'client.created', payload: '{"a":1}' },
      'payload must be valid JSON: an object, not a string; send it without quotes',
    ],
    ['missing text', '/integrations/clients/1/notes', {}, 'text is required'],
  ])('%s', async (_, path, body, message) => {
    expect400(await ask(path, { method: 'POST', body }), message);
  });

  test('payload too large', async () => {
    const payload = { text: 'x'.repeat(262_144) };
    const reply = await ask('/events/test', {
      method: 'POST',
      body: { type: 'client.created', payload },
    });
    expect400(reply, `payload exceeds 262144 bytes (actual: ${JSON.stringify(payload).length})`);
  });
});

describe('A query string', () => {
  const notUtf8 = 'the query string must be percent-encoded UTF-8';
  const nul = 'the query string must not contain a NUL character';
  test.each([
    ['an escape without digits', '%', notUtf8],
    ['half an escape', '%a', notUtf8],
    ['an escape that is not hexadecimal', '%zz', notUtf8],
    ['an escape in a name', '%zz=1', notUtf8],
    ['a byte that is not UTF-8', 'q=%ff', notUtf8],
    ['a sequence cut short', 'q=%c3', notUtf8],
    ['an overlong sequence', 'q=%c0%af', notUtf8],
    ['half a surrogate pair', 'q=%ed%a0%80', notUtf8],
    ['a character beyond Unicode', 'q=%f4%90%80%80', notUtf8],
    ['a NUL', 'q=a%00b', nul],
    ['a NUL in a name', 'q%00=ab', nul],
  ])('with %s is a 400', async (_, query, message) => {
    for (const path of [search, lookup, find]) expect400(await ask(`${path}?${query}`), message, 'query');
  });

  test('reports all its problems at once', async () => {
    const { json } = await ask(`${search}?q=a&limit=99&foo=1&bar=2`);
    expect(json.details).toEqual([
      { field: 'foo', code: 'unknown_field', message: 'unknown query parameter: foo' },
      { field: 'bar', code: 'unknown_field', message: 'unknown query parameter: bar' },
      { field: 'q', code: 'too_short', message: 'q must be at least 2 characters, or a client ID' },
      { field: 'limit', code: 'out_of_range', message: 'limit must be an integer between 1 and 25' },
    ]);
    expect(json).toMatchObject({ error_code: 'invalid_request', message: 'unknown query parameter: foo' });
  });

  test('treats __proto__ and similar names as unknown parameters', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'q[]', 'q.x'])
      expect400(
        await ask(`${search}?${encodeURIComponent(name)}=1`),
        `unknown query parameter: ${name}`,
        name,
      );
  });

  test('is echoed truncated, with a bounded number of problems', async () => {
    const { status, json, text } = await ask(`${lookup}?${'n'.repeat(5000)}=1`);
    expect(status).toBe(400);
    expect(json.message.length).toBeLessThan(150);
    expect(text.length).toBeLessThan(500);
    const many = await ask(`${lookup}?${Array.from({ length: 900 }, (_, at) => `p${at}`).join('&')}`);
    expect(many.status).toBe(400);
    expect(many.json.details.length).toBeLessThanOrEqual(100);
  });
});

describe('A body with a Content-Encoding', () => {
  const packed = gzipSync('{"first_name":"Ada"}');
  const post = (encoding: string, body: Buffer | string) =>
    ask('/integrations/leads', { method: 'POST', headers: { 'content-encoding': encoding }, body });

  test.each([
    ['gzip', packed],
    ['GZIP', packed],
    ['br', packed],
    ['gzip, identity', packed],
    ['gzip', '{"first_name":"Ada"}'],
  ])('%s is a 415 that says what is taken, and was counted', async (encoding, body) => {
    const reply = await post(encoding, body);
    expect([reply.status, reply.json]).toEqual([
      415,
      { error: 'the request body is compressed; send it as it is' },
    ]);
    expect(reply.headers['accept-encoding']).toBe('identity');
    expect(reply.headers['x-ratelimit-limit']).toBeDefined();
  });

  test.each(['identity', 'Identity', ''])('"%s" is read', async (encoding) => {
    expect((await post(encoding, '{"first_name":"Ada"}')).status).toBe(400);
  });

  test('is refused by the portal and to agents, too', async () => {
    const headers = {
      'content-encoding': 'gzip',
      'content-type': 'application/json',
      'sec-fetch-site': 'same-origin',
    };
    for (const [path, more] of [
      ['/portal/api/v1/session', {}],
      ['/mcp', { 'x-api-key': key }],
    ] as const) {
      const reply = await fetch(world.baseUrl + path, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: new Uint8Array(packed),
      });
      expect([path, reply.status, reply.headers.get('accept-encoding')]).toEqual([path, 415, 'identity']);
    }
  });
});

describe('A large body', () => {
  const mebibyte = 1024 * 1024;

  /** Without a length, in chunks. */
  async function* chunked(bytes: number): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), ' ');
  }

  test.each([
    ['declared', () => Buffer.alloc(mebibyte + 1, ' ')],
    ['in chunks', () => chunked(mebibyte + 1)],
    ['declared, many times over', () => Buffer.alloc(5 * mebibyte, ' ')],
    ['in chunks, many times over', () => chunked(5 * mebibyte)],
  ])('%s, is a 413, and the connection serves the next request or is closed cleanly', async (_, body) => {
    const client = new Client(world.baseUrl, { pipelining: 1 });
    try {
      const reply = await send(client, '/integrations/leads', { key, method: 'POST', body: body() });
      expect([reply.status, reply.json]).toEqual([413, { error: 'the request body exceeds 1048576 bytes' }]);
      const next = await send(client, lookup, { key });
      expect(next.status).toBe(200);
    } finally {
      await client.destroy();
    }
  });

  test.each([
    ['declared', () => Buffer.alloc(mebibyte, ' ')],
    ['in chunks', () => chunked(mebibyte)],
  ])('%s, of exactly 1 MiB, is accepted', async (_, body) => {
    expect((await ask('/integrations/leads', { method: 'POST', body: body() })).status).not.toBe(413);
  });

  test('of a request that fails authentication does not delay the answer', async () => {
    const reply = await world.ask('/integrations/leads', {
      method: 'POST',
      body: Buffer.alloc(2 * mebibyte, ' '),
    });
    expect(reply.status).toBe(401);
  });
});

test('An unexpected body is ignored, whether JSON or not', async () => {
  for (const body of ['{}', 'not json', '\0']) {
    const client = new Client(world.baseUrl, { pipelining: 1 });
    try {
      expect((await send(client, lookup, { key, body })).status).toBe(200);
      expect((await send(client, lookup, { key })).status).toBe(200);
    } finally {
      await client.destroy();
    }
  }
});
