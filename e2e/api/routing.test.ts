import { keyOperations, scopes } from '@causeway/proto';
import { beforeAll, describe, expect, test } from 'vitest';
import { inOneMinute } from './support/clock.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
let key = '';
beforeAll(async () => {
  key = (await (await world.company({ read: 100_000, write: 100_000, admin: 100_000 })).key()).value;
});

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** The methods of a path, in any order. */
const allowOf = (path: string): Set<string> =>
  new Set(
    keyOperations
      .filter((operation) => operation.path === path)
      .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
  );

const paths = [...new Set(keyOperations.map(({ path }) => path))];

describe.each(paths)('%s', (path) => {
  const concrete = path.replaceAll(/\{\w+\}/g, '987654321');

  test('answers 405 and Allow to every other method', async () => {
    const allow = allowOf(path);
    for (const method of methods.filter((name) => !allow.has(name))) {
      const reply = await world.ask(concrete, { method, key });
      expect(reply.status, method).toBe(405);
      expect(new Set(String(reply.headers.allow).split(', ')), method).toEqual(allow);
      expect(reply.headers['x-ratelimit-limit'], method).toBeUndefined();
    }
  });

  test('is a different path with a trailing or doubled slash', async () => {
    for (const other of [`${concrete}/`, concrete.replace('/', '//'), `${concrete}//`, `${concrete}/x/y`]) {
      const reply = await world.ask(other, { key });
      expect(reply.status, other).toBe(404);
      expect(reply.json.error_code ?? reply.json.error, other).toMatch(/^not[ _]found$/);
    }
  });
});

test('Paths are compared exactly: upper case, dots and escapes are not found', async () => {
  for (const path of [
    lookup.toUpperCase(),
    '/integrations/lookups/employees%2f',
    '/integrations/lookups/%65mployees',
    '/integrations/./lookups/employees',
    '/integrations/lookups/../lookups/employees',
    '/integrations/lookups/employees;x=1',
    '/integrations/lookups',
    '/integrations/lookups/',
    '/integrations',
    '/nothing',
    '/healthz',
    '/metrics',
  ])
    expect((await world.ask(path, { key })).status, path).toBe(404);
});

test('Paths outside /api/v1 are not found, with or without a key', async () => {
  for (const path of ['//api', '//api/v1', '//api/v2/events', '//favicon.ico', '//api/v10/events'])
    for (const sent of [key, undefined]) {
      const reply = await world.ask(path, { key: sent });
      expect(reply.status, path).toBe(404);
      expect(reply.json, path).toEqual({ error: 'not found' });
    }
});

test('A 404 below the lookups has their shape, one elsewhere the general one', async () => {
  expect((await world.ask('/integrations/lookups/nothing', { key })).json).toEqual({
    error_code: 'not_found',
    message: 'not found',
  });
  expect((await world.ask('/integrations/nothing', { key })).json).toEqual({ error: 'not found' });
});

