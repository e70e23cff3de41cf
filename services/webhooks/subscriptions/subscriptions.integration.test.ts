import { type OperationId, testDeliverySubject } from '@causeway/proto';
import { openSecret } from '@causeway/runtime';
import { rowsOf } from '@causeway/runtime/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type BootedWebhooks, bootWebhooks } from '../testing/boot.ts';
import { makeDelivery } from '../testing/make.ts';

const booted = await bootWebhooks({ services: 2 });
const { ask, bus, db, keyRing } = booted;
let lastCompany = 1000;
const newCompany = (): number => ++lastCompany;

const wanted = { url: 'https://hooks.example.com/a?b=1', eventTypes: ['client.created', 'lead.created'] };
const make = async (company: number, more: object = {}) => {
  const { status, body } = await ask('createSubscription', company, { body: { ...wanted, ...more } });
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
};
const secretsOf = async (company: number, id: number) => {
  const [row] = await rowsOf(db, 'subscriptions', company, { subscription_id: id });
  return row!;
};
const queueOf = (company: number, id: number) =>
  db
    .selectFrom('delivery_queues')
    .selectAll()
    .where('company_id', '=', company)
    .where('subscription_id', '=', id)
    .executeTakeFirst();

describe('A subscription', () => {
  test('has its secret sealed in the database, for its own company only', async () => {
    const company = newCompany();
    const { id, signingSecret } = await make(company);
    const { secret } = await secretsOf(company, id);
    expect(secret.includes(signingSecret)).toBe(false);
    expect(openSecret(keyRing, company, secret)).toBe(signingSecret);
    expect(() => openSecret(keyRing, company + 1, secret)).toThrow();
    const other = await make(company);
    expect(other.signingSecret).not.toBe(signingSecret);
  });

  test('of another company is not found, by any operation', async () => {
    const [mine, theirs] = [newCompany(), newCompany()];
    const { id } = await make(theirs);
    const before = await secretsOf(theirs, id);
    const byKey: readonly [OperationId, object?][] = [
      ['getSubscription'],
      ['updateSubscription', { enabled: false }],
      ['rotateSubscriptionSecret', {}],
      ['testSubscription', {}],
      ['deleteSubscription'],
      ['releaseHeldDeliveries'],
      ['discardHeldDeliveries'],
    ];
    const byMember: readonly [OperationId, object?][] = [
      ['getPortalSubscription'],
      ['updatePortalSubscription', { name: 'x' }],
      ['rotatePortalSubscriptionSecret', {}],
      ['testPortalSubscription', {}],
      ['deletePortalSubscription'],
      ['releaseHeld'],
      ['discardHeld'],
    ];
    for (const [operation, body] of [...byKey, ...byMember]) {
      const isByMember = byMember.some(([name]) => name === operation);
      const reply = await ask(operation, mine, { params: [id], body, ...(isByMember && { role: 'admin' }) });
      expect([operation, reply.status, reply.body]).toEqual([
        operation,
        404,
        { error: 'subscription not found' },
      ]);
    }
    expect((await ask('listSubscriptions', mine)).body).toEqual({
      ...{ subscriptions: [], count: 0, hasMore: false, nextCursor: null },
    });
    expect(await secretsOf(theirs, id)).toEqual(before);
    expect((await ask('getSubscription', theirs, { params: [id] })).body.enabled).toBe(true);
  });
});

