import { setTimeout as sleep } from 'node:timers/promises';
import { cleanUp } from '@causeway/runtime/testing';
import { Pool } from 'undici';

/** As a load balancer spreads it: creates and look-ups, a few dozen a second. */
export interface SteadyTraffic {
  leave(baseUrl: string): Promise<void>;
  join(baseUrl: string): void;
  burst(requests: number): Promise<void>;
  count(): { readonly answered: number; readonly failed: readonly string[] };
  stop(): Promise<{ readonly created: readonly string[] }>;
}

export const startSteadyTraffic = (baseUrls: readonly string[], key: string): SteadyTraffic => {
  const pools = new Map<string, Pool>();
  const inFlight = new Map<string, number>();
  const failed: string[] = [];
  const created: string[] = [];
  let answered = 0;
  let sent = 0;
  let stopped = false;

  const join = (baseUrl: string): void => {
    pools.set(baseUrl, new Pool(baseUrl, { connections: 100 }));
  };
  for (const baseUrl of baseUrls) join(baseUrl);
  cleanUp(async () => void (await Promise.all([...pools.values()].map((pool) => pool.destroy()))));

  const ask = async (): Promise<void> => {
    const number = sent++;
    const [baseUrl, pool] = [...pools][number % pools.size]!;
    const externalId = `steady-${number}`;
    const isCreate = number % 2 === 0;
    inFlight.set(baseUrl, (inFlight.get(baseUrl) ?? 0) + 1);
    try {
      const { statusCode, body } = await pool.request({
        method: isCreate ? 'POST' : 'GET',
        path: `/api/v1/integrations${isCreate ? '/clients' : '/lookups/client-statuses'}`,
        headers: { 'x-api-key': key },
        body: isCreate
          ? JSON.stringify({
              first_name: 'Ada',
              last_name: 'Lovelace',
              email: 'ada@example.com',
              external_id: externalId,
            })
          : null,
      });
      const text = await body.text();
      if (statusCode >= 300) failed.push(`${new Date().toISOString()} ${statusCode} ${text}`);
      else {
        answered++;
        if (isCreate) created.push(externalId);
      }
    } catch (error) {
      failed.push(`${new Date().toISOString()} ${baseUrl}: ${error}`);
    } finally {
      inFlight.set(baseUrl, inFlight.get(baseUrl)! - 1);
    }
  };
  const running = Array.from({ length: 3 }, async () => {
    while (!stopped) {
      await ask();
      await sleep(100);
    }
  });
  return {
    join,
    leave: async (baseUrl) => {
      const pool = pools.get(baseUrl)!;
      pools.delete(baseUrl);
      while ((inFlight.get(baseUrl) ?? 0) > 0) await sleep(20);
      await pool.close();
    },
    burst: async (requests) => {
      for (let at = 0; at < requests; at++) await ask();
    },
    count: () => ({ answered, failed: [...failed] }),
    stop: async () => {
      stopped = true;
      await Promise.all(running);
      return { created };
    },
  };
};
