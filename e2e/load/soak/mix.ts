import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Tenant } from '../deliveries/world.ts';

/** Kinds of requests, in the order in which each ten requests have them. */
const order = [
  ...['lookup', 'lookup', 'create', 'lookup', 'search'],
  ...['lookup', 'lookup', 'create', 'lookup', 'update'],
] as const;
export const kinds = ['lookup', 'search', 'create', 'update'] as const;
export type Kind = (typeof kinds)[number];

/** Sends the mix to a cluster. */
export interface Mix {
  /** Answered creates; each has a delivery. */
  created(): number;
  /** Requests in flight. */
  underWay(): number;
  /** Sends the next request of the mix. @throws unless the answer is a 2xx */
  send(): Promise<Kind>;
  /**
   * Sends requests at a steady rate whether or not the previous ones are answered. `answered` gets milliseconds from
   * the time at which a request was due. @throws if a request fails, or so many wait that the cluster does not keep up
   */
  sendSteadily(rate: SteadyRate): Promise<void>;
}

interface SteadyRate {
  readonly perSecond: number;
  readonly seconds: number;
  readonly answered: (kind: Kind, elapsedMs: number) => void;
}

/** More than the callers of the highest rate: no request waits for a connection behind another one's answer. */
const connections = 512;
/** Requests in flight that are a backlog and no longer a burst. */
const maxUnderWay = 4_000;

export const openMix = (baseUrl: string, tenants: readonly Tenant[]): Mix & { close(): Promise<void> } => {
  const pool = new Pool(baseUrl, { connections });
  const lastLead = new Map<Tenant, number>();
  let sent = 0;
  let created = 0;
  let underWay = 0;

  const ask = async (tenant: Tenant, method: string, path: string, body?: object): Promise<unknown> => {
    const { statusCode, body: answer } = await pool.request({
      method,
      path: `/api/v1/integrations/${path}`,
      headers: { 'x-api-key': tenant.key, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await answer.text();
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
    return JSON.parse(text);
  };

  const request = async (kind: Kind, tenant: Tenant, number: number): Promise<void> => {
    if (kind === 'lookup') await ask(tenant, 'GET', 'lookups/employees');
    else if (kind === 'search') await ask(tenant, 'GET', `lookups/clients?q=k${number % 1000}`);
    else if (kind === 'create') {
      const { client_id } = (await ask(tenant, 'POST', 'leads', leadOf(number))) as { client_id: number };
      created++;
      lastLead.set(tenant, client_id);
    } else {
      const lead = lastLead.get(tenant);
      // Until the company has a lead.
      if (lead === undefined) return request('lookup', tenant, number);
      await ask(tenant, 'PATCH', `leads/${lead}`, { city: `City ${number}`, phone: `+1 555 ${number}` });
    }
  };

  const send = async (): Promise<Kind> => {
    const number = sent++;
    const kind = order[number % order.length]!;
    // Each company gets every kind: their number has no factor in common with the length of the order.
    const tenant = tenants[number % tenants.length]!;
    underWay++;
    try {
      await request(kind, tenant, number);
    } finally {
      underWay--;
    }
    return kind;
  };

  const sendSteadily = async ({ perSecond, seconds, answered }: SteadyRate): Promise<void> => {
    const startedMs = performance.now();
    const waiting = new Set<Promise<void>>();
    let failure: unknown;
    for (let number = 0; number < perSecond * seconds && !failure; number++) {
      const dueMs = startedMs + (number / perSecond) * 1000;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (underWay > maxUnderWay)
        throw new Error(`${underWay} requests are under way: this load is too high`);
      const one: Promise<void> = send()
        .then(
          (kind) => answered(kind, performance.now() - dueMs),
          (error: unknown) => (failure ??= error),
        )
        .then(() => void waiting.delete(one));
      waiting.add(one);
    }
    await Promise.all(waiting);
    if (failure) throw failure;
  };

  return { created: () => created, underWay: () => underWay, send, sendSteadily, close: () => pool.close() };
};

const leadOf = (number: number): object => ({
  first_name: 'Katherine',
  last_name: `Number ${number}`,
  email: `k${number}@example.com`,
  phone: '+1 555 010 4477',
  city: 'Hampton',
  external_id: `soak-${number}`,
});
