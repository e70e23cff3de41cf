import { openSecret } from '@causeway/runtime';
import { rowOf, rowsOf } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { makeEvents } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';

const booted = await bootPortal({ services: 2 });
const { ask, portal, db, keyRing, database } = booted;
let company = 7_300;

const wanted = { url: 'https://hooks.example.com/rules', eventTypes: ['client.created', 'lead.created'] };
const token = 'Bearer a-very-secret-token';
const rules = {
  conditions: [{ field: 'email', equals: 'katherine@example.com' }],
  pace: { limit: 5, per: 'second' },
  headers: { Authorization: token, 'X-Team': 'billing' },
};
const make = async (more: object = {}) => {
  const { status, body } = await ask('createSubscription', company, { body: { ...wanted, ...more } });
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
};
const change = (id: number, body: object) => ask('updateSubscription', company, { params: [id], body });

test('conditions, pace and headers are stored, shown without secrets, changed, and absent when cleared', async () => {
  company++;
  const plain = await make();
  for (const name of ['conditions', 'pace', 'paused', 'headerNames']) expect(plain).not.toHaveProperty(name);
  const { id, signingSecret: _, ...made } = await make(rules);
  expect(made).toMatchObject({
    conditions: rules.conditions,
    pace: rules.pace,
    headerNames: ['Authorization', 'X-Team'],
  });
  const [row] = await rowsOf(db, 'subscriptions', company, { subscription_id: id });
  expect(row!.headers!.includes('very-secret')).toBe(false);
  // A record that was read can be sent back.
  expect((await change(id, { ...made, name: 'Billing' })).body).toMatchObject({ name: 'Billing' });
  const merged = await change(id, {
    headers: { authorization: 'Bearer other', 'X-Team': null, 'X-New': 'a' },
  });
  expect(merged.body.headerNames).toEqual(['authorization', 'X-New']);
  const paused = await change(id, { paused: true });
  expect(paused.body).toMatchObject({ paused: true, enabled: true });
  expect((await portal('getPortalSubscription', company, { params: [id] })).body).toMatchObject({
    pausedUtc: expect.any(String),
    pausedBy: expect.any(String),
  });
  const cleared = await change(id, { conditions: null, pace: null, headers: null, paused: false });
  for (const name of ['conditions', 'pace', 'paused', 'headerNames'])
    expect(cleared.body).not.toHaveProperty(name);
  const log = JSON.stringify(await database.query('SELECT * FROM audit_log WHERE company_id = ?', [company]));
  for (const secret of ['very-secret', 'Bearer', 'katherine@']) expect(log).not.toContain(secret);
  for (const told of ['email equals', '5 per second', 'X-Team']) expect(log).toContain(told);
});

test('a new value of a header is in the audit log, but not the value', async () => {
  company++;
  const { id } = await make(rules);
  await change(id, { headers: { Authorization: 'Bearer new-one' } });
  const [entry] = await database.query<{ after: unknown }>(
    "SELECT * FROM audit_log WHERE company_id = ? AND action = 'subscription.changed'",
    [company],
  );
  expect(JSON.stringify(entry)).toContain('replaced');
  expect(JSON.stringify(entry)).not.toContain('new-one');
  const { headers } = await rowOf(db, 'subscriptions', company);
  expect(JSON.parse(openSecret(keyRing, company, headers!))).toEqual({
    'X-Team': 'billing',
    Authorization: 'Bearer new-one',
  });
});

test('viewers see conditions without personal data, and names of headers only', async () => {
  company++;
  const { id } = await make(rules);
  const { body } = await portal('getPortalSubscription', company, { params: [id], role: 'viewer' });
  expect(body.conditions).toEqual([{ field: 'email', equals: '•••' }]);
  expect(JSON.stringify(body)).not.toContain('very-secret');
});

test.each([
  [{ conditions: [{ field: 'amount', min: 1 }] }, /client\.created has no field amount/],
  [{ conditions: [{ field: 'email' }] }, /must have one of equals/],
  [{ conditions: [{ field: 'email', equals: 'a', exists: true }] }, /must have one of equals/],
  [{ conditions: Array.from({ length: 11 }, () => ({ field: 'email', exists: true })) }, /at most 10 items/],
  [{ conditions: [{ field: 'email', in: Array.from({ length: 21 }, () => 'a') }] }, /at most 20 items/],
  [{ conditions: [{ field: 'email', startsWith: 'a'.repeat(501) }] }, /500/],
  [{ conditions: [{ field: '__proto__', exists: true }] }, /no field __proto__/],
  [{ pace: { limit: 0, per: 'second' } }, /at least 1/],
  [{ pace: { limit: 1, per: 'hour' } }, /second, minute/],
  [{ headers: { Host: 'evil' } }, /Host is set by/],
  [{ headers: { 'x-webhook-signature': 'evil' } }, /is set by/],
  [{ headers: { 'Content-Length': '1' } }, /is set by/],
  [{ headers: { 'X-A': 'a\r\nX-B: b' } }, /ASCII without control/],
  [{ headers: { 'X A': 'a' } }, /is not the name of a header/],
  [{ headers: { 'X-A\r\nX-B': 'a' } }, /is not the name of a header/],
  [{ headers: { 'X-A': 'a', 'x-a': 'b' } }, /is there twice/],
  [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`X-${at}`, 'a'])) }, /at most 20/],
])('%j is refused', async (fields, message) => {
  company++;
  const created = await ask('createSubscription', company, { body: { ...wanted, ...fields } });
  expect([created.status, created.body.error]).toEqual([400, expect.stringMatching(message)]);
  const { id } = await make();
  expect((await change(id, fields)).status).toBe(400);
});

