import { execFileSync } from 'node:child_process';
import type { Received } from '@causeway/runtime/testing';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { until } from './support/clock.ts';
import { startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld, type Reply } from './support/world.ts';

// Checks "Deliveries" of the contract from the side of a receiver. The test cluster waits 0.2 to 1 s between attempts
// and probes after 0.01 s, then up to 0.6 s; everything else is as in production.

const world = await openWorld();
const receiver = await startPublishedReceiver(world);
const plenty = { read: 1_000_000, write: 1_000_000, admin: 1_000_000 };

/** A company with a subscription to its own path, which behaves as given. */
const subscribed = async (behaviour = '', more: object = {}) => {
  const company = await world.company(plenty);
  const { id: keyId, value: key } = await company.key();
  const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
    world.ask(path, { method, key, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const path = `/${company.id}`;
  const url = `${receiver.url}${path}${behaviour && `?${behaviour}`}`;
  const { status, json } = await ask('POST', '/webhooks/subscriptions', {
    url,
    eventTypes: ['client.created'],
    ...more,
  });
  expect(status, JSON.stringify(json)).toBe(201);
  return {
    company,
    keyId,
    ask,
    subscription: json as Json,
    received: (): readonly Received[] => receiver.received.filter((one) => one.path === path),
    read: async (): Promise<Json> => (await ask('GET', `/webhooks/subscriptions/${json.id}`)).json,
    createClient: async (): Promise<Json> => {
      const made = await ask('POST', '/integrations/clients', {
        first_name: 'Käthe',
        last_name: 'Kollwitz',
        email: 'kaethe@example.com',
        phone: '+49 30 123456',
      });
      expect(made.status).toBe(201);
      return made.json;
    },
  };
};

const arrived = async (one: { received(): readonly Received[] }, count = 1): Promise<readonly Received[]> => {
  await until(`${count} deliveries`, () => one.received().length >= count);
  return one.received();
};

/** Long enough that something unexpected would have arrived. */
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500));

