import { expect, test } from 'vitest';
import { deliveryHeaders, openedSecret, signatureHeader, standardSignatureHeader } from '../../signatures.ts';
import type { WebhookEvent } from '../index.ts';
import { signedHeaders } from './listen.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwcLbnQ2nJxkE=';
const event = {
  id: 90_071,
  type: 'lead.created',
  createdUtc: '2026-01-15T09:30:00.000Z',
  companyId: 1001,
  payload: { first_name: 'Zoë' },
} as const;
const timestamp = 1_768_469_400;

test.each(['key:12', null])('a forwarded event has the headers of a delivery, of the origin %s', (origin) => {
  const body = JSON.stringify(event);
  const opened = [openedSecret(secret)];
  const delivered = {
    event_id: event.id,
    event_type: event.type,
    attempt: 2,
    subscription_id: 0,
    sequence: 7301,
    origin,
    replay_id: 0,
  };
  const expected = deliveryHeaders(delivered, timestamp, [
    signatureHeader(opened, timestamp, Buffer.from(body)),
    standardSignatureHeader(opened, event.id, timestamp, Buffer.from(body)),
  ]);
  const headers = signedHeaders(
    { event: { ...event, payload: { ...event.payload } } as WebhookEvent, sequence: 7301, origin },
    secret,
    2,
    body,
    timestamp,
  );
  expect(Object.entries(headers)).toEqual(expected);
});
