import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Key, Keys } from './keys.ts';
import type { Limiter } from './limiter.ts';

export interface Admission {
  readonly keys: Keys;
  readonly limiter: Limiter;
  readonly bucket: 'read' | 'write';
  readonly scope: string;
  /** Requests per minute. In the bucket read, a key or its company may have a limit of its own. */
  readonly limit: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    key: Key;
  }
}

const windowMs = 60_000;

/** The hook before every route of a bucket: authenticates, checks the scope and counts. */
export const admit =
  ({ keys, limiter, bucket, scope, limit: usual }: Admission) =>
  async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('X-Request-Id', request.id).header('Cache-Control', 'no-store');
    const value = request.headers['x-api-key'];
    const key = typeof value === 'string' ? keys.find(value) : undefined;
    if (!key)
      return reply.code(401).send({ error_code: 'unauthorized', message: 'missing or invalid API key' });
    if (!key.scopes.includes(scope))
      return reply
        .code(403)
        .send({ error_code: 'forbidden', message: `the API key lacks the scope ${scope}` });
    request.key = key;

    const limit = (bucket === 'read' ? key.limitRead : null) ?? usual;
    const window = Math.floor(Date.now() / windowMs);
    let count: number;
    try {
      count = await limiter.count(bucket, key.id, window);
    } catch {
      const message = 'the request could not be counted; try again';
      return reply
        .code(503)
        .header('Retry-After', '1')
        .send({ error_code: 'lock_timeout', message, reason: 'lock_timeout', retryAfter: 1 });
    }
    keys.used(key);
    const remaining = Math.max(0, limit - count);
    const resetSeconds = (window + 1) * (windowMs / 1000);
    const leftSeconds = Math.max(0, Math.ceil(resetSeconds - Date.now() / 1000));
    reply.headers({
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': remaining,
      'X-RateLimit-Reset': resetSeconds,
      'X-RateLimit-Window': '1m',
      'X-RateLimit-Policy': `${bucket}:${limit}/1m`,
      'RateLimit-Policy': `"${bucket}";q=${limit};w=60`,
      RateLimit: `"${bucket}";r=${remaining};t=${leftSeconds}`,
    });
    if (count > limit) {
      return reply.code(429).header('Retry-After', leftSeconds).send({
        error_code: 'rate_limit_exceeded',
        message: 'rate limit exceeded',
        retry_after_seconds: leftSeconds,
      });
    }
  };
