import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { diagnose } from './diagnose.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';
const body = '{"id":1,"name":"Zoë"}';
const now = Date.parse('2026-01-15T09:30:00Z');
const timestamp = now / 1000;
const signatureOf = (text: string, key = secret): string =>
  `sha256=${createHmac('sha256', key).update(`${timestamp}.${text}`).digest('hex')}`;
const headersOf = (signature: string): string =>
  `X-Webhook-Timestamp: ${timestamp}\nx-webhook-signature: ${signature}`;
const titles = async (given: Partial<Parameters<typeof diagnose>[0]>): Promise<string[]> =>
  (await diagnose({ secret, body, headers: headersOf(signatureOf(body)), now, ...given })).map(
    (one) => one.title,
  );

describe('the signature checker', () => {
  it('accepts a genuine delivery', async () => {
    expect(await titles({})).toEqual(['X-Webhook-Signature is valid']);
  });
  it('accepts either of two signatures', async () => {
    const both = `${signatureOf(body, 'whsec_new')}, ${signatureOf(body)}`;
    expect(await titles({ headers: headersOf(both) })).toEqual(['X-Webhook-Signature is valid']);
  });
  it('detects a body that was parsed and serialized again', async () => {
    const pretty = JSON.stringify(JSON.parse(body), null, 2);
    expect(await titles({ body: pretty })).toEqual(['The body was parsed and serialized again']);
  });
  it('detects an added line break', async () => {
    expect(await titles({ body: `${body}\n` })).toEqual(['The body has an extra line break at its end']);
  });
  it('detects blanks around the secret', async () => {
    expect(await titles({ secret: `${secret}\n` })).toEqual([
      'The secret has spaces or a line break around it',
      'The signature matches without the spaces around the secret',
    ]);
  });
  it('detects a missing whsec_', async () => {
    expect(await titles({ secret: secret.slice(6) })).toContain(
      'The signature matches with whsec_ before the secret',
    );
  });
  it('detects a different secret or body', async () => {
    expect(await titles({ secret: 'whsec_b3RoZXI=' })).toEqual(['X-Webhook-Signature does not match']);
  });
  it('reports an old timestamp although the signature is valid', async () => {
    expect(await titles({ now: now + 3_600_000 })).toEqual([
      'The timestamp is 3600 seconds old',
      'X-Webhook-Signature is valid',
    ]);
  });
  it('names missing input', async () => {
    expect(await titles({ headers: '' })).toEqual(['X-Webhook-Timestamp is missing']);
    expect(await titles({ headers: `X-Webhook-Timestamp: ${timestamp}` })).toEqual([
      'The signature is missing',
    ]);
  });
  it('checks the signature of Standard Webhooks too', async () => {
    const key = Buffer.from(secret.slice(6), 'base64');
    const mac = createHmac('sha256', key).update(`7.${timestamp}.${body}`).digest('base64');
    const headers = `webhook-id: 7\nwebhook-timestamp: ${timestamp}\nwebhook-signature: v1,${mac}`;
    expect(await titles({ headers })).toEqual(['webhook-signature (Standard Webhooks) is valid']);
    expect(await titles({ headers, body: `${body} ` })).toEqual([
      'webhook-signature (Standard Webhooks) does not match',
    ]);
  });
});
