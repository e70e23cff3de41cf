import { execFileSync } from 'node:child_process';
import type { Received } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld } from './support/world.ts';

// Checks "Deliveries" of the contract from the side of a receiver. The test cluster waits 0.2 to 1 s between attempts
// and probes after 0.01 s, then up to 0.6 s; everything else is as in production.

const world = await openWorld();
const receiver = await startPublishedReceiver(world);

/** A company with a subscription to its own path, which behaves as given. */
const subscribed = async (behaviour = '', more: object = {}) => {
  const { company, keyId, ask } = await openCaller(world);
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
});
