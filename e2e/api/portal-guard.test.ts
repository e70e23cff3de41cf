import { type MemberOperation, memberOperations, type Role, roleAllows, roles } from '@causeway/proto';
import { describe, expect, test } from 'vitest';
import { openBrowser, openEveryRole, openTeam } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const browsers = await openEveryRole(await openTeam(world));

const pathOf = ({ path }: MemberOperation): string => path.replace(/\{\w+\}/g, '999999999');
const bodyOf = ({ method, body }: MemberOperation): unknown => (method !== 'GET' && body ? {} : undefined);
const guarded = memberOperations.filter(({ role }) => role !== null);

describe('Every operation of the portal', () => {
  test.each(guarded.map((operation) => [operation.id, operation] as const))(
    '%s is refused without a session, and to each role below its own',
    async (_, operation) => {
      const ask = (browser: ReturnType<typeof openBrowser>) =>
        browser.ask(operation.method, pathOf(operation), bodyOf(operation));
      const nobody = await ask(openBrowser(world));
      expect([nobody.status, nobody.json]).toEqual([
        401,
        { error: 'sign in to continue', reason: 'signed_out' },
      ]);
      for (const role of roles.filter((role) => !roleAllows(role, operation.role as Role))) {
        const reply = await ask(browsers[role]);
        expect([role, reply.status, reply.json]).toEqual([
          role,
          403,
          { error: `this needs the role ${operation.role}`, reason: 'role_required' },
        ]);
      }
    },
  );

  const ends = new Set(['signOut', 'revokeOtherSessions']);
  test.each(guarded.filter(({ id }) => !ends.has(id)).map((operation) => [operation.id, operation] as const))(
    '%s is allowed for its role and every higher one',
    async (_, operation) => {
      for (const role of roles.filter((role) => roleAllows(role, operation.role as Role))) {
        const reply = await browsers[role].ask(operation.method, pathOf(operation), bodyOf(operation));
        expect([401, 403, 405, 500], `${role}: ${reply.status} ${reply.text}`).not.toContain(reply.status);
        if (operation.path.includes('{') && operation.method !== 'GET' && !operation.body)
          expect([404, 501], `${role}: ${reply.text}`).toContain(reply.status);
      }
    },
  );

  test.each(memberOperations.map((operation) => [operation.id, operation] as const))(
    '%s has headers against caching, framing and content sniffing',
    async (_, operation) => {
      const reply = await openBrowser(world).ask(operation.method, pathOf(operation), bodyOf(operation));
      expect(reply.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'content-type': 'application/json',
        'x-request-id': expect.any(String),
      });
      for (const name of ['access-control-allow-origin', 'x-ratelimit-limit', 'set-cookie'])
        expect(reply.headers[name]).toBeUndefined();
    },
  );

  test.each(memberOperations.filter(({ method }) => method !== 'GET').map((o) => [o.id, o] as const))(
    '%s changes nothing for a request of another site',
    async (_, operation) => {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site', origin: world.baseUrl },
        {},
      ]) {
        const browser = browsers.owner;
        const reply = await browser.ask(
          operation.method,
          pathOf(operation),
          bodyOf(operation),
          headers as never,
        );
        expect([reply.status, reply.json.reason], JSON.stringify(headers)).toEqual([403, 'cross_site']);
      }
      expect((await browsers.owner.ask('GET', '/session')).status).toBe(200);
    },
  );
});