describe('A subscription is refused', () => {
  test.each([
    ['127.0.0.1', 'a loopback address'],
    ['[::ffff:10.0.0.1]', 'a private address'],
    ['LocalHost.', 'a loopback name'],
    ['metadata.google.internal', 'a name of a local network'],
  ])('with the host %s, when created and when changed', async (host, problem) => {
    const company = newCompany();
    const url = `https://${host}/hook`;
    const error = `invalid URL: the host is ${problem}`;
    const made = await ask('createSubscription', company, { body: { ...wanted, url } });
    expect([made.status, made.body.error, made.body.details]).toEqual([
      400,
      error,
      [{ field: 'url', code: 'out_of_range', message: error }],
    ]);
    const { id } = await make(company);
    const changed = await ask('updateSubscription', company, { params: [id], body: { url } });
    expect([changed.status, changed.body.error]).toEqual([400, error]);
    expect((await ask('getSubscription', company, { params: [id] })).body.url).toBe(wanted.url);
  });

  test('with a port that is not allowed, when created and when changed', async () => {
    const company = newCompany();
    const url = 'https://hooks.example.com:6379/hook';
    const error =
      'invalid URL: the port is 6379; deliveries go to these ports only: 443, 8443; an operator allows others with WEBHOOKS_PORTS';
    const made = await ask('createSubscription', company, { body: { ...wanted, url } });
    expect([made.status, made.body.error]).toEqual([400, error]);
    const { id } = await make(company);
    const changed = await ask('updateSubscription', company, { params: [id], body: { url } });
    expect([changed.status, changed.body.error]).toEqual([400, error]);
    const other = await bootWebhooks({
      targets: { allowHttp: false, allowPrivate: false, ports: new Set([443, 6379]) },
    });
    expect((await other.ask('createSubscription', 1, { body: { ...wanted, url } })).status).toBe(201);
  });

  test('for none of these if the installation allows them', async () => {
    const local = await bootWebhooks({ targets: { allowHttp: true, allowPrivate: true } });
    for (const url of ['http://127.0.0.1:9999/', 'http://localhost', 'https://[::1]/x']) {
      const { status, body } = await local.ask('createSubscription', 1, { body: { ...wanted, url } });
      expect([status, body.url]).toEqual([201, url]);
    }
  });

  test('if its secret cannot be encrypted', async () => {
    const broken = await bootWebhooks({ keyRing: { sealsWith: 'gone', keys: new Map() } });
    const { status, body } = await broken.ask('createSubscription', 1, { body: wanted });
    expect([status, body.error]).toEqual([500, 'the signing secret could not be encrypted']);
    expect((await broken.ask('listSubscriptions', 1)).body.count).toBe(0);
  });
});

