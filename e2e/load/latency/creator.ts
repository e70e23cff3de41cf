import { setTimeout as sleep } from 'node:timers/promises';
import { randomHex } from '@causeway/runtime';
import { startReceiver } from '@causeway/runtime/testing/receiver';
import { Pool } from 'undici';
import type { Tenant } from '../deliveries/world.ts';

/** One create and its delivery, in milliseconds of this process's clock. */
export interface Created {
  readonly sentMs: number;
  readonly answeredMs: number;
  /** May come before the answer. */
  readonly arrivedMs: number;
  /** If the request was traced. */
  readonly traceId: string | undefined;
}

/** Creates leads one at a time and receives their deliveries. */
export interface Creator {
  readonly receiverUrl: string;
  createFor(seconds: number): Promise<readonly Created[]>;
  close(): Promise<void>;
}

const tracedEvery = 4;
const pauseMs = 15;
const arrivalTimeoutMs = 10_000;

export const openCreator = async (baseUrl: string, tenants: readonly Tenant[]): Promise<Creator> => {
  const arrivals = new Map<number, number>();
  let arrived: (() => void) | undefined;
  const receiver = await startReceiver({
    counting: true,
    counted: (_, __, body) => {
      const atMs = performance.now();
      const { payload } = JSON.parse(body.toString()) as { payload: { client_id: number } };
      arrivals.set(payload.client_id, atMs);
      arrived?.();
    },
  });
  const pool = new Pool(baseUrl, { connections: 1 });
  let made = 0;

  const arrivalOf = async (leadId: number): Promise<number> => {
    const deadlineMs = performance.now() + arrivalTimeoutMs;
    while (performance.now() < deadlineMs) {
      const atMs = arrivals.get(leadId);
      if (atMs !== undefined) return atMs;
      await Promise.race([new Promise<void>((resolve) => (arrived = resolve)), sleep(100)]);
    }
    throw new Error(`no delivery of lead ${leadId} has arrived`);
  };

  const createOne = async (): Promise<Created> => {
    const at = made++;
    const traceId = at % tracedEvery === 0 ? randomHex(16) : undefined;
    const body = JSON.stringify({
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@example.com',
      external_id: randomHex(12),
    });
    const sentMs = performance.now();
    const response = await pool.request({
      method: 'POST',
      path: '/api/v1/integrations/leads',
      headers: {
        'x-api-key': tenants[at % tenants.length]!.key,
        'content-type': 'application/json',
        ...(traceId && { traceparent: `00-${traceId}-${randomHex(8)}-01` }),
      },
      body,
    });
    const answer = (await response.body.json()) as { client_id: number };
    const answeredMs = performance.now();
    if (response.statusCode !== 201) throw new Error(`no lead: ${JSON.stringify(answer)}`);
    return { sentMs, answeredMs, arrivedMs: await arrivalOf(answer.client_id), traceId };
  };

  return {
    receiverUrl: `${receiver.url}/lead`,
    createFor: async (seconds) => {
      const created: Created[] = [];
      for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs; ) {
        created.push(await createOne());
        // Of varying length, so that no timer of the cluster keeps in step.
        await sleep(pauseMs + Math.random() * 10);
      }
      arrivals.clear();
      return created;
    },
    close: async () => {
      await pool.close();
      await receiver.close();
    },
  };
};
