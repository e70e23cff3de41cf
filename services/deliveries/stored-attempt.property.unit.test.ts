import { deliveryHeaders } from '@causeway/proto/signatures';
import { unicode } from '@causeway/proto/testing';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { headersAsSent, packRequest, packResponse, requestHeadersOf, responseOf } from './stored-attempt.ts';

const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));
const secrets = fc.array(fc.tuple(bytes, bytes), { minLength: 1, maxLength: 2 });
const event = fc.record({
  event_id: id,
  event_type: fc.constantFrom('client.created', 'client.status_updated', 'invoice.paid'),
  attempt: fc.integer({ min: 1, max: 51 }),
  subscription_id: id,
  sequence: fc.nat(),
  origin: fc.option(fc.constantFrom('system', 'key:12', 'member:9007199254740991')),
  replay_id: fc.oneof(fc.constant(0), id),
});
const second = fc.integer({ min: 1_500_000_000, max: 2 ** 33 });

test('an attempt shows the headers that it was sent with', () => {
  fc.assert(
    fc.property(
      event,
      second,
      secrets,
      fc.option(fc.nat(2 ** 20)),
      fc.boolean(),
      (own, timestamp, keys, bodyBytes, accepts) => {
        const url = 'https://Example.com:8443/hook?a=b';
        const signed = {
          timestamp,
          signatures: [
            keys.map(([one]) => `sha256=${one.toString('hex')}`).join(','),
            keys.map(([, one]) => `v1,${one.toString('base64')}`).join(' '),
          ],
        } as const;
        const delivered = own as Parameters<typeof deliveryHeaders>[0];
        const { event_type, sequence, origin } = delivered;
        const sent = packRequest({ event_type, sequence, origin, signed, bodyBytes, accepts });
        expect(sent.length).toBeLessThanOrEqual(500);
        const headers = deliveryHeaders(delivered, timestamp, signed.signatures).filter(
          ([name]) => accepts || name !== 'Accept',
        );
        expect(requestHeadersOf({ ...own, url, sent })).toEqual(
          bodyBytes === null ? headers : headersAsSent(new URL(url), headers, bodyBytes),
        );
      },
    ),
  );
});

const text = fc.oneof(
  fc.constantFrom('Content-Type', 'content-type', 'application/json', 'Date', '', '0', 'timeout=5', 'system'),
  fc.string({ unit: unicode, maxLength: 200 }),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.constantFrom(
    'Thu, 01 Jan 1970 00:00:00 GMT',
    'Tue, 01 Jan 2026 00:00:00 GMT',
    'Tue, 24 Nov 2026 3:5:12 GMT',
  ),
);

test('a response is kept with its headers and body, in far fewer bytes than as JSON', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, text), { maxLength: 64 }),
      fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 })),
      (headers, content) => {
        const response = { headers, body: content && Buffer.from(content) };
        expect(responseOf({ response_body: packResponse(response) })).toEqual(response);
      },
    ),
  );
  const headers = [
    ['Content-Type', 'text/plain'],
    ['Date', 'Tue, 24 Nov 2026 03:05:12 GMT'],
    ['Connection', 'keep-alive'],
    ['Keep-Alive', 'timeout=5'],
    ['Content-Length', '2'],
  ] as const;
  expect(packResponse({ headers, body: Buffer.from('ok') })).toHaveLength(17);
});

test('a response that was erased, or never came, is none', () => {
  expect(responseOf({ response_body: null })).toBeNull();
});

test('bytes that end early are an error, not a shorter answer', () => {
  const whole = packResponse({
    headers: [
      ['x-one', 'and'],
      ['x-two', 'more'],
    ],
    body: null,
  });
  for (let length = 0; length < whole.length; length++)
    expect(() => responseOf({ response_body: whole.subarray(0, length) })).toThrow(RangeError);
});
