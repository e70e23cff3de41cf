import { Redis } from 'ioredis';

/** Exact fixed windows: one Redis script per request, one round trip. */
export interface Limiter {
  /** @returns the request's position in the window. @throws when Redis does not answer in time. */
  count(bucket: string, keyId: number, window: number): Promise<number>;
  close(): Promise<void>;
}

/** The expiry is set with the first count, inside the script, so that no counter can stay for ever. */
const script = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], 120) end
return count`;

export const openLimiter = (url: string): Limiter => {
  const redis = new Redis(url, {
    // Commands of one event-loop tick travel in one write.
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
