import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { outcome } from '../api/support/clock.ts';
import { endOf, type Shot } from '../api/support/load.ts';
import { type Ask, send, type World } from '../api/support/open.ts';

/** A request of the traffic. */
export interface Sent extends Shot {
  readonly operation: 'createClient' | 'listEmployees';
  readonly key: string;
}

export interface Creator {
  readonly company: number;
  readonly key: string;
}

/** A key whose limit is used up some time into each minute. */
export interface Limited {
  readonly key: string;
  readonly limit: number;
}

export interface Traffic {
  readonly sent: readonly Sent[];
  /** Creates that were answered 2xx: these records must exist. */
  readonly made: readonly { readonly company: number; readonly externalId: string; readonly id: number }[];
  /** The share of failures among the requests that ended in the last `ms` milliseconds; 1 if none ended. */
  failedShare(ms: number): number;
  /** Starts no more requests. @returns the number of creates that never got a 2xx. */
  stop(): Promise<number>;
}

interface TrafficOptions {
  readonly creators: readonly Creator[];
  readonly limited: readonly Limited[];
  /** Creates started per second, regardless of earlier ones. */
  readonly createsPerSecond: number;
  /** Look-ups per second with each limited key. */
  readonly lookupsPerSecond: number;
}

/** More than the longest deadline of an operation. */
const requestTimeoutMs = 8_000;
const maxInFlight = 1_000;
const retryMs = 1_000;
const lastTriesMs = 60_000;

export const isFine = (shot: Shot): boolean => /^(20[01]|429)$/.test(endOf(shot));

/**
 * Callers that follow the contract: each create has an `external_id` and is retried every second until it is answered
 * 2xx. Limited keys send look-ups and do not retry.
 */
export const startTraffic = (world: World, options: TrafficOptions): Traffic => {
  const { creators, limited, createsPerSecond, lookupsPerSecond } = options;
  const pool = new Pool(world.baseUrl, {
    connections: 64,
    pipelining: 1,
    // A gateway that stops waits for idle connections, unless their clients close them.
    keepAliveMaxTimeout: 2_000,
    headersTimeout: requestTimeoutMs,
    bodyTimeout: requestTimeoutMs,
  });
  const sent: Sent[] = [];
  const made: Traffic['made'][number][] = [];
  const open = new Set<Promise<void>>();
  let stopped = false;
  let stoppedMs = 0;
  let abandoned = 0;

  const shoot = async (operation: Sent['operation'], key: string, path: string, ask: Ask): Promise<Sent> => {
    const sentMs = performance.now();
    const reply = await outcome(send(pool, path, { ...ask, key }));
    const one = { operation, key, sentMs, elapsedMs: performance.now() - sentMs, reply };
    sent.push(one);
    return one;
  };

  const create = async ({ company, key }: Creator): Promise<void> => {
    const externalId = randomUUID();
    const body = JSON.stringify({
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@example.com',
      external_id: externalId,
    });
    for (;;) {
      const { reply } = await shoot('createClient', key, '/integrations/clients', { method: 'POST', body });
      if (!(reply instanceof Error) && reply.status < 300)
        return void made.push({ company, externalId, id: reply.json.client_id });
      if (stopped && performance.now() - stoppedMs > lastTriesMs) break;
      await sleep(retryMs * (1 + Math.random() / 2));
    }
    abandoned++;
  };

  const begin = (work: Promise<void>): void => {
    const one = work.finally(() => open.delete(one));
    open.add(one);
  };
  const every = async (perSecond: number, next: (at: number) => Promise<void>): Promise<void> => {
    const startedMs = performance.now();
    for (let at = 0; !stopped; at++) {
      const waitMs = startedMs + (at * 1000) / perSecond - performance.now();
      if (waitMs > 1) await sleep(waitMs);
      if (open.size < maxInFlight) begin(next(at));
    }
  };
  const clocks = [
    every(createsPerSecond, (at) => create(creators[at % creators.length] as Creator)),
    ...limited.map(({ key }) =>
      every(lookupsPerSecond, async () => {
        await shoot('listEmployees', key, '/integrations/lookups/employees', {});
      }),
    ),
  ];

  return {
    sent,
    made,
    failedShare: (ms) => {
      const sinceMs = performance.now() - ms;
      const recent = sent.slice(sent.findLastIndex((one) => one.sentMs + one.elapsedMs < sinceMs) + 1);
      return recent.length === 0 ? 1 : recent.filter((one) => !isFine(one)).length / recent.length;
    },
    stop: async () => {
      stopped = true;
      stoppedMs = performance.now();
      await Promise.all(clocks);
      while (open.size > 0) await Promise.all(open);
      await pool.destroy();
      return abandoned;
    },
  };
};
