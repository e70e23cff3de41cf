import { isIP } from 'node:net';
import type { HttpRequest, HttpResponse } from './uws.ts';

export interface Head {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly apiKey: string;
  /** Empty unless it is valid. */
  readonly requestId: string;
  readonly traceparent: string;
  /** A second header makes it malformed. */
  readonly idempotencyKey: string | undefined;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** The name of another conditional header, if there is one. */
  readonly otherCondition: string | undefined;
  /** All headers, in order: a client may send one, and a proxy may add another. */
  readonly forwardedFor: string;
  /** 0 without a body, -1 if it is chunked. */
  readonly bodyBytes: number;
  /** The body has a `Content-Encoding`. */
  readonly isEncoded: boolean;
  /**
   * The message's end or its key is not certain: uWebSockets.js 20.56 takes the first of two
   * `Content-Length`s and any `Transfer-Encoding` for `chunked`, so behind a proxy one client's bytes could
   * be read as another's request (RFC 9112, section 6.3).
   */
  readonly broken: boolean;
  /**
   * The message's end is not certain, though not provably wrong: its connection serves nothing after it.
   * uWebSockets.js 20.56 reads chunk extensions as sizes and takes anything for the end of a chunk; and it
   * stops reading headers at one without a name, so that a body without a visible length may still have one.
   */
  readonly loose: boolean;
  readonly closes: boolean;
  /** If not, the answer is 400 (RFC 9112, 3.2). */
  readonly hasHost: boolean;
}

/** The request object is valid only until its handler returns. */
export const readHead = (request: HttpRequest): Head => {
  let apiKey: string | undefined;
  let requestId = '';
  let traceparent = '';
  let idempotencyKey: string | undefined;
  let ifMatch: string | undefined;
  let ifNoneMatch: string | undefined;
  let otherCondition: string | undefined;
  let forwardedFor = '';
  let length: string | undefined;
  let encoding: string | undefined;
  let broken = false;
  let isEncoded = false;
  let closes = false;
  let host = '';
  request.forEach((name, value) => {
    switch (name) {
      case 'x-api-key':
        broken ||= apiKey !== undefined;
        apiKey = value;
        break;
      case 'content-length':
        broken ||= length !== undefined || !digits.test(value);
        length = value;
        break;
      case 'transfer-encoding':
        broken ||= encoding !== undefined || value.toLowerCase() !== 'chunked';
        encoding = value;
        break;
      case 'content-encoding':
        isEncoded ||= !/^(?:identity)?$/i.test(value);
        break;
      case 'host':
        host = value;
        break;
      case 'connection':
        closes ||= closeToken.test(value);
        break;
      case 'x-request-id':
        requestId = saneRequestId.test(value) ? value : '';
        break;
      case 'traceparent':
        traceparent = value;
        break;
      case 'idempotency-key':
        idempotencyKey = joined(idempotencyKey, value);
        break;
      case 'if-match':
        ifMatch = joined(ifMatch, value);
        break;
      case 'if-none-match':
        ifNoneMatch = joined(ifNoneMatch, value);
        break;
      case 'if-modified-since':
      case 'if-unmodified-since':
      case 'if-range':
        otherCondition = otherConditions[name];
        break;
      case 'x-forwarded-for':
        forwardedFor = forwardedFor === '' ? value : `${forwardedFor},${value}`;
        break;
      default:
    }
  });
  broken ||= length !== undefined && encoding !== undefined;
  const method = request.getCaseSensitiveMethod();
  // If a body was read too short, its rest is taken for the next request, which then begins like `{}POST`.
  broken ||= !methods.has(method) && !token.test(method);
  return {
    method,
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    apiKey: apiKey ?? '',
    requestId,
    traceparent,
    idempotencyKey,
    ifMatch,
    ifNoneMatch,
    otherCondition,
    forwardedFor,
    isEncoded,
    bodyBytes: encoding !== undefined ? -1 : length === undefined ? 0 : Number(length),
    broken,
    loose: encoding !== undefined || (length === undefined && withBody.has(method)),
    closes,
    hasHost: hostName.test(host),
  };
};

const otherConditions = {
  'if-modified-since': 'If-Modified-Since',
  'if-unmodified-since': 'If-Unmodified-Since',
  'if-range': 'If-Range',
} as const;

const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before},${value}`;

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
/** With these methods, clients declare the body's length even if it is empty (RFC 9110, 8.6). */
const withBody: ReadonlySet<string> = new Set(['POST', 'PATCH', 'PUT']);
/** RFC 9110, 7.2: a name or an address, and a port. The library refuses requests without a `Host`. */
const hostName = /^(?:[\w.~%!$&'()*+,;=-]+|\[[\da-fA-F:.]+\])(?::\d*)?$/;
const closeToken = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
/** RFC 9110, 5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]+$/;
const digits = /^\d{1,15}$/;
const saneRequestId = /^[A-Za-z0-9._~:+/=-]{1,128}$/;

/** Call it while the response is open. */
export const addressOf = (
  response: HttpResponse,
  { forwardedFor }: Pick<Head, 'forwardedFor'>,
  trustedProxies: number,
): string => {
  const remote = connectedAddress(response);
  return trustedProxies === 0 ? remote : clientAddress(remote, forwardedFor, trustedProxies);
};

/**
 * In `X-Forwarded-For`, the outermost trusted proxy wrote the entry that is number `trustedProxies` from the
 * end. Entries before it may come from the client. If it is missing or not an address, the connection's
 * address (`remote`) counts.
 */
export const clientAddress = (remote: string, forwardedFor: string, trustedProxies: number): string => {
  if (trustedProxies === 0) return normalAddress(remote);
  const hops = forwardedFor.split(',').map((entry) => entry.trim());
  const named = normalAddress(hops.at(-trustedProxies) ?? '');
  return isIP(named) ? named : normalAddress(remote);
};

/** Writing an address as text costs a hundredth of a request, and a busy client sends many from one. */
const connectedAddress = (response: HttpResponse): string => {
  const words = new Uint32Array(response.getRemoteAddress());
  const bytes = words.length === 1 ? words[0]! : words.join();
  let address = connectedAddresses.get(bytes);
  if (address === undefined) {
    address = normalAddress(Buffer.from(response.getRemoteAddressAsText()).toString('latin1'));
    if (connectedAddresses.size === maxConnectedAddresses) connectedAddresses.clear();
    connectedAddresses.set(bytes, address);
  }
  return address;
};

const connectedAddresses = new Map<number | string, string>();
const maxConnectedAddresses = 10_000;

/** IPv4-mapped IPv6 becomes IPv4, other IPv6 its short form. */
const normalAddress = (text: string): string => {
  const bare = text.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
  if (isIP(bare) !== 6) return bare.replace(/^([\d.]+):\d+$/, '$1');
  const short = URL.parse(`http://[${bare}]`)?.hostname.slice(1, -1) ?? bare;
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(short) ?? [];
  if (!high || !low) return short;
  const number = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
};

export const reads = (method: string): boolean => method === 'GET' || method === 'HEAD';
