import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { HeaderPair } from './deliveries.ts';
import type { challengeType } from './delivery-states.ts';
import type { EventType } from './events.ts';
import type { OperationalType } from './notices.ts';

/**
 * Only the dispatcher's signing threads hold an open secret. They load this file and no other of `proto`.
 * Keys made once: with the bytes, each HMAC took several times as long.
 */
export interface OpenSecret {
  readonly text: KeyObject;
  /** Of the decoded bytes after `whsec_`. */
  readonly bytes: KeyObject;
}

export const openedSecret = (secret: string): OpenSecret => ({
  text: createSecretKey(Buffer.from(secret)),
  bytes: createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')),
});

/** Contract, "Deliveries": hex HMAC-SHA256, keyed with the whole secret, of `<timestamp>.<body>`. */
export const signatureHeader = (
  secrets: readonly OpenSecret[],
  timestamp: number,
  body: Uint8Array,
): string =>
  secrets
    .map(
      ({ text }) => `sha256=${createHmac('sha256', text).update(`${timestamp}.`).update(body).digest('hex')}`,
    )
    .join(',');

/** Standard Webhooks, "Signature scheme": base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`. */
export const standardSignatureHeader = (
  secrets: readonly OpenSecret[],
  id: number,
  timestamp: number,
  body: Uint8Array,
): string =>
  secrets
    .map(
      ({ bytes }) =>
        `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
    )
    .join(' ');

export const userAgent = 'Causeway-Webhooks/1';

/** Some firewalls refuse a request without it. A subscription's own header takes its place. */
export const acceptHeader: HeaderPair = ['Accept', '*/*'];

/** Contract, "Deliveries"; in the order they are sent. */
export const deliveryHeaders = (
  { event_id, event_type, attempt, subscription_id, sequence, origin, replay_id }: DeliveredEvent,
  timestamp: number,
  [signature, standard]: readonly [signature: string, standard: string],
): HeaderPair[] => [
  ['Content-Type', 'application/json'],
  ['User-Agent', userAgent],
  acceptHeader,
  ['X-Webhook-Timestamp', `${timestamp}`],
  ['X-Webhook-Signature', signature],
  ['X-Webhook-Id', `${event_id}`],
  ['X-Webhook-Event', event_type],
  ['X-Webhook-Attempt', `${attempt}`],
  ['X-Webhook-Subscription', `${subscription_id}`],
  ['X-Webhook-Sequence', `${sequence}`],
  ...(origin === null ? [] : ([['X-Webhook-Origin', origin]] as const)),
  ...(replay_id > 0 ? ([['X-Webhook-Replay', `${replay_id}`]] as const) : []),
  ['webhook-id', `${event_id}`],
  ['webhook-timestamp', `${timestamp}`],
  ['webhook-signature', standard],
];

export const withOwnHeaders = (
  headers: readonly HeaderPair[],
  own: readonly HeaderPair[],
): readonly HeaderPair[] => [
  ...(hasAccept(own) ? headers.filter((one) => one !== acceptHeader) : headers),
  ...own,
];

export const hasAccept = (own: readonly HeaderPair[]): boolean =>
  own.some(([name]) => name.toLowerCase() === 'accept');

export interface DeliveredEvent {
  readonly event_id: number;
  readonly event_type: EventType | typeof challengeType | OperationalType;
  readonly attempt: number;
  /** 0 for a notice, which belongs to none. */
  readonly subscription_id: number;
  /** The event's number in its company; 0 if it is not in the log. */
  readonly sequence: number;
  /** Contract, "Changes". Null: the release that wrote the event did not record it. */
  readonly origin: string | null;
  readonly replay_id: number;
}
