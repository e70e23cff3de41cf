import {
  challengeType,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
  unverifiedReason,
} from '@causeway/proto';
import { cleanUp, rowOf, until } from '@causeway/runtime/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeDelivery } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';
import { editorOf } from './editor.ts';
import { verifyEndpoint } from './verification.ts';

const booted = await bootPortal({ services: 2 });
const { ask, bus, db, portal } = booted;

let lastCompany = 2000;
const wanted = { url: 'https://hooks.example.com/a', eventTypes: ['client.created'] };
const elsewhere = 'https://hooks.example.com/b';

/** A dispatcher with all its receivers: records what was sent, and answers each challenge as told. */
const sent: TestDelivery[] = [];
let respond: (challenge: string, test: TestDelivery) => Promise<Answered> | Answered;
interface Answered {
  readonly status?: number;
  readonly body: string;
}
const echo = (challenge: string): Answered => ({ body: JSON.stringify({ challenge }) });
const refuse = (): Answered => ({ status: 404, body: 'no such page' });

const attemptOf = (url: string, { status = 200, body }: Answered): TestDeliveryAnswer => ({
  attempt: {
    started_utc: new Date().toISOString(),
    elapsed_ms: 1,
    dns_ms: null,
    connect_ms: null,
    tls_ms: null,
    first_byte_ms: 1,
    url,
    address: '203.0.113.9',
    status_code: status,
    error_class: status < 300 ? null : 'status',
    error: status < 300 ? null : `The receiver answered ${status}.`,
    request_headers: [],
    response_headers: [],
    response_body: Buffer.from(body).toString('base64'),
    response_truncated: 0,
  },
});

const dispatcher = bus.nc.subscribe(testDeliverySubject, {
  callback: (_, message) => {
    void (async () => {
      const test = message.json<TestDelivery>();
      sent.push(test);
      const { url } = await stored(test.companyId, test.subscriptionId);
      const { challenge } = JSON.parse(test.body).payload;
      message.respond(JSON.stringify(attemptOf(url, await respond(challenge, test))));
    })();
  },
});
cleanUp(() => dispatcher.unsubscribe());
beforeEach(() => {
  sent.length = 0;
  respond = refuse;
});

const stored = (company: number, id: number) => rowOf(db, 'subscriptions', company, { subscription_id: id });

const require = async (company: number, verifyEndpoints = true) => {
  const { status } = await portal('updateSubscriptionSettings', company, {
    role: 'admin',
    body: { verifyEndpoints },
  });
  expect(status).toBe(200);
};
const newCompany = async (): Promise<number> => {
  const company = ++lastCompany;
  await require(company);
  return company;
};
const make = async (company: number, more: object = {}) => {
  const { status, body } = await ask('createSubscription', company, { body: { ...wanted, ...more } });
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
};
const patch = (company: number, id: number, body: object) =>
  ask('updateSubscription', company, { params: [id], body });
const get = async (company: number, id: number) =>
  (await ask('getSubscription', company, { params: [id] })).body;
const shown = async (company: number, id: number) =>
  (await portal('getPortalSubscription', company, { params: [id] })).body;
const answered = (company: number, id: number) =>
  until('the challenge is answered', async () => {
    const { verification, challenged_utc } = await stored(company, id);
    return verification === null || challenged_utc !== null;
  });
const throughTest = editorOf({ audience: 'key', keyId: 1, address: null, requestId: 'test' });
const actionsOf = async (company: number) =>
  (
    await db
      .selectFrom('audit_log')
      .select('action')
      .where('company_id', '=', company)
      .orderBy('audit_id')
      .execute()
  ).map(({ action }) => action);

