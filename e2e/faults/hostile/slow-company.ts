import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import type { World } from '../../api/support/open.ts';
import type { Attack, Sample, Samples } from './attack.ts';

const slowSubscriptions = 950;
const slowMs = 3_000;
const slowEvents = 8;
const retriers = 20;
/**
 * Interval of the events of one retrying company. The first retry is due after five seconds, so no subscription fails
 * twice in a row.
 */
const retriedEveryMs = 6_000;

/**
 * One company has many slow subscriptions and a backlog, while first attempts and retries of other companies are due.
 */
export const slowCompany: Attack = {
  name: `hostile: ${slowSubscriptions} slow subscriptions of one company`,
  target: 'dispatcher-1',
  growthMiB: 96,
  // Deliveries that wait for a slow receiver cannot be recalled, so the attack cannot be repeated.
  rounds: 1,
  undisturbedMs: 12_000,
  attackedMs: 12_000,
  prepare: async (world, receiverUrl) => {
    const slow = await openTenant(world);
    const others = await Promise.all(Array.from({ length: retriers }, () => openTenant(world)));
    for (const { id, subscribe } of others) await subscribe(`${receiverUrl}/retried/${id}?fail=1`);
    const urls = Array.from(
      { length: slowSubscriptions },
      (_, at) => `${receiverUrl}/slow/${at}?delay=${slowMs}`,
    );
    const subscribing = async (): Promise<void> => {
      for (let url = urls.pop(); url; url = urls.pop()) await slow.subscribe(url);
    };
    await Promise.all(Array.from({ length: 8 }, subscribing));
    const retried = keepRetrying(world, others);
    return {
      start: async () => {
        for (let made = 0; made < slowEvents; made++) await slow.makeEvent();
      },
      stop: async () => {},
      summary: () =>
        `${slowSubscriptions * slowEvents} deliveries to a receiver that answers after ${slowMs / 1000} s`,
      samples: async () => [await retried.stop()],
      close: async () => {},
    };
  },
};

interface Tenant {
  readonly id: number;
  subscribe(url: string): Promise<void>;
  makeEvent(): Promise<void>;
}

const openTenant = async (world: World): Promise<Tenant> => {
  const company = await world.company({ write: 1_000_000_000, admin: 1_000_000_000 });
  const { value: key } = await company.key();
  const post = async (path: string, body: object): Promise<void> => {
    const reply = await world.ask(path, { method: 'POST', key, body: JSON.stringify(body) });
    if (reply.status !== 201) throw new Error(`${path} answered ${reply.status}: ${reply.text}`);
  };
  return {
    id: company.id,
    subscribe: (url) => post('/webhooks/subscriptions', { url, eventTypes: ['client.created'] }),
    makeEvent: () =>
      post('/integrations/clients', {
        first_name: 'Ada',
        last_name: 'Lovelace',
        email: 'ada@example.com',
      }),
  };
};

/** Creates events at a steady rate; the receiver refuses the first attempt of each. */
const keepRetrying = (world: World, tenants: readonly Tenant[]): { stop(): Promise<Samples> } => {
  let stopped = false;
  const making = (async () => {
    for (let at = 0; !stopped; at++) {
      await tenants[at % tenants.length]!.makeEvent();
      await sleep(retriedEveryMs / tenants.length);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await making;
      const ids = tenants.map(({ id }) => id);
      const waiting = "SELECT 1 FROM deliveries WHERE company_id IN (?) AND state = 'waiting' LIMIT 1";
      await until('all are retried', async () => (await world.sql(waiting, [ids])).length === 0, {
        timeoutMs: 30_000,
      });
      return { caller: 'webhook, lateness of a retry', all: await latenesses(world, ids) };
    },
  };
};

/** Time from when a retry was due to the start of its attempt. */
const latenesses = async (world: World, companies: readonly number[]): Promise<readonly Sample[]> => {
  const rows = await world.sql<{ due_utc: Date; late_us: number }>(
    `SELECT a.next_attempt_utc AS due_utc, TIMESTAMPDIFF(MICROSECOND, a.next_attempt_utc, b.started_utc) AS late_us
       FROM delivery_attempts AS a
       JOIN delivery_attempts AS b USING (company_id, event_id, subscription_id, replay_id)
      WHERE company_id IN (?) AND a.attempt = 1 AND b.attempt = 2`,
    [companies],
  );
  const clockMs = Date.now() - performance.now();
  return rows.map(({ due_utc, late_us }) => ({
    atMs: due_utc.getTime() - clockMs,
    elapsedMs: Math.max(0, Number(late_us) / 1000),
  }));
};