describe('Changing a subscription', () => {
  test('a subscription that was read can be edited and sent back whole; fields that cannot be set are reported once', async () => {
    const company = newCompany();
    const { id } = await make(company, { name: 'Billing' });
    const { body: read } = await ask('getSubscription', company, { params: [id] });
    const patch = (body: unknown) => ask('updateSubscription', company, { params: [id], body });
    const edited = await patch({ ...read, name: 'Books' });
    expect([edited.status, edited.body.name]).toEqual([200, 'Books']);
    const { body: now } = await ask('getSubscription', company, { params: [id] });
    const { details } = (await patch({ ...now, id: id + 1, name: 'X', foo: 1 })).body;
    expect(details).toEqual([
      { field: 'foo', code: 'unknown_field', message: 'unknown field: foo' },
      { field: 'id', code: 'must_agree', message: 'id must equal the one in the path' },
    ]);
    expect(
      (await patch({ ...now, consecutiveFailures: 3, managedBy: 'me', name: 'X' })).body.details,
    ).toEqual([
      { field: 'managedBy', code: 'read_only', message: 'managedBy cannot be changed here' },
      {
        field: 'consecutiveFailures',
        code: 'read_only',
        message: 'consecutiveFailures cannot be changed here',
      },
    ]);
    expect((await ask('getSubscription', company, { params: [id] })).body).toEqual(now);
  });

  test('changes sent fields, and clears nullable ones', async () => {
    const company = newCompany();
    const made = await make(company, { name: 'Billing', description: 'For the books.' });
    const patch = (body: unknown) => ask('updateSubscription', company, { params: [made.id], body });
    expect((await patch({ url: 'https://other.example.com' })).body).toMatchObject({
      url: 'https://other.example.com',
      name: 'Billing',
      eventTypes: wanted.eventTypes,
    });
    const { body } = await patch({ name: null, description: null, eventTypes: ['payment.failed'] });
    expect(body).toMatchObject({ name: null, description: null, eventTypes: ['payment.failed'] });
    expect(Date.parse(body.updatedUtc)).toBeGreaterThan(Date.parse(made.updatedUtc));
    expect(body.createdUtc).toBe(made.createdUtc);
    for (const [wrong, error] of [
      [{}, /^no field to change$/],
      [{ id: made.id, createdUtc: made.createdUtc }, /^no field to change$/],
      [{ url: null }, /url/],
      [{ enabled: null }, /enabled/],
      [{ managedBy: 'zapier' }, /managedBy cannot be changed here/],
      [{ secret: 'mine' }, /unknown field: secret/],
    ] as const) {
      const reply = await patch(wrong);
      expect([reply.status, reply.body.error]).toEqual([400, expect.stringMatching(error)]);
    }
  });

  test('without a change of value leaves updatedUtc as it was', async () => {
    const company = newCompany();
    const { id, ...made } = await make(company, { name: 'Billing' });
    const { url, eventTypes, name, enabled } = made;
    const patch = (body: unknown) => ask('updateSubscription', company, { params: [id], body });
    for (const same of [{ url: ` ${url}` }, { eventTypes }, { name, description: null }, { enabled }])
      expect((await patch(same)).body.updatedUtc).toBe(made.updatedUtc);
    const { body } = await patch({ name, enabled: !enabled });
    expect(Date.parse(body.updatedUtc)).toBeGreaterThan(Date.parse(made.updatedUtc));
    expect((await patch({ enabled: !enabled })).body.updatedUtc).toBe(body.updatedUtc);
  });

  test('that is based on an old value of the field is refused, with the stored value', async () => {
    const company = newCompany();
    const { id } = await make(company, { name: 'Billing' });
    const save = (body: object) =>
      ask('updatePortalSubscription', company, { params: [id], body, role: 'developer' });
    const basedOn = { name: 'Billing', description: null, eventTypes: wanted.eventTypes.toReversed() };
    const [one, two] = await Promise.all(
      ['Mine', 'Yours'].map((name) => save({ name, basedOn: { name: basedOn.name } })),
    );
    const [saved, refused] = one!.status === 200 ? [one!, two!] : [two!, one!];
    expect([saved.status, refused.status, refused.body]).toEqual([
      200,
      409,
      expect.objectContaining({
        error: 'the subscription was changed meanwhile',
        changed: { name: saved.body.name },
      }),
    ]);
    // Other fields, another order of the types, and a field that has the new value already.
    expect((await save({ description: 'For the books.', basedOn })).status).toBe(200);
    expect((await save({ eventTypes: ['lead.created'], basedOn })).status).toBe(200);
    expect((await save({ description: 'For the books.', basedOn })).status).toBe(200);
    const { body } = await ask('getSubscription', company, { params: [id] });
    expect(body).toMatchObject({ name: saved.body.name, description: 'For the books.' });
  });

  test('that is based on old conditions, an old pace or old headers is refused, with what is stored', async () => {
    const company = newCompany();
    const conditions = [{ field: 'status', equals: 'Lead' }];
    const pace = { limit: 5, per: 'second' };
    const first = { eventTypes: ['client.created'], conditions, pace, headers: { 'X-Token': 'a' } };
    const { id } = await make(company, first);
    const save = (body: object) =>
      ask('updatePortalSubscription', company, { params: [id], body, role: 'developer' });
    const theirs = { conditions: [{ field: 'email', exists: true }], pace: { limit: 7, per: 'minute' } };
    const known = { conditions, pace, headerNames: ['X-Token'] };
    const all = { ...theirs, headers: { 'X-Other': 'b' }, basedOn: known };
    expect((await save(all)).status).toBe(200);
    const mine = { conditions: null, pace: null, headers: { 'X-Mine': 'c' } };
    const { status, body } = await save({ ...mine, basedOn: known });
    const stored = { ...theirs, headerNames: ['X-Token', 'X-Other'] };
    expect([status, body.changed]).toEqual([409, stored]);
    expect((await ask('getSubscription', company, { params: [id] })).body).toMatchObject(stored);
    expect((await save({ ...mine, basedOn: stored })).status).toBe(200);
  });

  test.each([
    ['a text', 'garbage'],
    ['a list', []],
    ['null', null],
    ['a field that a form does not edit', { managedBy: null }],
    ['an id', { id: 1 }],
    ['a URL of another type', { url: 5 }],
    ['too many event types', { eventTypes: Array.from({ length: 101 }, () => 'client.created') }],
  ])('that is based on %s is refused', async (_, basedOn) => {
    const company = newCompany();
    const { id } = await make(company, { name: 'Billing' });
    const body = { name: 'Mine', basedOn };
    const answer = await ask('updatePortalSubscription', company, { params: [id], body, role: 'developer' });
    expect(answer.status).toBe(400);
    expect((await ask('getSubscription', company, { params: [id] })).body.name).toBe('Billing');
  });

  test('that is based on values that were never there changes nothing and tells nothing else', async () => {
    const company = newCompany();
    const { id } = await make(company, { name: 'Billing' });
    const save = (of: number, body: object) =>
      ask('updatePortalSubscription', of, { params: [id], body, role: 'developer' });
    const huge = 'x'.repeat(100_000);
    const { status, body } = await save(company, { name: 'Mine', basedOn: { name: huge, url: huge } });
    expect([status, body.changed]).toEqual([409, { name: 'Billing' }]);
    // Nor does it tell another company that the subscription exists.
    expect((await save(newCompany(), { name: 'Mine', basedOn: { name: 'x' } })).status).toBe(404);
  });

  test('twice concurrently applies both changes', async () => {
    const company = newCompany();
    for (let round = 0; round < 10; round++) {
      const { id } = await make(company);
      const [one, two] = await Promise.all(
        [{ name: 'one' }, { description: 'two' }].map((body) =>
          ask('updateSubscription', company, { params: [id], body }),
        ),
      );
      expect([one!.status, two!.status]).toEqual([200, 200]);
      const { body } = await ask('getSubscription', company, { params: [id] });
      expect(body).toMatchObject({ name: 'one', description: 'two' });
    }
  });

  test('while it is being deleted answers 200 or 404, and it is gone', async () => {
    const company = newCompany();
    for (let round = 0; round < 10; round++) {
      const { id } = await make(company);
      const [changed, deleted, again] = await Promise.all([
        ask('updateSubscription', company, { params: [id], body: { enabled: false } }),
        ask('deleteSubscription', company, { params: [id] }),
        ask('deleteSubscription', company, { params: [id] }),
      ]);
      expect([200, 404]).toContain(changed.status);
      expect([deleted.status, again.status].sort()).toEqual([204, 404]);
    }
    expect((await ask('listSubscriptions', company)).body.count).toBe(0);
  });
});

