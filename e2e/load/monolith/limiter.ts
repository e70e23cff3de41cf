import { Redis } from 'ioredis';

/** Exact fixed windows: one Redis script per request, one round trip. */
export interface Limiter {
  /** @returns the position of the request in the window. @throws if Redis does not answer in time. */
  count(bucket: string, keyId: number, window: number): Promise<number>;
  close(): Promise<void>;
}

/** The script sets the expiry with the first count, so that no counter stays forever. */
const script = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], 120) end
return count`;

export const openLimiter = (url: string): Limiter => {
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