test('types that do not have the field of a condition are refused, and so are too many headers in all', async () => {
  company++;
  const { id } = await make({
    ...rules,
    headers: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`X-${at}`, 'a'])),
  });
  expect((await change(id, { eventTypes: ['invoice.created'] })).body.error).toMatch(
    /invoice\.created has no field email/,
  );
  expect((await change(id, { headers: { 'X-More': 'a' } })).body.error).toMatch(/at most 20/);
  expect((await change(id, { headers: { 'X-More': 'a', 'X-1': null } })).status).toBe(200);
});

test('conditions that no event can meet are refused, in a create and in a change', async () => {
  company++;
  const never = [
    { field: 'email', equals: 'a@b.co' },
    { field: 'email', exists: false },
  ];
  const error = 'no email can meet equals "a@b.co" and exists false, so no event would be delivered';
  const refused = await ask('createSubscription', company, { body: { ...wanted, conditions: never } });
  expect([refused.status, refused.body.error]).toEqual([400, error]);
  expect(refused.body.details).toEqual([{ field: 'conditions[1]', code: 'must_agree', message: error }]);
  const { id } = await make();
  expect((await change(id, { conditions: never })).body.error).toBe(error);
});

test('missing events since the future are refused', async () => {
  company++;
  const { id } = await make();
  const query = { since: new Date(Date.now() + 3_600_000).toISOString() };
  const { status, body } = await ask('listMissingEvents', company, { params: [id], query });
  expect([status, body.error]).toEqual([400, 'since must not be in the future']);
});

test('missing events, missed events and the preview follow the conditions', async () => {
  company++;
  const { id } = await make({ conditions: [{ field: 'email', startsWith: 'kat' }] });
  await makeEvents(
    db,
    company,
    Array.from({ length: 130 }, (_, at) => ({
      payload: { email: at % 10 === 0 ? 'kat@x.org' : 'zoe@x.org' },
    })),
  );
  await makeEvents(db, company, [{ payload: { client_id: 1, erased: true } }]);
  const missing = await ask('listMissingEvents', company, {
    params: [id],
    query: { since: '2020-01-01T00:00:00Z' },
  });
  expect(missing.body.missing).toHaveLength(13);
  const preview = await portal('previewReplay', company, {
    body: { subscriptionId: id, kind: 'missed', since: '2020-01-01T00:00:00Z' },
  });
  expect(preview.body.count).toBe(13);
  const conditions = [{ field: 'email', startsWith: 'kat' }];
  const body = { eventTypes: ['client.created'], conditions };
  expect((await portal('previewConditions', company, { body })).body).toEqual({ matched: 9, events: 100 });
  expect((await portal('previewConditions', company + 1, { body })).body).toEqual({ matched: 0, events: 0 });
  await change(id, { enabled: false });
  await makeEvents(db, company, [{ payload: { email: 'kat@x.org' } }, { payload: { email: 'zoe@x.org' } }]);
  await change(id, { enabled: true });
  const { body: shown } = await portal('getPortalSubscription', company, { params: [id] });
  expect(shown.missed).toMatchObject({ count: 1 });
});

test("a tool's subscription is paused and resumed in the portal only", async () => {
  company++;
  const { id } = await make({ managedBy: 'n8n' });
  expect((await change(id, { paused: true })).status).toBe(403);
  const update = (body: object) => portal('updatePortalSubscription', company, { params: [id], body });
  expect((await update({ paused: true })).body).toMatchObject({ paused: true, pausedBy: 'The developer' });
  expect((await update({ paused: true, name: 'x' })).status).toBe(403);
  expect((await update({ paused: false })).body).not.toHaveProperty('paused');
});

test('a subscription that is created paused is paused by its creator, and delivers nothing meanwhile', async () => {
  company++;
  const made = await make({ paused: true });
  expect(made).toMatchObject({ paused: true, enabled: true });
  const { body } = await portal('getPortalSubscription', company, { params: [made.id] });
  expect(body).toMatchObject({ pausedUtc: expect.any(String), pausedBy: expect.any(String) });
  expect(await make({ paused: false })).not.toHaveProperty('paused');
});