test(
  'HEAD answers what GET would, without its body, and is counted',
  inOneMinute(async () => {
    const { value } = await (await world.company()).key();
    const got = await world.ask(lookup, { key: value });
    const head = await world.ask(lookup, { key: value, method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['content-length']).toBe(got.headers['content-length']);
    expect(head.headers['content-type']).toBe('application/json');
    expect([got, head].map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['59', '58']);
  }),
);

test('HEAD of a refused request has the status and no body', async () => {
  const refused = await world.ask(lookup, { method: 'HEAD' });
  expect([refused.status, refused.text]).toEqual([401, '']);
  const unknown = await world.ask('/nothing', { method: 'HEAD', key });
  expect([unknown.status, unknown.text]).toEqual([404, '']);
  const invalid = await world.ask(`${lookup}?x=1`, { method: 'HEAD', key });
  expect([invalid.status, invalid.text]).toEqual([400, '']);
});

test('There is no CORS: a preflight is a 401 without a key, a 405 with one, never an allowance', async () => {
  const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'GET' };
  const without = await world.ask(lookup, { method: 'OPTIONS', headers: preflight });
  const withKey = await world.ask(lookup, { method: 'OPTIONS', headers: preflight, key });
  expect([without.status, withKey.status]).toEqual([401, 405]);
  const got = await world.ask(lookup, { headers: { origin: 'https://evil.example' }, key });
  for (const { headers } of [without, withKey, got])
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

describe('The order of checks', () => {
  test('401 comes before 404, 405 and 403', async () => {
    expect((await world.ask('/nothing')).status).toBe(401);
    expect((await world.ask(lookup, { method: 'DELETE' })).status).toBe(401);
    expect((await world.ask('/events')).status).toBe(401);
  });

  test('404 and 405 come before 403', async () => {
    const { value } = await (await world.company()).key(['admin']);
    expect((await world.ask('/nothing', { key: value })).status).toBe(404);
    expect((await world.ask(lookup, { key: value, method: 'POST' })).status).toBe(405);
    expect((await world.ask(lookup, { key: value })).status).toBe(403);
  });

  test(
    '403 comes before 429: a key over its limit still hears that it lacks the scope',
    inOneMinute(async () => {
      const company = await world.company({ read: 1 });
      const { value } = await company.key(scopes.filter((scope) => scope !== 'events:read'));
      await world.ask(lookup, { key: value });
      expect((await world.ask(lookup, { key: value })).status).toBe(429);
      expect((await world.ask('/events', { key: value })).status).toBe(403);
      expect((await world.ask('/nothing', { key: value })).status).toBe(404);
    }),
  );

  test(
    '429 comes before 400, 413 and a record’s 404',
    inOneMinute(async () => {
      const company = await world.company({ read: 1, write: 1 });
      const { value } = await company.key();
      expect((await world.ask(`${lookup}?x=1`, { key: value })).status).toBe(400);
      expect((await world.ask(`${lookup}?x=1`, { key: value })).status).toBe(429);
      const large = { key: value, method: 'POST', body: Buffer.alloc(1024 * 1024 + 1, 32) };
      expect((await world.ask('/integrations/leads', large)).status).toBe(413);
      expect((await world.ask('/integrations/leads', large)).status).toBe(429);
    }),
  );
});

describe('X-Request-Id', () => {
  test('is the caller’s if it sent a valid one', async () => {
    for (const id of ['a', 'order-17', 'A.b_c~d:e/f+g=h', 'x'.repeat(128)])
      expect(
        (await world.ask(lookup, { key, headers: { 'x-request-id': id } })).headers['x-request-id'],
      ).toBe(id);
  });

  test('is generated if there was none, or none that is safe to repeat', async () => {
    const sent = ['', ' ', 'a b', 'x'.repeat(129), '<script>', '"quoted"', 'aüb', 'a,b', '%0d%0a'];
    const ids = new Set<unknown>();
    for (const id of [undefined, ...sent]) {
      const headers = id === undefined ? {} : { 'x-request-id': Buffer.from(id).toString('latin1') };
      const got = (await world.ask(lookup, { key, headers })).headers['x-request-id'];
      expect(got).toMatch(/^[0-9a-f]{24}$/);
      ids.add(got);
    }
    expect(ids.size).toBe(sent.length + 1);
  });

  test('is on every answer', async () => {
    const headers = { 'x-request-id': 'everywhere' };
    for (const [path, ask, status] of [
      [lookup, { key }, 200],
      [lookup, {}, 401],
      ['/nothing', { key }, 404],
      [lookup, { key, method: 'POST' }, 405],
      [`${lookup}?x`, { key }, 400],
      ['/events', { key }, 200],
      ['/openapi.json', {}, 200],
      ['//nothing', {}, 404],
    ] as const) {
      const reply = await world.ask(path, { ...ask, headers });
      expect([path, reply.status, reply.headers['x-request-id']]).toEqual([path, status, 'everywhere']);
    }
  });
});

describe('GET /openapi.json', () => {
  test('needs no key, ignores an invalid one, and counts nothing', async () => {
    for (const sent of [undefined, key, 'nonsense']) {
      const reply = await world.ask('/openapi.json', { key: sent });
      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(reply.headers['x-ratelimit-limit']).toBeUndefined();
    }
  });

  test('can be read from any site, names the configured server, and leaves webhooks out on request', async () => {
    for (const [path, hasWebhooks] of [
      ['/openapi.json', true],
      ['/openapi.json?webhooks=false', false],
    ] as const) {
      const headers = { host: 'stranger.example', 'x-forwarded-host': 'stranger.example' };
      const reply = await world.ask(path, { headers });
      expect(reply.headers['access-control-allow-origin']).toBe('*');
      expect(reply.json.servers).toEqual([{ url: world.baseUrl }]);
      expect('webhooks' in reply.json).toBe(hasWebhooks);
    }
  });

  test('has HEAD, and answers 405 to other methods with a key', async () => {
    const head = await world.ask('/openapi.json', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(1000);
    const posted = await world.ask('/openapi.json', { method: 'POST', key });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
