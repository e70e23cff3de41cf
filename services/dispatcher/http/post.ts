import { type DeliveryPorts, deliveryPorts, portProblem } from '@causeway/deliveries';
import { type Connect, createConnect } from './connect.ts';
import { createConnectionPool } from './connection-pool.ts';
import { Failure } from './failure.ts';
import { createResolver, createSystemResolver, type Resolve } from './resolve.ts';
import { type Post, type PostResult, sendPost } from './send-post.ts';

export interface PosterOptions {
  readonly allowPrivate: boolean;
  readonly allowHttp: boolean;
  readonly ports?: DeliveryPorts | undefined;
  readonly timeoutMs: number;
  readonly resolve?: Resolve | undefined;
  readonly ca?: string;
  readonly now?: () => number;
}

export interface Poster {
  post(post: Post): Promise<PostResult>;
  counts(): { readonly open: number; readonly idle: number };
  close(): Promise<void>;
}

/**
 * A 2xx whose head is odd, or whose body is cut off or never ends, is a success: the receiver has confirmed the event, and a
 * retry would send a duplicate.
 */
export const createPoster = (options: PosterOptions): Poster => {
  const { allowPrivate, allowHttp, timeoutMs, now = () => performance.now() } = options;
  // Half of the time limit, so that the error can tell slow DNS from a slow receiver.
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
      const answer = sendPost({ pool, now, timeoutMs, targetOf }, post);
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
