import { expect, test } from 'vitest';
import { openedSecret, signatureHeader } from '../signatures.ts';
import { verifyWebhook } from './index.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';
const other = 'whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';
const payload = { client_id: 3613, first_name: 'Zoë' };
const body = JSON.stringify({ id: 9, type: 'lead.created', createdUtc: '', companyId: 1, payload });
const nowSeconds = Math.floor(Date.now() / 1000);

/** As the dispatcher signs. */
const headersOf = (secrets: readonly string[], timestamp = nowSeconds) => ({
  'x-webhook-timestamp': String(timestamp),
  'x-webhook-signature': signatureHeader(secrets.map(openedSecret), timestamp, Buffer.from(body)),
});

test('a delivery is verified from text or bytes, whatever the form of the headers', async () => {
  const headers = headersOf([secret]);
  const event = await verifyWebhook(body, headers, secret);
  expect(event).toMatchObject({ type: 'lead.created', payload: { first_name: 'Zoë' } });
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  const bytes = new TextEncoder().encode(body);
  for (const [form, given] of [
    [bytes, new Headers(headers)],
    [Buffer.from(body), upper],
    [bytes.buffer, headers],
  ] as const)
    expect((await verifyWebhook(form, given, [secret])).id).toBe(9);
});

test('while the secret is replaced, either secret verifies', async () => {
  const both = headersOf([other, secret]);
  for (const one of [secret, other, ['', other], [secret, 'whsec_x']])
    expect((await verifyWebhook(body, both, one)).id).toBe(9);
});

test.each([
  ['a changed body', body.replace('Zoë', 'Zoe'), headersOf([secret]), secret, 'signature'],
  ['another secret', body, headersOf([other]), secret, 'signature'],
  ['no secret', body, headersOf(['']), '', 'signature'],
  ['no secrets', body, headersOf(['']), [], 'signature'],
  ['an old delivery', body, headersOf([secret], nowSeconds - 400), secret, 'timestamp'],
  ['a delivery of the future', body, headersOf([secret], nowSeconds + 400), secret, 'timestamp'],
  ['no signature', body, { 'x-webhook-timestamp': `${nowSeconds}` }, secret, 'missing_header'],
  ['an empty signature', body, { ...headersOf([secret]), 'x-webhook-signature': '' }, secret, 'signature'],
  [
    'a short signature',
    body,
    { ...headersOf([secret]), 'x-webhook-signature': 'sha256=00' },
    secret,
    'signature',
  ],
  [
    'a timestamp that is none',
    body,
    { ...headersOf([secret]), 'x-webhook-timestamp': 'NaN' },
    secret,
    'timestamp',
  ],
] as const)('%s is refused', async (_, given, headers, secrets, reason) => {
  await expect(verifyWebhook(given, headers, secrets)).rejects.toMatchObject({
    name: 'WebhookInvalid',
    reason,
  });
});
