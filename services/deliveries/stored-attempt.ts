import type { HeaderPair } from '@causeway/proto';
import { acceptHeader, type DeliveredEvent, deliveryHeaders } from '@causeway/proto/signatures';
import { createByteReader, createByteWriter } from './bytes.ts';
import type { DeliveryAttemptRow } from './tables.ts';

// Hot: every attempt is packed. As JSON, its headers were four fifths of a stored attempt.

/** The first byte of `sent`. A release that sends other headers needs another, and reads both. */
const version = 1;
/** Of an earlier release: with the ID of an agent's subscription. */
const agentVersion = 2;

/** What an attempt was signed with. */
export interface Signed {
  /** In seconds. */
  readonly timestamp: number;
  readonly signatures: readonly [signature: string, standard: string];
}

export interface SentRequest extends Pick<DeliveredEvent, 'event_type' | 'sequence' | 'origin'> {
  readonly signed: Signed;
  /** Null if the request never left, because its URL is not one that is delivered to. */
  readonly bodyBytes: number | null;
  /** False if a header of the subscription stood in its place. */
  readonly accepts: boolean;
}

/** For the column `sent`: what does not follow from the others. */
export const packRequest = ({
  signed,
  bodyBytes,
  event_type,
  sequence,
  origin,
  accepts,
}: SentRequest): Buffer => {
  const bytes = createByteWriter();
  bytes.number(version);
  bytes.number(signed.timestamp);
  bytes.number(bodyBytes === null ? 0 : bodyBytes + 1);
  bytes.number(sequence);
  bytes.text(event_type);
  bytes.text(origin ?? '');
  const [hex, standard] = signed.signatures;
  for (const one of hex.split(',')) bytes.encoded(one.slice(hexPrefix.length), 'hex');
  for (const one of standard.split(' ')) bytes.encoded(one.slice(standardPrefix.length), 'base64');
  // An older release, whose attempts have no such byte, passes over it.
  if (accepts) bytes.number(1);
  return bytes.end();
};

const hexPrefix = 'sha256=';
const standardPrefix = 'v1,';
const signatureBytes = 32;

export interface ReceivedResponse {
  readonly headers: readonly HeaderPair[];
  readonly body: Buffer | null;
}

/** For the column `response_body` of a row with `sent`. */
export const packResponse = ({ headers, body }: ReceivedResponse): Buffer => {
  const bytes = createByteWriter();
  bytes.number(headers.length);
  for (const [name, value] of headers) {
    bytes.text(name);
    bytes.text(value);
  }
  const head = bytes.end();
  return body ? Buffer.concat([head, body]) : head;
};

/** The headers exactly as they were sent. An older release stored them whole. */
export const requestHeadersOf = (row: StoredRequest): readonly HeaderPair[] => {
  if (!row.sent) return row.request_headers;
  const bytes = createByteReader(row.sent);
  const stored = bytes.number();
  if (stored !== version && stored !== agentVersion)
    throw new Error(`this release cannot read attempts of version ${stored}`);
  const timestamp = bytes.number();
  const bodyBytes = bytes.number() - 1;
  const sequence = bytes.number();
  const event_type = bytes.text() as DeliveredEvent['event_type'];
  const origin = bytes.text() || null;
  if (stored === agentVersion) bytes.text();
  const secrets = Array.from({ length: Math.floor(bytes.left() / (2 * signatureBytes)) });
  const hex = secrets.map(() => `${hexPrefix}${bytes.bytes(signatureBytes).toString('hex')}`).join(',');
  const standard = secrets.map(() => `${standardPrefix}${bytes.bytes(signatureBytes).toString('base64')}`);
  const event = { ...row, event_type, sequence, origin };
  const accepts = bytes.left() > 0;
  const headers = deliveryHeaders(event, timestamp, [hex, standard.join(' ')]).filter(
    (header) => accepts || header !== acceptHeader,
  );
  return bodyBytes < 0 ? headers : headersAsSent(new URL(row.url), headers, bodyBytes);
};

/** Null if no response came, or if it was erased. */
export const responseOf = (row: StoredResponse): ReceivedResponse | null => {
  const { response_headers: headers, response_body: body } = row;
  if (!row.sent) return headers && { headers, body };
  if (!body) return null;
  const bytes = createByteReader(body);
  const count = bytes.number();
  return {
    headers: Array.from({ length: count }, (): HeaderPair => [bytes.text(), bytes.text()]),
    body: bytes.left() > 0 ? bytes.bytes(bytes.left()) : null,
  };
};

type StoredRequest = Pick<
  DeliveryAttemptRow,
  'event_id' | 'subscription_id' | 'replay_id' | 'attempt' | 'url'
> &
  Pick<DeliveryAttemptRow, 'sent' | 'request_headers'>;
type StoredResponse = Pick<DeliveryAttemptRow, 'sent' | 'response_headers' | 'response_body'>;

/** With the headers that undici adds. */
export const headersAsSent = (
  { host }: URL,
  headers: readonly HeaderPair[],
  bodyBytes: number,
): readonly HeaderPair[] => [
  ['host', host],
  ['connection', 'keep-alive'],
  ...headers,
  ['content-length', `${bodyBytes}`],
];