describe('Disabling a subscription', () => {
  test('twice keeps its reason; enabling resets the failures and keeps held deliveries', async () => {
    const company = newCompany();
    const { id } = await make(company);
    await expect.poll(() => queueOf(company, id)).toBeDefined();
    await makeDelivery(db, { company_id: company, subscription_id: id, state: 'held', due_utc: null }, 3);
    await db
      .updateTable('subscriptions')
      .set({ enabled: 0, disabled_reason: '20 failures', disabled_utc: new Date() })
      .where('company_id', '=', company)
      .execute();
    await db
      .updateTable('delivery_queues')
      .set({ consecutive_failures: 20 })
      .where('company_id', '=', company)
      .execute();
    const patch = async (enabled: boolean) =>
      (await ask('updateSubscription', company, { params: [id], body: { enabled } })).body;
    expect(await patch(false)).toMatchObject({ disabledReason: '20 failures', consecutiveFailures: 20 });
    expect(await patch(true)).toMatchObject({
      enabled: true,
      disabledReason: null,
      consecutiveFailures: 0,
    });
    expect(await statesOf(booted, company, id)).toEqual({ held: 3 });
  });
});

describe('A subscription that a tool manages', () => {
  test('can be deleted through the API, but not edited', async () => {
    const company = newCompany();
    const { id } = await make(company, { managedBy: 'zapier' });
    for (const [operation, body] of [
      ['updateSubscription', { enabled: false }],
      ['rotateSubscriptionSecret', {}],
    ] as const) {
      const reply = await ask(operation, company, { params: [id], body });
      expect([reply.status, reply.body]).toEqual([
        403,
        {
          error: 'the subscription is managed by zapier and cannot be edited here',
          managed_by: 'zapier',
          is_tool_managed: true,
        },
      ]);
    }
    expect((await ask('deleteSubscription', company, { params: [id] })).status).toBe(204);
  });

  test('can only be disabled and enabled through the portal', async () => {
    const company = newCompany();
    const { id } = await make(company, { managedBy: 'zapier' });
    const through = (operation: OperationId, body?: object) =>
      ask(operation, company, { params: [id], role: 'admin', ...(body && { body }) });
    expect((await through('updatePortalSubscription', { enabled: false })).body).toMatchObject({
      enabled: false,
      disabledReason: 'disabled through the portal',
    });
    expect((await through('updatePortalSubscription', { enabled: true })).body).toMatchObject({
      enabled: true,
      disabledReason: null,
    });
    for (const refused of [
      await through('updatePortalSubscription', { name: 'x' }),
      await through('updatePortalSubscription', { enabled: false, name: 'x' }),
      await through('rotatePortalSubscriptionSecret', {}),
    ])
      expect(refused).toMatchObject({ status: 403, body: { managed_by: 'zapier' } });
  });
});

