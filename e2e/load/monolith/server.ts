import { randomUUID } from 'node:crypto';
import type { Log } from '@causeway/runtime';
import { fastify } from 'fastify';
import { createPool } from 'mysql2/promise';
import { admit } from './admit.ts';
import type { MonolithConfig } from './config.ts';
import { loadKeys } from './keys.ts';
import { leads } from './leads.ts';
import { openLimiter } from './limiter.ts';
import { lookups } from './lookups.ts';

const saneRequestId = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The reference that the cluster is compared with: the same operations as one engineer would write them in a day, in
 * one process, with every reasonable optimisation (keys in memory, prepared statements, compiled serialisers,
 * pipelined Redis, buffered log).
 */
export const startMonolith = async (config: MonolithConfig, log: Log): Promise<Monolith> => {
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
    await write.register(leads(pool), { prefix: '/api/v1/integrations/leads' });
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

export interface Monolith {
  readonly url: string;
  close(): Promise<void>;
}
