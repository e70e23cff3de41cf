import { cleanUp } from '@causeway/runtime/testing';
import { Client } from 'undici';
import { describe, expect, test } from 'vitest';
import { inOneMinute } from './support/clock.ts';
import { startGateway } from './support/gateway.ts';
import { type Browser, openTeam } from './support/portal.ts';
import { atLeast, metric } from './support/processes.ts';
import { openWorld, type Reply, send } from './support/world.ts';

const world = await openWorld();

const lookup = '/integrations/lookups/employees';
const find = '/integrations/clients/find?client_id=1';

const tally = (replies: readonly Reply[]): Record<number, number> =>
  Object.fromEntries(
    [...Map.groupBy(replies, ({ status }) => status)].map(([status, all]) => [status, all.length]),
  );

const remaining = ({ headers }: Reply): number => Number(headers['x-ratelimit-remaining']);

const nextMinute = (): number => Math.ceil(Date.now() / 60_000) * 60;

describe('With four gateways on one port', () => {
  test(
    'exactly 60 requests of each of 24 keys pass, and the 61st is the first to get 429',
    inOneMinute(async () => {
      const gateways = atLeast(world, 'gateway', 4);
      const answered = () => Promise.all(gateways.map((one) => metric(one, 'gateway_requests_total')));
      const keys = await Promise.all(
        Array.from(
          { length: 24 },
          async () => (await (await world.company()).key(['integrations:read'])).value,
        ),
      );
      const before = await answered();
      const reset = String(nextMinute());

      const requests = Array.from({ length: 75 }, (_, at) => (at % 2 ? lookup : find)).flatMap((path) =>
        keys.map(async (key) => ({ key, path, reply: await world.ask(path, { key }) })),
      );
      const byKey = Map.groupBy(await Promise.all(requests), ({ key }) => key);

      for (const key of keys) {
        const replies = (byKey.get(key) ?? []).map(({ reply }) => reply);
        expect(tally(replies)).toEqual({ 200: 60, 429: 15 });
        // Each admitted request had a position of its own.
        const places = replies.filter(({ status }) => status === 200).map(remaining);
        expect(places.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, at) => at));
        expect(new Set(replies.map(({ headers }) => headers['x-ratelimit-reset']))).toEqual(new Set([reset]));
      }
      for (const { path, reply } of [...byKey.values()].flat()) {
        if (reply.status !== 429) continue;
        expect(remaining(reply)).toBe(0);
        const retryAfter = Number(reply.headers['retry-after']);
        expect(retryAfter).toBeGreaterThanOrEqual(1);
        expect(retryAfter).toBeLessThanOrEqual(60);
        if (path === lookup)
          expect(reply.json).toEqual({
            error_code: 'rate_limit_exceeded',
            message: 'rate limit exceeded',
            retry_after_seconds: retryAfter,
          });
        else
          expect(reply.json).toEqual({
            error: 'rate limit exceeded',
            retryAfter,
            limit: 60,
            window: '1m',
            policy: 'read:60/1m',
            resetUtc: new Date(Number(reset) * 1000).toISOString(),
            currentUsage: reply.json.currentUsage,
          });
      }
      const after = await answered();
      for (const [at, { name }] of gateways.entries())
        expect(after[at], `${name} took part`).toBeGreaterThan(before[at] ?? 0);
    }),
  );

  test(
    'buckets of one key are counted separately under concurrent use',
    inOneMinute(async () => {
      const { value: key } = await (await world.company()).key();
      const [reads, writes, admins] = await Promise.all(
        (
          [
            [find, 'GET', 65],
            ['/integrations/leads', 'POST', 105],
            ['/events/test', 'POST', 205],
          ] as const
        ).map(([path, method, count]) =>
          Promise.all(Array.from({ length: count }, () => world.ask(path, { method, key }))),
        ),
      );
      expect(tally(reads ?? [])).toEqual({ 200: 60, 429: 5 });
      expect(tally(writes ?? [])).toEqual({ 400: 100, 429: 5 });
      expect(tally(admins ?? [])).toEqual({ 400: 200, 429: 5 });
    }),
  );
});

