import { expect, test } from 'vitest';
import { eventTypes, samplePayload } from '../events.ts';
import { masked, maskHeaders, maskPayload, maskTargets, maskText, maskUrl } from './mask.ts';

const now = new Date('2026-01-15T09:30:00.000Z');

test('a client shows its id, status and time, and no personal data', () => {
  expect(maskPayload(samplePayload('client.created', now))).toEqual({
    client_id: 1042,
    first_name: masked,
    last_name: masked,
    email: masked,
    phone: masked,
    status: 'Client - Active',
    created_date: now.toISOString(),
  });
});

test.each(eventTypes)('no name, address or number of a person remains in a sample of %s', (type) => {
  const text = JSON.stringify(maskPayload(samplePayload(type, now)));
  expect(text).not.toMatch(/Katherine|Johnson|Meitner|Lise|@|555/);
});

test('an unknown field is masked at any depth', () => {
  expect(
    maskPayload({ custom: { nickname: 'Kit', tags: ['a', 'b'], n: 5 }, status_note: 'call Kit' }),
  ).toEqual({
    custom: { nickname: masked, tags: [masked, masked], n: 5 },
    status_note: masked,
  });
});

test('an email address or phone number is masked under a harmless name', () => {
  expect(
    maskPayload({ status: 'kit@example.com', client_id: '+1 555 010 4477', phone: 15550104477 }),
  ).toEqual({
    status: masked,
    client_id: masked,
    phone: masked,
  });
  expect(maskPayload({ 'kit@example.com': 1 })).toEqual({ [masked]: 1 });
});

test('JSON text is masked as JSON, other text as a whole', () => {
  expect(maskText('{"ok":true,"message":"Hello Kit"}')).toBe(`{"ok":true,"message":"${masked}"}`);
  expect(maskText('Hello Kit')).toBe(masked);
  expect(maskText('"Kit"')).toBe(`"${masked}"`);
  expect(maskText('')).toBe('');
});

test.each([
  ['https://hooks.example.com/causeway', 'https://hooks.example.com/causeway'],
  ['https://hooks.example.com:8443/v1/in-bound/', 'https://hooks.example.com:8443/v1/in-bound/'],
  ['https://kit:secret@example.com/a', `https://${masked}@example.com/a`],
  ['https://example.com/a?token=s3cret&b=&c', `https://example.com/a?token=${masked}&b=${masked}&${masked}`],
  ['https://example.com/a?S3CRET=x', `https://example.com/a?${masked}`],
  [
    'https://hooks.example.com/services/T024BE7LD/b0g9/s3CrEt',
    `https://hooks.example.com/services/${masked}/${masked}/${masked}`,
  ],
  ['https://example.com/abcdefghijklmnopqrstuvwxyz', `https://example.com/${masked}`],
  ['https://example.com/a#s3cret', `https://example.com/a#${masked}`],
  ['no URL', masked],
])('a viewer sees no token in the URL %s', (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});

test('a viewer sees only the values of headers that hold no token', () => {
  const headers = [
    ['Content-Type', 'application/json'],
    ['Authorization', 'Bearer s3cret'],
    ['Set-Cookie', 'session=s3cret'],
    ['X-Api-Key', 's3cret'],
    ['X-Webhook-Event', 'lead.created'],
    ['Location', 'https://example.com/?token=s3cret'],
  ] as const;
  const shown = maskHeaders(headers);
  expect(JSON.stringify(shown)).not.toContain('s3cret');
  expect(shown.filter(([, value]) => value !== masked).map(([name]) => name)).toEqual([
    'Content-Type',
    'X-Webhook-Event',
  ]);
});

test('URLs and headers of an answer are masked at any depth', () => {
  expect(
    maskTargets({
      list: [{ url: 'https://example.com/?a=1', n: 1, url2: null }],
      headers: [['Cookie', 'a']],
    }),
  ).toEqual({
    list: [{ url: `https://example.com/?a=${masked}`, n: 1, url2: null }],
    headers: [['Cookie', masked]],
  });
});
