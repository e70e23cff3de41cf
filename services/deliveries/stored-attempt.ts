import type { HeaderPair } from '@causeway/proto';
import { acceptHeader, type DeliveredEvent, deliveryHeaders } from '@causeway/proto/signatures';
import type { DeliveryAttemptRow } from './tables.ts';

// Hot: every attempt is packed. As JSON, its headers were four fifths of a stored attempt.

/** The first byte of `sent`. A release that sends other headers needs another, and reads both. */
const version = 1;

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

/** For the column `response_body`. */
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

/** The headers exactly as they were sent. */
export const requestHeadersOf = (row: StoredRequest): readonly HeaderPair[] => {
  const bytes = createByteReader(row.sent);
  const stored = bytes.number();
  if (stored !== version) throw new Error(`this release cannot read attempts of version ${stored}`);
  const timestamp = bytes.number();
  const bodyBytes = bytes.number() - 1;
  const sequence = bytes.number();
  const event_type = bytes.text() as DeliveredEvent['event_type'];
  const origin = bytes.text() || null;
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
export const responseOf = ({
  response_body: body,
}: Pick<DeliveryAttemptRow, 'response_body'>): ReceivedResponse | null => {
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
  'event_id' | 'subscription_id' | 'replay_id' | 'attempt' | 'url' | 'sent'
>;

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

/**
 * Numbers as LEB128, up to 2^53 - 1. A text is one byte if it is in `frequent`, an HTTP date five, and any
 * other a zero byte, its length and its UTF-8.
 */
const createByteWriter = () => {
  let at = 0;
  const number = (value: number): void => {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) scratch[at++] = (rest % 128) + 128;
    scratch[at++] = rest;
  };
  return {
    number,
    text: (text: string): void => {
      const place = places.get(text);
      const second = place === undefined ? secondOf(text) : undefined;
      if (second !== undefined) {
        scratch[at++] = dateMark;
        at = scratch.writeUInt32BE(second, at);
        return;
      }
      scratch[at++] = place ?? 0;
      if (place !== undefined) return;
      number(Buffer.byteLength(text));
      at += scratch.write(text, at);
    },
    /** Without its length. */
    encoded: (text: string, encoding: 'hex' | 'base64'): void => {
      at += scratch.write(text, at, encoding);
    },
    /** A copy. */
    end: (): Buffer => Buffer.from(scratch.subarray(0, at)),
  };
};

/** One writer is in use at a time. 64 headers with 8 KiB may grow threefold, as UTF-8. */
const scratch = Buffer.alloc(2 ** 16);

/** @throws RangeError if the bytes end early. */
const createByteReader = (source: Buffer) => {
  let at = 0;
  const bytes = (length: number): Buffer => {
    if (at + length > source.length) throw new RangeError('packed bytes end early');
    at += length;
    return source.subarray(at - length, at);
  };
  const number = (): number => {
    for (let [value, unit] = [0, 1]; ; unit *= 128) {
      const byte = bytes(1)[0]!;
      value += (byte % 128) * unit;
      if (byte < 128) return value;
    }
  };
  return {
    number,
    bytes,
    text: (): string => {
      const mark = bytes(1)[0]!;
      if (mark === dateMark) return new Date(bytes(4).readUInt32BE() * 1000).toUTCString();
      return mark === 0 ? bytes(number()).toString() : frequent[mark - 1]!;
    },
    left: (): number => source.length - at,
  };
};

const dateMark = 255;
let lastDate: readonly [text: string, second: number] = [new Date(0).toUTCString(), 0];

/** Of a date as receivers write it (RFC 9110, 5.6.7); all responses of a second have the same. */
const secondOf = (text: string): number | undefined => {
  if (text === lastDate[0]) return lastDate[1];
  if (text.length !== 29 || !text.endsWith(' GMT')) return undefined;
  const second = Date.parse(text) / 1000;
  if (!(second >= 0 && second < 2 ** 32) || new Date(second * 1000).toUTCString() !== text) return undefined;
  lastDate = [text, second];
  return second;
};

/** Stored rows name these by their place: only append, up to 254. */
const frequent: readonly string[] = [
  'Content-Type|content-type|Date|date|Connection|connection|Keep-Alive|keep-alive|Content-Length',
  'content-length|Transfer-Encoding|transfer-encoding|Server|server|Vary|vary|ETag|etag|Cache-Control',
  'cache-control|X-Powered-By|x-powered-by|Strict-Transport-Security|strict-transport-security',
  'X-Content-Type-Options|x-content-type-options|X-Frame-Options|x-frame-options|Access-Control-Allow-Origin',
  'access-control-allow-origin|Via|via|Set-Cookie|set-cookie|X-Request-Id|x-request-id|Expires|expires',
  'Content-Encoding|content-encoding|Alt-Svc|alt-svc|CF-RAY|cf-cache-status|DYNAMIC|Referrer-Policy|Retry-After',
  'x-amzn-RequestId|x-amz-apigw-id|X-Amzn-Trace-Id|close|timeout=5|timeout=60|chunked|gzip|nginx|cloudflare',
  'Apache|Express|gunicorn|uvicorn|Microsoft-IIS/10.0|Accept-Encoding|Origin|nosniff|DENY|SAMEORIGIN|*',
  'no-cache|no-store|application/json|application/json; charset=utf-8|text/plain|text/plain; charset=utf-8',
  'text/html|text/html; charset=utf-8|text/html; charset=UTF-8|0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16',
  'system|client.created|client.updated|lead.created|lead.updated',
].flatMap((line) => line.split('|'));
const places = new Map(frequent.map((text, at) => [text, at + 1]));
