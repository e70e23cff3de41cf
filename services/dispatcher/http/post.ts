import {
  type DeliveryPorts,
  deliveryPorts,
  type ErrorClass,
  type HeaderPair,
  portProblem,
} from '@causeway/proto';
import { type Connect, createConnect } from './connect.ts';
import { createConnectionPool } from './connection-pool.ts';
import { exchange } from './exchange.ts';
import { Failure } from './failure.ts';
import { createResolver, createSystemResolver, type Resolve } from './resolve.ts';

export interface PosterOptions {
  /** Whether addresses of private networks are reached too. */
  readonly allowPrivate: boolean;
  readonly allowHttp: boolean;
  /** Without it, those of `deliveryPorts`. */
  readonly ports?: DeliveryPorts | undefined;
  /** For everything together: name, connection, TLS, headers and body. */
  readonly timeoutMs: number;
  readonly resolve?: Resolve;
  /** Certificate authorities in place of the usual ones, PEM. */
  readonly ca?: string;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

export interface Post {
  readonly url: string;
  /** Without host, connection and content-length, which are added. */
  readonly headers: readonly HeaderPair[];
  readonly body: Buffer | string;
}

/** What one attempt was. Durations are whole milliseconds; null for what did not happen in this attempt. */
export interface PostResult {
  readonly elapsedMs: number;
  /** These three are null over a connection that was open already. */
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the start of the attempt to the first byte of the answer. */
  readonly firstByteMs: number | null;
  /** The address that the request went to. */
  readonly address: string | null;
  readonly statusCode: number | null;
  /** Null for a 2xx. */
  readonly errorClass: ErrorClass | null;
  /** One sentence for people. */
  readonly error: string | null;
  readonly requestHeaders: readonly HeaderPair[];
  readonly responseHeaders: readonly HeaderPair[] | null;
  /** At most 16 KiB, inflated if the receiver compressed it. */
  readonly responseBody: Buffer | null;
  readonly responseTruncated: boolean;
  /** The header, as it came. */
  readonly retryAfter: string | null;
}

export interface Poster {
  /** Never throws. */
  post(post: Post): Promise<PostResult>;
  counts(): { readonly open: number; readonly idle: number };
  /** Takes no further posts, and resolves when those under way have ended. */
  close(): Promise<void>;
}

/**
 * Posts deliveries, over connections kept open for a while.
 *
 * The status decides, and it counts from when the headers of the answer are complete before the deadline: a 2xx
 * whose body is cut, resets or never ends is a success, as the receiver has said that it has the event, and
 * another attempt would be a duplicate. Redirects are not followed. No more than 64 KiB of a body are read.
 */
export const createPoster = (options: PosterOptions): Poster => {
  const { allowPrivate, allowHttp, timeoutMs, now = () => performance.now() } = options;
  // Half of the time at most, so that a slow name is told from a slow receiver.
  const makeResolver = allowPrivate ? createSystemResolver : createResolver;
  const resolve = options.resolve ?? makeResolver({ timeoutMs: Math.ceil(timeoutMs / 2) });
  const connect: Connect = createConnect({
    allowPrivate,
    resolve,
    now,
    ...(options.ca ? { ca: options.ca } : {}),
  });
  const pool = createConnectionPool({ connect, now });
  const underWay = new Set<Promise<PostResult>>();
  const ports = deliveryPorts(options.ports, options);
  let closed = false;

  const targetOf = (url: string): URL => {
    if (closed) throw new Failure('connect', 'The sender is being shut down.');
    const target = URL.parse(url);
    if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password)
      throw new Failure('blocked_address', 'The URL is not one that is delivered to.');
    if (target.protocol === 'http:' && !allowHttp)
      throw new Failure('blocked_address', 'The URL does not begin with https://.');
    const problem = portProblem(target, ports);
    if (problem) throw new Failure('blocked_address', `The port of the URL is ${problem}.`);
    return target;
  };

  return {
    post: (post) => {
      const answer = exchange({ pool, now, timeoutMs, targetOf }, post);
      underWay.add(answer);
      answer.then(() => underWay.delete(answer));
      return answer;
    },
    counts: pool.counts,
    close: async () => {
      closed = true;
      pool.close();
      await Promise.all(underWay);
    },
  };
};