test('a create that knows of the subscriptions of its name makes one, however often it is sent', async () => {
  company++;
  const create = (sameName: number, more: object = { name: 'Billing' }) =>
    portal('createPortalSubscription', company, { body: { ...wanted, ...more, basedOn: { sameName } } });
  const all = await Promise.all(Array.from({ length: 5 }, () => create(0)));
  expect(all.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
  // Names are compared as the portal does it, and not as MySQL would.
  for (const name of ['billing', 'Bílling', null]) expect((await create(0, { name })).status).toBe(201);
  expect((await create(0, { name: null })).status).toBe(409);
  expect((await create(1)).status).toBe(201);
});

test('a settings file is checked as creates would be, with the place of each problem, and comes back as it is stored', async () => {
  company++;
  const check = (body: object) => portal('checkSettings', company, { body, role: 'viewer' });
  const subscription = {
    ...wanted,
    ...rules,
    headers: undefined,
    name: ' Billing ',
    headerNames: ['X-Team'],
  };
  const key = { name: 'Zapier', scopes: ['admin'], networks: ['203.0.113.5'] };
  const file = { version: 1, subscriptions: [subscription], keys: [key] };
  const { status, body } = await check({
    ...file,
    $schema: 'https://crm.example.com/docs/settings.schema.json',
  });
  expect([status, body]).toMatchObject([
    200,
    { subscriptions: [{ name: 'Billing', enabled: true }], keys: [{ networks: ['203.0.113.5/32'] }] },
  ]);
  const wrong = await check({
    version: 2,
    subscriptions: [
      { ...subscription, eventTypes: ['client.born'] },
      { ...subscription, secret: 'whsec_' },
    ],
    keys: [{ ...key, networks: ['everywhere'] }],
  });
  const places = wrong.body.details.map(({ field }: { field: string }) => field);
  expect([wrong.status, places.toSorted()]).toEqual([
    400,
    ['keys[0].networks[0]', 'subscriptions[0].eventTypes[0]', 'subscriptions[1].secret', 'version'],
  ]);
  const refused = await check({
    ...file,
    subscriptions: [
      subscription,
      { ...subscription, url: 'https://127.0.0.1/' },
      { ...subscription, conditions: [{ field: 'nothing', exists: true }] },
    ],
  });
  expect(refused.body.details.map(({ field }: { field: string }) => field)).toEqual([
    'subscriptions[1].url',
    'subscriptions[2].conditions[0].field',
  ]);
});

test("another origin of the URL takes new values of the headers, or none: no one reads the old receiver's secrets", async () => {
  company++;
  const { id } = await make(rules);
  const stored = async () => {
    const row = await rowOf(db, 'subscriptions', company, { subscription_id: id });
    return { url: row.url, headers: row.headers && JSON.parse(openSecret(keyRing, company, row.headers)) };
  };
  const before = await stored();
  const message =
    'headers: another origin of the URL needs the values of Authorization, X-Team anew, or null';
  for (const url of [
    'https://evil.example/rules',
    'https://hooks.example.com:8443/rules',
    'https://hooks.example.com./rules',
  ])
    for (const headers of [undefined, {}, { 'X-New': 'a' }]) {
      const given = { url, ...(headers && { headers }) };
      expect((await change(id, given)).body).toMatchObject({ error: message });
      const asked = { params: [id], body: given, role: 'admin' } as const;
      expect((await portal('updatePortalSubscription', company, asked)).body).toMatchObject({
        error: message,
      });
    }
  expect(
    (await change(id, { url: 'https://evil.example/', headers: { authorization: 'b' } })).body.error,
  ).toContain('values of X-Team anew');
  expect(await stored()).toEqual(before);
  // The same origin is the same receiver.
  expect((await change(id, { url: 'https://HOOKS.example.com:443/other' })).status).toBe(200);
  const values = { AUTHORIZATION: 'Bearer b', 'x-team': null };
  expect((await change(id, { url: 'https://other.example/', headers: values })).status).toBe(200);
  expect((await stored()).headers).toEqual({ AUTHORIZATION: 'Bearer b' });
  expect((await change(id, { url: 'https://third.example/', headers: null })).status).toBe(200);
  expect((await stored()).headers).toBeNull();
  expect((await change(id, { url: 'https://fourth.example/' })).status).toBe(200);
});

test('large payloads are searched a few at a time, in turns, and none is left out', async () => {
  company++;
  // As slow to parse as 256 KiB can be, with a key that has an escape.
  const payload = { client_id: 1, '"': Array(85_000).fill([]) };
  const { id } = await make({ conditions: [{ field: 'client_id', exists: true }] });
  await makeEvents(db, company, Array(10).fill({ payload }));
  const search = async (limit: number) => {
    const sequences: number[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const query = { since: '2020-01-01T00:00:00Z', limit: String(limit), ...(cursor && { cursor }) };
      const { body } = await ask('listMissingEvents', company, { params: [id], query });
      sequences.push(...body.missing.map((one: { sequence: number }) => one.sequence));
      cursor = body.nextCursor ?? undefined;
      more = body.hasMore;
    }
    return sequences;
  };
  const all = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  expect(await Promise.all([search(100), search(3)])).toEqual([all, all]);
  const body = { eventTypes: ['client.created'], conditions: [{ field: 'client_id', equals: 1 }] };
  const { matched, events } = (await portal('previewConditions', company, { body })).body;
  expect([matched > 0, matched]).toEqual([true, events]);
});
