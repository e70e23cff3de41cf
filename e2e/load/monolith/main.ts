import { randomUUID } from 'node:crypto';
import { createLog, integer, type Log, parseConfig, readEnv } from '@causeway/runtime';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import { z } from 'zod';
import { type Key, type Keys, loadKeys } from './keys.ts';
import { leads } from './leads.ts';
import { lookups } from './lookups.ts';

/** The environment variables of the reference, named as those of the cluster. */
const monolithConfig = {
  HOST: z.string().default('127.0.0.1'),
  PORT: integer(0, 65535).default(0),
  MYSQL_URL: z.string(),
  MYSQL_POOL_SIZE: integer(1, 1000).default(10),
  REDIS_URL: z.string(),
  RATE_LIMIT_READ: integer(1, 1_000_000_000).default(60),
  RATE_LIMIT_WRITE: integer(1, 1_000_000_000).default(100),
  /** Where the event of each create is sent. */
  WEBHOOK_URL: z.url().optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
} as const;

type MonolithConfig = z.output<z.ZodObject<typeof monolithConfig>>;

const saneRequestId = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The reference that the cluster is compared with: the same operations as one engineer would write them in a day, in
 * one process, with every reasonable optimisation (keys in memory, prepared statements, compiled serialisers,
 * pipelined Redis, buffered log).
 */
const startMonolith = async (config: MonolithConfig, log: Log): Promise<Monolith> => {
  const pool = createPool({ uri: config.MYSQL_URL, connectionLimit: config.MYSQL_POOL_SIZE });
  const limiter = openLimiter(config.REDIS_URL);
  const keys = await loadKeys(pool);
  const app = fastify({
    loggerInstance: log,
    // The hook below writes one log entry per request, as the cluster does.
    disableRequestLogging: true,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && saneRequestId.test(given) ? given : randomUUID();
    },
  });
  app.addHook('onResponse', async (request, reply) => {
    const { id: requestId, method, key } = request;
    const elapsedMs = Math.round(reply.elapsedTime * 1000) / 1000;
    log.info(
      {
        requestId,
        method,
        url: request.url,
        company: key?.companyId,
        key: key?.id,
        status: reply.statusCode,
        elapsedMs,
      },
      'request',
    );
  });
  await app.register(async (read) => {
    const limit = config.RATE_LIMIT_READ;
    read.addHook('onRequest', admit({ keys, limiter, bucket: 'read', scope: 'integrations:read', limit }));
    await read.register(lookups(pool), { prefix: '/api/v1/integrations/lookups' });
  });
  await app.register(async (write) => {
    const limit = config.RATE_LIMIT_WRITE;
    write.addHook('onRequest', admit({ keys, limiter, bucket: 'write', scope: 'integrations:write', limit }));
    await write.register(leads(pool, config.WEBHOOK_URL), { prefix: '/api/v1/integrations/leads' });
  });
  const url = await app.listen({ host: config.HOST, port: config.PORT });
  return {
    url,
    close: async () => {
      await app.close();
      await keys.close();
      await limiter.close();
      await pool.end();
    },
  };
};

interface Monolith {
  readonly url: string;
  close(): Promise<void>;
}

interface Admission {
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
const admit =
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

/** Exact fixed windows: one Redis script per request, one round trip. */
interface Limiter {
  /** @returns the position of the request in the window. @throws if Redis does not answer in time. */
  count(bucket: string, keyId: number, window: number): Promise<number>;
  close(): Promise<void>;
}

/** The script sets the expiry with the first count, so that no counter stays forever. */
const script = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], 120) end
return count`;

const openLimiter = (url: string): Limiter => {
  const redis = new Redis(url, {
    // Sends the commands of one event loop tick in one write.
    enableAutoPipelining: true,
    commandTimeout: 500,
    scripts: { countRequest: { lua: script, numberOfKeys: 1 } },
  }) as Redis & { countRequest(key: string): Promise<number> };
  return {
    count: (bucket, keyId, window) => redis.countRequest(`rl:${bucket}:${keyId}:${window}`),
    close: async () => {
      await redis.quit();
    },
  };
};

const config = parseConfig(monolithConfig, readEnv());
const { log, flush } = createLog({ name: 'monolith', instance: 'monolith', level: config.LOG_LEVEL });
const monolith = await startMonolith(config, log);
process.once('SIGTERM', async () => {
  await monolith.close();
  flush();
  process.exit(0);
});
process.send?.({ type: 'ready', url: monolith.url });