describe('A delivery', () => {
  test('of a created client is the event of the log, byte for byte, with the documented headers', async () => {
    const one = await subscribed();
    const client = await one.createClient();
    const [delivery] = (await arrived(one)) as [Received];
    const { events } = (await one.ask('GET', '/events')).json;
    const envelope = JSON.parse(delivery.body.toString());
    expect(events).toEqual([envelope]);
    expect(Object.keys(envelope)).toEqual(['id', 'type', 'createdUtc', 'companyId', 'payload']);
    expect(envelope).toMatchObject({
      type: 'client.created',
      companyId: one.company.id,
      payload: {
        client_id: client.client_id,
        first_name: 'Käthe',
        last_name: 'Kollwitz',
        email: 'kaethe@example.com',
        phone: '+49 30 123456',
        status: 'Client - Active',
      },
    });
    expect(delivery.headers['content-type']).toBe('application/json');
    expect(delivery.headers['user-agent']).toMatch(/^Causeway/);
    expect(delivery.headers['x-webhook-id']).toBe(String(envelope.id));
    expect(delivery.headers['x-webhook-event']).toBe('client.created');
    expect(delivery.headers['x-webhook-attempt']).toBe('1');
    expect(delivery.headers['x-webhook-origin']).toBe(`key:${one.keyId}`);
    expect(delivery.headers['x-webhook-sequence']).toBe('1');
    expect(delivery.headers['x-webhook-subscription']).toBe(String(one.subscription.id));
    expect(delivery.headers['x-webhook-timestamp']).toMatch(/^\d{10}$/);
    expect(delivery.headers['x-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
    const raw = await one.ask('GET', `/events/${envelope.id}`);
    expect(delivery.body.toString()).toBe(raw.text);
  });

  test('verifies with standardwebhooks, stripe and openssl', async () => {
    const one = await subscribed();
    await one.createClient();
    const [delivery] = (await arrived(one)) as [Received];
    const { signingSecret } = one.subscription;
    const timestamp = delivery.headers['x-webhook-timestamp'] ?? '';
    const hex = (delivery.headers['x-webhook-signature'] ?? '').slice('sha256='.length);

    const { headers } = delivery;
    expect(new Webhook(signingSecret).verify(delivery.body, headers)).toEqual(
      JSON.parse(String(delivery.body)),
    );
    const stripe = new Stripe('sk_test_nothing').webhooks.signature;
    expect(stripe?.verifyHeader(delivery.body, `t=${timestamp},v1=${hex}`, signingSecret, 300)).toBe(true);
    const digest = execFileSync('openssl', ['dgst', '-sha256', '-hmac', signingSecret, '-hex'], {
      input: Buffer.concat([Buffer.from(`${timestamp}.`), delivery.body]),
      encoding: 'utf8',
    });
    expect(digest.trim().split(' ').at(-1)).toBe(hex);

    const tampered = Buffer.from(String(delivery.body).replace('Käthe', 'Kathe'));
    expect(() => new Webhook(signingSecret).verify(tampered, headers)).toThrow();
  });

  test('goes to the subscriptions of its type, and to no other company', async () => {
    const one = await subscribed();
    const [leads, other] = [await subscribed('', { eventTypes: ['lead.created'] }), await subscribed()];
    await one.createClient();
    await leads.createClient();
    await arrived(one);
    await aWhile();
    expect(one.received()).toHaveLength(1);
    expect(leads.received()).toHaveLength(0);
    expect(other.received()).toHaveLength(0);
  });

  test('a disabled or deleted subscription gets none', async () => {
    const [disabled, deleted] = [await subscribed('', { enabled: false }), await subscribed()];
    expect((await deleted.ask('DELETE', `/webhooks/subscriptions/${deleted.subscription.id}`)).status).toBe(
      204,
    );
    await disabled.createClient();
    await deleted.createClient();
    await aWhile();
    expect([...disabled.received(), ...deleted.received()]).toEqual([]);
  });

  test('a test event is delivered like any other', async () => {
    const one = await subscribed();
    const made = await one.ask('POST', '/events/test', { type: 'client.created' });
    expect(made.status).toBe(202);
    expect(made.json.subscriptionCount).toBe(1);
    const [delivery] = (await arrived(one)) as [Received];
    const { subscriptionCount: _, ...envelope } = made.json;
    expect(JSON.parse(String(delivery.body))).toEqual(envelope);
  });
});

describe('A replaced secret', () => {
  test('with an overlap signs together with the new one', async () => {
    const one = await subscribed();
    const rotated = await one.ask('POST', `/webhooks/subscriptions/${one.subscription.id}/rotate-secret`, {
      overlapHours: 1,
    });
    await one.createClient();
    const [delivery] = (await arrived(one)) as [Received];
    expect(delivery.headers['x-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64},sha256=[0-9a-f]{64}$/);
    const { headers } = delivery;
    for (const secret of [rotated.json.signingSecret, one.subscription.signingSecret])
      expect(() => new Webhook(secret).verify(delivery.body, headers)).not.toThrow();
  });

  test('without an overlap ends at once', async () => {
    const one = await subscribed();
    const rotated = await one.ask('POST', `/webhooks/subscriptions/${one.subscription.id}/rotate-secret`, {});
    await one.createClient();
    const [delivery] = (await arrived(one)) as [Received];
    expect(delivery.headers['x-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
    const { headers } = delivery;
    expect(() => new Webhook(rotated.json.signingSecret).verify(delivery.body, headers)).not.toThrow();
    expect(() => new Webhook(one.subscription.signingSecret).verify(delivery.body, headers)).toThrow();
  });
});

describe('A delivery that fails', () => {
  test('is retried with the same id and body and a new timestamp, until it succeeds', async () => {
    const one = await subscribed('fail=3');
    await one.createClient();
    await arrived(one, 4);
    await aWhile();
    const all = one.received();
    expect(all.map((each) => each.attempt)).toEqual([1, 2, 3, 4]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect(new Set(all.map(({ body }) => String(body))).size).toBe(1);
    const waits = all.slice(1).map(({ atMs }, at) => atMs - (all[at]?.atMs ?? 0));
    for (const [at, least] of [180, 360, 720].entries()) expect(waits[at]).toBeGreaterThanOrEqual(least);
    expect((await one.read()).consecutiveFailures).toBe(0);
  });

  test('with a redirect is not followed', async () => {
    const target = await subscribed();
    const one = await subscribed(`redirect=${encodeURIComponent(`${receiver.url}/${target.company.id}`)}`);
    await one.createClient();
    await arrived(one, 2);
    expect(target.received()).toEqual([]);
    expect((await one.read()).consecutiveFailures).toBeGreaterThan(0);
  });

  test('waits as long as Retry-After says', async () => {
    const one = await subscribed('status=429,200&retryAfter=2');
    await one.createClient();
    const [first, second] = (await arrived(one, 2)) as [Received, Received];
    expect(second.atMs - first.atMs).toBeGreaterThanOrEqual(1_950);
  });

  test('with 410 disables its subscription at once', async () => {
    const one = await subscribed('status=410');
    await one.createClient();
    const record = await until('it is off', async () => {
      const now = await one.read();
      return now.enabled ? undefined : now;
    });
    expect(record.disabledReason).toContain('410');
    await aWhile();
    expect(one.received()).toHaveLength(1);
  });

  test('twenty times in a row disables its subscription; waiting deliveries are held, and nothing is lost', async () => {
    const one = await subscribed('status=500');
    for (let made = 0; made < 12; made++) await one.createClient();
    const record = await until('it is off', async () => {
      const now = await one.read();
      return now.enabled ? undefined : now;
    });
    expect(record).toMatchObject({ consecutiveFailures: 20, disabledReason: '20 consecutive failures' });
    const tried = one.received().length;
    expect(tried).toBeGreaterThanOrEqual(20);
    // At most twelve at once before it was failing; from then on one at a time.
    expect(tried).toBeLessThanOrEqual(12 + 15);
    const held = await until('what waits is held', async () => {
      const [row] = await world.sql<{ held: string; waiting: string }>(
        "SELECT SUM(state = 'held') AS held, SUM(state = 'waiting') AS waiting FROM deliveries WHERE company_id = ?",
        [one.company.id],
      );
      return Number(row?.waiting) === 0 ? row : undefined;
    });
    expect(Number(held.held)).toBe(12);
    await aWhile();
    expect(one.received()).toHaveLength(tried);
  });
});

test('a hanging receiver delays no other', async () => {
  const [hanging, healthy] = [await subscribed('hang'), await subscribed()];
  for (let made = 0; made < 40; made++) await hanging.createClient();
  const startedMs = Date.now();
  for (let made = 0; made < 20; made++) await healthy.createClient();
  await arrived(healthy, 20);
  // Far below the duration of a hanging attempt.
  expect(Date.now() - startedMs).toBeLessThan(8_000);
});

test('a test delivery is signed and sent like any other, and changes nothing', async () => {
  const one = await subscribed('status=503&body=20000');
  const { json } = await one.ask('POST', `/webhooks/subscriptions/${one.subscription.id}/test`, {
    statusOverride: 'Client - Active',
  });
  expect(json).toMatchObject({ success: false, statusCode: 503, responseBodyTruncated: true });
  expect(json.responseBody).toHaveLength(16 * 1024);
  const [delivery] = (await arrived(one)) as [Received];
  const envelope = JSON.parse(String(delivery.body));
  expect(envelope.metadata).toEqual({ test: true, status: 'Client - Active' });
  const { headers } = delivery;
  expect(() => new Webhook(one.subscription.signingSecret).verify(delivery.body, headers)).not.toThrow();
  expect((await one.read()).consecutiveFailures).toBe(0);
  expect((await one.ask('GET', '/events')).json.events).toEqual([]);
  await aWhile();
  expect(one.received()).toHaveLength(1);
});