describe('A company that requires endpoint verification', () => {
  test('turns it on and off as an admin, and the audit log says so; others see it', async () => {
    const company = ++lastCompany;
    expect((await portal('getSubscriptionSettings', company, { role: 'viewer' })).body).toEqual({
      verifyEndpoints: false,
    });
    await require(company);
    await require(company);
    expect((await portal('getSubscriptionSettings', company)).body).toEqual({ verifyEndpoints: true });
    expect((await portal('getSubscriptionSettings', company + 1)).body).toEqual({ verifyEndpoints: false });
    await require(company, false);
    expect(await actionsOf(company)).toEqual([
      'endpoint_verification.enabled',
      'endpoint_verification.disabled',
    ]);
  });

  test('does not change existing subscriptions', async () => {
    const company = ++lastCompany;
    const { id } = await make(company);
    await require(company);
    expect((await patch(company, id, { enabled: false })).body.enabled).toBe(false);
    expect((await patch(company, id, { enabled: true, name: 'x' })).body.enabled).toBe(true);
    expect(sent).toEqual([]);
  });

  test('gets a new subscription disabled, and enabled when the receiver has echoed the challenge', async () => {
    const company = await newCompany();
    respond = echo;
    const { signingSecret, ...record } = await make(company);
    expect(record).toMatchObject({ enabled: false, disabledReason: unverifiedReason });
    await answered(company, record.id);
    expect(await get(company, record.id)).toMatchObject({ enabled: true, disabledReason: null });
    expect(await shown(company, record.id)).toMatchObject({ verification: null, disabledUtc: null });
    expect(await actionsOf(company)).toEqual([
      'endpoint_verification.enabled',
      'subscription.created',
      'subscription.verified',
    ]);
    const [{ body, eventType, eventId }] = sent as [TestDelivery];
    expect(eventType).toBe(challengeType);
    expect(JSON.parse(body)).toEqual({
      id: eventId,
      type: 'endpoint.verification',
      createdUtc: expect.any(String),
      companyId: company,
      payload: { challenge: expect.stringMatching(/^[\w-]{43}$/) },
    });
  });

  test('does not make a create wait for the receiver', async () => {
    const company = await newCompany();
    let answer: ((answered: Answered) => void) | undefined;
    respond = () => new Promise<Answered>((resolve) => (answer = resolve));
    const { id } = await make(company);
    await expect.poll(async () => answer !== undefined, { message: 'the challenge is there' }).toBe(true);
    expect(await get(company, id)).toMatchObject({ enabled: false, disabledReason: unverifiedReason });
    answer!(echo(JSON.parse(sent[0]!.body).payload.challenge));
    await answered(company, id);
    expect((await get(company, id)).enabled).toBe(true);
  });

  test.each<[string, (challenge: string, test: TestDelivery) => Answered, string]>([
    ['refuses', refuse, 'The receiver answered 404.'],
    ['answers something else', () => ({ body: 'ok' }), 'The receiver answered 200 without the challenge.'],
    [
      'echoes it with an error',
      (challenge) => ({ ...echo(challenge), status: 500 }),
      'The receiver answered 500.',
    ],
    [
      'sends back every request unchanged',
      (_, { body }) => ({ body }),
      'The receiver answered 200 without the challenge.',
    ],
    [
      'answers another challenge',
      () => echo('x'.repeat(43)),
      'The receiver answered 200 without the challenge.',
    ],
  ])('keeps a subscription disabled whose receiver %s', async (_, answer, failure) => {
    const company = await newCompany();
    respond = answer;
    const { id } = await make(company);
    await answered(company, id);
    expect(await get(company, id)).toMatchObject({ enabled: false, disabledReason: unverifiedReason });
    expect((await shown(company, id)).verification).toEqual({
      state: 'pending',
      challengedUtc: expect.any(String),
      failure,
    });
    const refused = await patch(company, id, { enabled: true });
    expect([refused.status, refused.body]).toEqual([
      409,
      { error: `endpoint verification failed: ${failure}` },
    ]);
    expect((await get(company, id)).enabled).toBe(false);
    expect(new Set(sent.map(({ body }) => JSON.parse(body).payload.challenge)).size).toBe(2);
  });

  test('sends another challenge on enabling, and applies the other changes once it is echoed', async () => {
    const company = await newCompany();
    const { id, ...record } = await make(company);
    await answered(company, id);
    respond = echo;
    const { signingSecret, ...read } = record;
    const whole = { ...read, id, enabled: true, name: 'Billing' };
    const enabled = await patch(company, id, whole);
    expect([enabled.status, enabled.body]).toMatchObject([200, { enabled: true, name: 'Billing' }]);
    expect((await patch(company, id, { enabled: false })).body.enabled).toBe(false);
    expect((await patch(company, id, { enabled: true })).body.enabled).toBe(true);
    expect(sent).toHaveLength(2);
  });

  test('verifies a subscription managed by a tool in the portal', async () => {
    const company = await newCompany();
    const { id } = await make(company, { managedBy: 'zapier' });
    await answered(company, id);
    const asked = { params: [id], body: { enabled: true } };
    const refused = await portal('updatePortalSubscription', company, asked);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'endpoint verification failed: The receiver answered 404.',
    ]);
    respond = echo;
    const enabled = await portal('updatePortalSubscription', company, asked);
    expect([enabled.status, enabled.body.enabled]).toEqual([200, true]);
  });

  test('sends none for a subscription created as disabled, until somebody enables it', async () => {
    const company = await newCompany();
    respond = echo;
    const { id, disabledReason } = await make(company, { enabled: false });
    expect([disabledReason, sent]).toEqual(['disabled through the API', []]);
    expect((await shown(company, id)).verification).toMatchObject({ state: 'required' });
    expect((await patch(company, id, { enabled: true })).body.enabled).toBe(true);
    expect(sent).toHaveLength(1);
  });

  test('verifies a subscription with a new URL again, and holds its waiting deliveries', async () => {
    const company = ++lastCompany;
    const { id } = await make(company);
    await require(company);
    await makeDelivery(db, { company_id: company, subscription_id: id }, 2);
    respond = echo;
    const moved = await patch(company, id, { url: elsewhere });
    expect(moved.body).toMatchObject({
      url: elsewhere,
      enabled: false,
      disabledReason: unverifiedReason,
      heldDeliveries: 2,
    });
    await answered(company, id);
    expect(await get(company, id)).toMatchObject({ enabled: true, heldDeliveries: 2 });
    expect((await patch(company, id, { url: elsewhere })).body.enabled).toBe(true);
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['off', { enabled: false }, { url: elsewhere }, 'required', 0],
    ['off, enabled with the change', { enabled: false }, { url: elsewhere, enabled: true }, 'pending', 1],
    ['on, disabled with the change', {}, { url: elsewhere, enabled: false }, 'required', 0],
  ])('verifies a subscription that was %s again too', async (_, before, change, verification, challenges) => {
    const company = ++lastCompany;
    const { id } = await make(company, before);
    await require(company);
    const { status, body } = await patch(company, id, change);
    expect([status, body.enabled]).toEqual([200, false]);
    if (challenges > 0) await answered(company, id);
    expect([(await stored(company, id)).verification, sent.length]).toEqual([verification, challenges]);
    if (verification === 'required') expect(body.disabledReason).toBe('disabled through the API');
  });

  test.each([
    ['moved to another URL', { url: elsewhere }, 'pending'],
    ['disabled', { enabled: false }, 'required'],
    ['deleted', undefined, undefined],
  ])(
    'does not enable a subscription that was %s while its challenge was under way',
    async (_, change, verification) => {
      const company = await newCompany();
      const { id } = await make(company);
      await answered(company, id);
      respond = async (challenge) => {
        // The new URL gets a challenge of its own.
        respond = refuse;
        if (change) await patch(company, id, change);
        else await ask('deleteSubscription', company, { params: [id] });
        return echo(challenge);
      };
      const pending = { company_id: company, subscription_id: id, verification: 'pending' } as const;
      const verified = verifyEndpoint(booted.context, throughTest, pending, performance.now() + 60_000);
      expect(await verified).toBeNull();
      const { subscriptions } = (await ask('listSubscriptions', company)).body;
      expect(subscriptions).toMatchObject(change ? [{ id, enabled: false }] : []);
      if (change) expect((await stored(company, id)).verification).toBe(verification);
      expect(await actionsOf(company)).not.toContain('subscription.verified');
    },
  );

  test('needs no challenges after turning it off: unverified subscriptions stay disabled until somebody enables them', async () => {
    const company = await newCompany();
    const pending = await make(company);
    const required = await make(company, { enabled: false });
    await answered(company, pending.id);
    await require(company, false);
    expect(await get(company, pending.id)).toMatchObject({
      enabled: false,
      disabledReason: 'endpoint verification was turned off before the receiver was verified',
    });
    expect((await get(company, required.id)).disabledReason).toBe('disabled through the API');
    sent.length = 0;
    for (const { id } of [pending, required])
      expect((await patch(company, id, { enabled: true })).body.enabled).toBe(true);
    expect((await make(company)).enabled).toBe(true);
    expect(sent).toEqual([]);
  });

  test('can resend a challenge that could not be sent', async () => {
    const company = await newCompany();
    const { id } = await make(company);
    await answered(company, id);
    await db
      .updateTable('subscriptions')
      .set({ challenged_utc: null, challenge_failure: null })
      .where('company_id', '=', company)
      .execute();
    respond = echo;
    expect((await patch(company, id, { enabled: true })).body.enabled).toBe(true);
  });
});
