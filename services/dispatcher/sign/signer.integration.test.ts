import { randomBytes } from 'node:crypto';
import type { HeaderPair } from '@causeway/proto';
import {
  type DeliveredEvent,
  deliveryHeaders,
  openedSecret,
  signatureHeader,
  standardSignatureHeader,
} from '@causeway/proto/signatures';
import { noMetrics, openSecret, parseKeyRing, sealSecret } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSigner, type Signer, type SignRequest } from './signer.ts';

const ring = parseKeyRing(`k:${randomBytes(32).toString('base64')}`);
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const verifySecret = newSecret();
const stripe = new Stripe('sk_test_unused').webhooks.signature!;

let signer: Signer;
beforeAll(() => {
  signer = createSigner({ keyRing: ring, now: () => new Date(), metrics: noMetrics });
  cleanUp(() => signer.close());
});

const request = (more: Partial<SignRequest & DeliveredEvent> = {}): SignRequest & DeliveredEvent => ({
  company_id: 7,
  event_id: 4711,
  event_type: 'client.created',
  attempt: 1,
  subscription_id: 42,
  sequence: 7301,
  origin: 'key:12',
  replay_id: 0,
  body: Buffer.from('{"id":4711,"payload":{"first_name":"Käthe 李 😀"}}'),
  target: {
    secret: sealSecret(ring, 7, verifySecret),
    previous_secret: null,
    previous_secret_until: null,
  },
  ...more,
});
const signedHeaders = async (one: SignRequest & DeliveredEvent): Promise<HeaderPair[]> => {
  const { timestamp, signatures } = await signer.sign(one);
  return deliveryHeaders(one, timestamp, signatures);
};
const lowerCased = (headers: readonly HeaderPair[]): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
const stripeHeader = (headers: Record<string, string>, which = 0): string =>
  `t=${headers['x-webhook-timestamp']},v1=${headers['x-webhook-signature']!.split(',')[which]!.replace('sha256=', '')}`;

describe('a signed attempt', () => {
  test('has the headers of the contract, with the current second as its timestamp', async () => {
    const beforeS = Math.floor(Date.now() / 1000);
    const headers = await signedHeaders(request({ attempt: 3 }));
    const second = Number(lowerCased(headers)['x-webhook-timestamp']);
    expect(second).toBeGreaterThanOrEqual(beforeS);
    expect(second).toBeLessThanOrEqual(Date.now() / 1000);
    expect(headers).toEqual([
      ['Content-Type', 'application/json'],
      ['User-Agent', 'Causeway-Webhooks/1'],
      ['Accept', '*/*'],
      ['X-Webhook-Timestamp', `${second}`],
      ['X-Webhook-Signature', expect.stringMatching(/^sha256=[0-9a-f]{64}$/)],
      ['X-Webhook-Id', '4711'],
      ['X-Webhook-Event', 'client.created'],
      ['X-Webhook-Attempt', '3'],
      ['X-Webhook-Subscription', '42'],
      ['X-Webhook-Sequence', '7301'],
      ['X-Webhook-Origin', 'key:12'],
      ['webhook-id', '4711'],
      ['webhook-timestamp', `${second}`],
      ['webhook-signature', expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/)],
    ]);
    const replayed = lowerCased(await signedHeaders(request({ replay_id: 12 })));
    expect(replayed['x-webhook-replay']).toBe('12');
    // An event of a release that did not record who caused it.
    expect(lowerCased(await signedHeaders(request({ origin: null })))).not.toHaveProperty('x-webhook-origin');
  });

  test('carries both signatures during the overlap of a rotation, the new one first, and one afterwards', async () => {
    const old = newSecret();
    const target = (untilMs: number): SignRequest['target'] => ({
      secret: sealSecret(ring, 7, verifySecret),
      previous_secret: sealSecret(ring, 7, old),
      previous_secret_until: new Date(untilMs),
    });
    const { body } = request();
    const headers = lowerCased(await signedHeaders(request({ target: target(Date.now() + 60_000) })));
    for (const [which, secret] of [verifySecret, old].entries()) {
      expect(stripe.verifyHeader(body.toString(), stripeHeader(headers, which), secret, 300)).toBe(true);
      expect(new Webhook(secret).verify(body.toString(), headers)).toBeTruthy();
    }
    expect(headers['x-webhook-signature']!.split(',')).toHaveLength(2);
    expect(headers['webhook-signature']!.split(' ')).toHaveLength(2);
    const over = lowerCased(await signedHeaders(request({ target: target(Date.now() - 1) })));
    expect(over['x-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
    expect(() => new Webhook(old).verify(body.toString(), over)).toThrow('No matching signature');
  });
});

test('each of a thousand concurrent attempts gets the signature of its own body and secret', async () => {
  const all = Array.from({ length: 1000 }, (_, at) => {
    const company_id = 1 + (at % 5);
    const secret = newSecret();
    const body = Buffer.from(JSON.stringify({ at, filler: 'x'.repeat((at * 37) % 5000) }));
    const target = { ...request().target, secret: sealSecret(ring, company_id, secret) };
    return { secret, request: request({ company_id, event_id: at + 1, body, target }) };
  });
  const signed = await Promise.all(all.map((one) => signedHeaders(one.request)));
  all.forEach((one, at) => {
    const headers = lowerCased(signed[at]!);
    expect(headers['x-webhook-id']).toBe(`${at + 1}`);
    expect(new Webhook(one.secret).verify(one.request.body.toString(), headers)).toMatchObject({ at });
  });
});

describe('the published vectors', () => {
  test.each([
    [
      'test-secret',
      1234567890,
      '{"hello":"world"}',
      '7054f74dae9f73e82b56ca73e8f81450097c698eeda0b00bb8728e89796baf2d',
    ],
    [
      'a-subscription-secret',
      1800000000,
      '{"event":"user.created"}',
      'd17d66b66fca89390c5b967c45e8928fc732db07a0aabe8167b1e98213081ffe',
    ],
    ['secret', 1636936200, 'hello !', '1b3d69df55f1e52f05224ba94a5162abeb17ef52cd7f4948c390f810d6a87e98'],
  ])('of %s at %i', (secret, timestamp, body, hex) => {
    expect(signatureHeader([openedSecret(secret)], timestamp, Buffer.from(body))).toBe(`sha256=${hex}`);
  });

  test('of Standard Webhooks', () => {
    const secret = openedSecret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    // Their ID is a string, ours a number: the signed text is built the same way.
    const signed = standardSignatureHeader(
      [secret],
      'msg_p5jXN8AQM9LWM0D4loKWxJek' as unknown as number,
      1614265330,
      Buffer.from('{"test": 2432232314}'),
    );
    expect(signed).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });
});

test('a sealed secret decrypts only for its own company', () => {
  const sealed = sealSecret(ring, 7, verifySecret);
  expect(openSecret(ring, 7, sealed)).toBe(verifySecret);
  expect(() => openSecret(ring, 8, sealed)).toThrow();
});