describe('A test delivery', () => {
  const send = (company: number, id: number, body: object = {}, budgetMs = 60_000) =>
    ask('testSubscription', company, { params: [id], body, budgetMs });

  test('is a 503 without a dispatcher, and a 504 when none answers', async () => {
    const company = newCompany();
    const { id } = await make(company);
    const absent = await send(company, id);
    expect([absent.status, absent.body.reason]).toEqual([503, 'service_unavailable']);
    const silent = bus.nc.subscribe(testDeliverySubject, { callback: () => {} });
    onTestFinished(() => silent.unsubscribe());
    const late = await send(company, id, {}, 1_500);
    expect([late.status, late.body.reason]).toEqual([504, 'timeout']);
  });

  test('that cannot be sent is a 500, or a 404 if its subscription was just deleted', async () => {
    const company = newCompany();
    const { id } = await make(company);
    let onAsked = async (): Promise<unknown> => undefined;
    const dispatcher = bus.nc.subscribe(testDeliverySubject, {
      callback: (_, message) => {
        const answer = JSON.stringify({ error: 'the secret cannot be opened' });
        void onAsked().then(() => message.respond(answer));
      },
    });
    onTestFinished(() => dispatcher.unsubscribe());
    const failed = await send(company, id);
    expect([failed.status, failed.body.error]).toEqual([500, 'internal error']);
    onAsked = () => ask('deleteSubscription', company, { params: [id] });
    expect((await send(company, id)).status).toBe(404);
  });

  test('without a place among those of its company is a 429, and without any a 503', async () => {
    const company = newCompany();
    const { id } = await make(company);
    let underWay = 16;
    const dispatcher = bus.nc.subscribe(testDeliverySubject, {
      callback: (_, message) => void message.respond(JSON.stringify({ error: 'full', underWay })),
    });
    onTestFinished(() => dispatcher.unsubscribe());
    const full = await send(company, id);
    expect(full.status).toBe(429);
    expect(full.body).toMatchObject({
      error: expect.stringContaining('too many test deliveries'),
      retryAfter: 1,
      limit: 16,
      window: 'company',
    });
    underWay = 0;
    expect((await send(company, id)).status).toBe(503);
  });
});

const statesOf = async ({ db }: BootedWebhooks, company: number, id: number) =>
  Object.fromEntries(
    (
      await db
        .selectFrom('deliveries')
        .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
        .where('company_id', '=', company)
        .where('subscription_id', '=', id)
        .groupBy('state')
        .execute()
    ).map(({ state, count }) => [state, count]),
  );