test(
  'currentUsage is exact over all gateways: a refused request that is the n-th of the window reports n',
  inOneMinute(async () => {
    const { value: key } = await (await world.company({ read: 3 })).key();
    for (let at = 1; at <= 24; at++) {
      const reply = await world.ask(find, { key });
      expect(reply.status).toBe(at <= 3 ? 200 : 429);
      if (reply.status === 429) expect(reply.json.currentUsage).toBe(at);
    }
    // With connections to all gateways, every position is reported once.
    const burst = await Promise.all(Array.from({ length: 96 }, () => world.ask(find, { key })));
    const usages = burst.map(({ json }) => json.currentUsage as number);
    expect(usages.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 96 }, (_, at) => at + 25));
  }),
);

test(
  'A company gets twenty times the limit over all its keys, and then a 429 with a policy of its own',
  inOneMinute(async () => {
    const company = await world.company({ read: 2 });
    const keys = await Promise.all(Array.from({ length: 25 }, () => company.key()));
    const ask = () => Promise.all(keys.map(({ value }) => world.ask(find, { key: value })));
    const replies = [...(await ask()), ...(await ask())];
    expect(tally(replies)).toEqual({ 200: 40, 429: 10 });
    const refused = replies.filter(({ status }) => status === 429);
    for (const { headers, json } of refused) {
      expect(headers).toMatchObject({
        'x-ratelimit-limit': '40',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-policy': 'company-read:40/1m',
        'ratelimit-policy': '"company-read";q=40;w=60',
      });
      expect(json).toMatchObject({ limit: 40, policy: 'company-read:40/1m' });
    }
    expect(refused.map(({ json }) => json.currentUsage).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, at) => at + 41),
    );
    // Each key still has its own limit, and the other buckets are not affected.
    const reply = await world.ask('/integrations/leads', { method: 'POST', key: keys[0]!.value });
    expect(reply.status).toBe(400);
  }),
);

test(
  'The five headers and the two of the IETF draft are on every answer to a counted request: 200, 400, 403, 413 and 429',
  inOneMinute(async () => {
    const { value: key } = await (await world.company({ read: 2, write: 3, admin: 9 })).key();
    const reset = nextMinute();
    const expectHeaders = (reply: Reply, bucket: 'read' | 'write' | 'admin', left: number): void => {
      const { headers } = reply;
      const limit = { read: 2, write: 3, admin: 9 }[bucket];
      expect(headers['x-ratelimit-limit']).toBe(String(limit));
      expect(headers['x-ratelimit-remaining']).toBe(String(left));
      expect(headers['x-ratelimit-reset']).toBe(String(reset));
      expect(headers['x-ratelimit-window']).toBe('1m');
      expect(headers['x-ratelimit-policy']).toBe(`${bucket}:${limit}/1m`);
      expect(headers['ratelimit-policy']).toBe(`"${bucket}";q=${limit};w=60`);
      expect(headers.ratelimit).toMatch(new RegExp(`^"${bucket}";r=${left};t=\\d{1,2}$`));
    };
    const managed = { url: 'https://example.com/x', eventTypes: ['lead.created'], managedBy: 'Zapier' };
    const plan = [
      [lookup, 'GET', 200, 'read', 1],
      [`${lookup}?x=1`, 'GET', 400, 'read', 0],
      [lookup, 'GET', 429, 'read', 0],
      ['/integrations/leads', 'POST', 400, 'write', 2],
      ['/integrations/leads/0', 'PATCH', 400, 'write', 1],
      ['/integrations/leads', 'POST', 413, 'write', 0, 'x'.repeat(1024 * 1024 + 1)],
      ['/integrations/leads', 'POST', 429, 'write', 0],
      ['/webhooks/subscriptions', 'POST', 201, 'admin', 8, managed],
    ] as const;
    let made = 0;
    for (const [path, method, status, bucket, left, body] of plan) {
      const reply = await world.ask(path, { method, key, body });
      expect([path, reply.status]).toEqual([path, status]);
      expectHeaders(reply, bucket, left);
      made = reply.json.id;
    }
    const path = `/webhooks/subscriptions/${made}`;
    const refused = await world.ask(path, { method: 'PATCH', key, body: { name: 'mine' } });
    expect(refused.status).toBe(403);
    expectHeaders(refused, 'admin', 7);
  }),
);

test(
  'Requests that fail authentication, route, method or scope are not counted',
  inOneMinute(async () => {
    const { value: key } = await (await world.company()).key(['integrations:read']);
    expect((await world.ask(lookup, { key: `${key}x` })).status).toBe(401);
    expect((await world.ask('/nothing', { key })).status).toBe(404);
    expect((await world.ask(lookup, { key, method: 'PUT' })).status).toBe(405);
    expect((await world.ask('/events', { key })).status).toBe(403);
    expect(remaining(await world.ask(lookup, { key }))).toBe(59);
  }),
);