describe('A request that changes something', () => {
  test('is accepted from an old browser, which sends only its origin', async () => {
    const { owner } = await openTeam(world);
    const reply = await owner.browser.ask('PATCH', '/profile', { name: 'Ada' }, { origin: world.baseUrl });
    expect([reply.status, reply.json.user.name]).toEqual([200, 'Ada']);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'must have the content type JSON: "%s" is refused',
    async (type) => {
      const { owner } = await openTeam(world);
      const headers = { 'sec-fetch-site': 'same-origin', 'content-type': type };
      const reply = await owner.browser.ask('PATCH', '/profile', '{"name":"Eve"}', headers);
      expect([reply.status, reply.json.error]).toEqual([400, 'Content-Type must be application/json']);
    },
  );
});

describe('Sessions and API keys are separate', () => {
  test('an API key gives no access to the portal', async () => {
    const key = await (await world.company()).key();
    for (const headers of [
      { 'x-api-key': key.value },
      { cookie: `causeway=${key.value}` },
      { authorization: `Bearer ${key.value}` },
    ]) {
      const reply = await world.ask('//portal/api/v1/keys', { headers: headers as never });
      expect([reply.status, reply.json.reason]).toEqual([401, 'signed_out']);
    }
  });

  test('a session gives no access to the interface', async () => {
    const { owner } = await openTeam(world);
    const token = owner.browser.cookie()!;
    for (const ask of [{ headers: { cookie: `causeway=${token}` } }, { key: token }]) {
      const reply = await world.ask('/integrations/lookups/employees', ask);
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toContain('ApiKey');
    }
  });
});

describe('Another company', () => {
  test('is invisible: its members, invitations, sessions and keys are not found', async () => {
    const [ours, theirs] = [await openTeam(world), await openTeam(world)];
    const { browser } = theirs.owner;
    const member = await theirs.join('viewer');
    const invitation = await browser.ask('POST', '/team/invitations', {
      email: 'x@example.com',
      role: 'viewer',
    });
    const key = await browser.ask('POST', '/keys', { name: 'theirs', scopes: ['events:read'] });
    const session = await browser.ask('GET', '/session');
    const asked: [string, string, unknown?][] = [
      ['DELETE', `/team/members/${member.id}`],
      ['PATCH', `/team/members/${member.id}`, { role: 'owner' }],
      ['DELETE', `/team/invitations/${invitation.json.invitation.id}`],
      ['POST', `/keys/${key.json.id}/revoke`],
      ['POST', `/keys/${key.json.id}/rotate`, { graceHours: 1 }],
      ['POST', `/keys/${key.json.id}/rotation/end`, { keep: 'old' }],
      ['DELETE', `/profile/sessions/${session.json.session.id}`],
    ];
    for (const [method, path, body] of asked) {
      const reply = await ours.owner.browser.ask(method, path, body);
      expect([path, reply.status]).toEqual([path, 404]);
    }
    expect((await ours.owner.browser.ask('GET', '/team')).text).not.toContain(member.email);
    expect((await ours.owner.browser.ask('GET', '/keys')).json.keys).toEqual([]);
    expect((await ours.owner.browser.ask('GET', '/audit?limit=100')).text).not.toContain('theirs');
    expect((await browser.ask('GET', '/keys')).json.keys).toMatchObject([{ isActive: true }]);
  });

  test('has cursors that are invalid here', async () => {
    const [ours, theirs] = [await openTeam(world), await openTeam(world)];
    await theirs.owner.browser.ask('PATCH', '/profile', { name: 'Ada' });
    const { json } = await theirs.owner.browser.ask('GET', '/audit?limit=1');
    const reply = await ours.owner.browser.ask('GET', `/audit?cursor=${json.nextCursor}`);
    expect([reply.status, reply.json.error]).toEqual([400, 'invalid cursor']);
  });
});

test('An unknown path is 404, a wrong method 405 with the allowed ones', async () => {
  const browser = openBrowser(world);
  expect((await browser.ask('GET', '/nothing')).status).toBe(404);
  const reply = await browser.ask('PUT', '/session', {});
  expect([reply.status, String(reply.headers.allow).split(', ').toSorted()]).toEqual([
    405,
    ['DELETE', 'GET', 'HEAD', 'POST'],
  ]);
});

test('A body that is too large or not JSON is refused as at the interface', async () => {
  const { owner } = await openTeam(world);
  const large = await owner.browser.ask('PATCH', '/profile', { name: 'x'.repeat(1_100_000) });
  expect(large.status).toBe(413);
  const broken = await owner.browser.ask('PATCH', '/profile', '{"name":');
  expect([broken.status, broken.json.error]).toEqual([400, expect.stringContaining('JSON')]);
  const unknown = await owner.browser.ask('GET', '/audit?foo=1');
  expect([unknown.status, unknown.json.error]).toEqual([400, 'unknown query parameter: foo']);
});

test('More concurrent requests than a browser needs are refused, without effect on other sessions', async () => {
  const team = await openTeam(world);
  const other = await team.join('viewer');
  const replies = await Promise.all(
    Array.from({ length: 400 }, () => team.owner.browser.ask('GET', '/usage?range=30d')),
  );
  expect([200, 429]).toEqual(expect.arrayContaining([...new Set(replies.map(({ status }) => status))]));
  expect((await other.browser.ask('GET', '/session')).status).toBe(200);
});