describe('Limits set by an operator', () => {
  const limitSeen = async (key: string): Promise<Set<unknown>> => {
    // Enough concurrent requests that every gateway answers some.
    const replies = await Promise.all(Array.from({ length: 24 }, () => world.ask(lookup, { key })));
    return new Set(replies.map(({ headers }) => headers['x-ratelimit-limit']));
  };

  test('for a company apply to its keys and to no other company, on every gateway at once', async () => {
    const [company, other] = await Promise.all([world.company(), world.company()]);
    const [{ value: key }, { value: theirs }] = await Promise.all([company.key(), other.key()]);
    await world.operator.ask('setLimits', { company_id: company.id, read: 500 });
    expect(await limitSeen(key)).toEqual(new Set(['500']));
    expect(await limitSeen(theirs)).toEqual(new Set(['60']));
    await world.operator.ask('setLimits', { company_id: company.id, read: 300 });
    expect(await limitSeen(key)).toEqual(new Set(['300']));
    await world.operator.ask('setLimits', { company_id: company.id, read: null });
    expect(await limitSeen(key)).toEqual(new Set(['60']));
  });

  test('for a key override those of its company', async () => {
    const company = await world.company({ read: 200 });
    const [{ id, value: key }, { value: sibling }] = await Promise.all([company.key(), company.key()]);
    await world.operator.ask('setLimits', { id, read: 400 });
    expect(await limitSeen(key)).toEqual(new Set(['400']));
    expect(await limitSeen(sibling)).toEqual(new Set(['200']));
    await world.operator.ask('setLimits', { id, read: null });
    expect(await limitSeen(key)).toEqual(new Set(['200']));
  });

  test(
    'apply to the next request, whether lowered below the usage or raised above it',
    inOneMinute(async () => {
      const company = await world.company({ read: 5 });
      const { value: key } = await company.key();
      for (const left of [4, 3, 2]) expect(remaining(await world.ask(find, { key }))).toBe(left);
      await world.operator.ask('setLimits', { company_id: company.id, read: 2 });
      expect((await world.ask(find, { key })).status).toBe(429);
      await world.operator.ask('setLimits', { company_id: company.id, read: 50 });
      const reply = await world.ask(find, { key });
      expect([reply.status, reply.headers['x-ratelimit-limit']]).toEqual([200, '50']);
    }),
  );
});

describe('Members', () => {
  const limit = 40;

  /** An additional gateway of the cluster, with a small limit for members. */
  const strictGateway = async () => {
    const gateway = await startGateway(world, 'strict', { RATE_LIMIT_PORTAL: String(limit) });
    const client = new Client(gateway.url);
    cleanUp(() => client.destroy());
    return (browser: Browser, path: string) =>
      send(client, `//portal/api/v1${path}`, {
        headers: { cookie: `causeway=${browser.cookie()}`, 'sec-fetch-site': 'same-origin' },
      });
  };

  test(
    'A signed-in member has one limit per minute over all gateways, then gets a 429 that says how long to wait',
    inOneMinute(async () => {
      const [strict, team] = [await strictGateway(), await openTeam(world)];
      const viewer = await team.join('viewer');
      // Requests that other gateways counted count here too.
      for (let at = 0; at < 10; at++) expect((await viewer.browser.ask('GET', '/session')).status).toBe(200);
      const statuses: number[] = [];
      for (let at = 0; at < limit; at++) statuses.push((await strict(viewer.browser, '/session')).status);
      const passed = statuses.filter((status) => status === 200).length;
      expect(passed).toBeLessThanOrEqual(limit - 10);
      expect(statuses).toEqual([
        ...Array.from({ length: passed }, () => 200),
        ...Array.from({ length: limit - passed }, () => 429),
      ]);
      const refused = await strict(viewer.browser, '/session');
      const seconds = Number(refused.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
      expect([refused.status, refused.json]).toEqual([
        429,
        {
          error: `you made more than ${limit} requests this minute; wait ${seconds} s, then try again`,
          reason: 'too_many_requests',
          retryAfter: seconds,
        },
      ]);
      // The limit is per member: other members of the company are not affected.
      expect((await strict(team.owner.browser, '/session')).status).toBe(200);
    }),
  );
});
