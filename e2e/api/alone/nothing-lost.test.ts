import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, onTestFinished, test } from 'vitest';
import { allowedRepeats } from '../../faults/allowed-repeats.ts';
import { outcome } from '../support/clock.ts';
import { allDelivered } from '../support/delivered.ts';
import { allReady, pidOf, signal } from '../support/processes.ts';
import { startPublishedReceiver } from '../support/published.ts';
import { type Company, openWorld, type Reply } from '../support/world.ts';

const world = await openWorld();
const unlimited = { read: 1_000_000_000, write: 1_000_000_000, admin: 1_000_000_000 };

/** Creates clients and leads, with short pauses, until stopped. @returns the creates that were answered 201. */
const startCreating = (keys: readonly string[], width: number) => {
  const made: { client_id: number }[] = [];
  const refused = new Map<string, number>();
  let stopped = false;
  const loop = async (worker: number): Promise<void> => {
    for (let at = 0; !stopped; at++) {
      const reply = await outcome(
        world.ask(at % 4 ? '/integrations/clients' : '/integrations/leads', {
          method: 'POST',
          key: keys[(worker + at) % keys.length],
          body: JSON.stringify({
            first_name: 'Ada',
            last_name: 'Lovelace',
            email: 'ada@example.com',
            external_id: randomUUID(),
          }),
        }),
      );
      if ((reply as Reply).status === 201) made.push((reply as Reply).json);
      else {
        const why = reply instanceof Error ? String(reply) : `${reply.status} ${reply.text}`;
        refused.set(why, (refused.get(why) ?? 0) + 1);
      }
      await sleep(80);
    }
  };
  const loops = Array.from({ length: width }, (_, worker) => loop(worker));
  return {
    made,
    refused,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
    },
  };
};

const subscribe = async (
  key: string,
  url: string,
  eventTypes: readonly string[],
  more: object = {},
): Promise<number> => {
  const reply = await world.ask('/webhooks/subscriptions', {
    method: 'POST',
    key,
    body: JSON.stringify({ url, eventTypes, ...more }),
  });
  expect(reply.status, reply.text).toBe(201);
  return reply.json.id;
};

/** The store is gone before the supervisor can start the next server on it. */
const wipeNats = (): number => {
  const store = join(world.home, 'nats', 'jetstream');
  signal(world, 'nats', 'SIGSTOP');
  renameSync(store, `${store}.gone`);
  const gone = signal(world, 'nats', 'SIGKILL');
  rmSync(`${store}.gone`, { recursive: true, force: true });
  return gone;
};

test('whichever process is killed, every committed event reaches every subscriber, no rolled-back event does, and few arrive twice', {
  timeout: 300_000,
}, async () => {
  const startedMs = Date.now();
  // The cluster must be well again for the next file, also after a failure.
  onTestFinished(async () => {
    await allReady(world);
  });
  const receiver = await startPublishedReceiver(world, { counting: true });
  const companies: Company[] = await Promise.all(Array.from({ length: 4 }, () => world.company(unlimited)));
  const keys = await Promise.all(companies.map(async (company) => (await company.key()).value));
  const wanted = new Map<string, { company: number; types: readonly string[] }>();
  for (const [at, company] of companies.entries()) {
    for (const types of [['client.created'], ['client.created', 'lead.created']]) {
      const path = `/${company.id}/${types.length}`;
      wanted.set(path, { company: company.id, types });
      await subscribe(keys[at] as string, `${receiver.url}${path}`, types);
    }
  }

  const creating = startCreating(keys, 6);
  await until('events arrive', () => receiver.arrivals.size === wanted.size);
  const kills: readonly (() => number)[] = [
    () => signal(world, 'crm-1', 'SIGKILL'),
    () => signal(world, 'webhooks-1', 'SIGKILL'),
    () => signal(world, 'webhooks-2', 'SIGKILL'),
    () => signal(world, 'dispatcher-1', 'SIGKILL'),
    () => signal(world, 'dispatcher-2', 'SIGKILL'),
    () => signal(world, 'nats', 'SIGKILL'),
    wipeNats,
    () => signal(world, 'mysql', 'SIGKILL'),
  ];
  for (const kill of kills) {
    const before = creating.made.length;
    const gone = kill();
    await allReady(world, [gone]);
    // Waits until it is under load again before the next kill.
    await until('clients are made again', () => creating.made.length > before + 50).catch(
      (cause: unknown) => {
        throw new Error(`no clients are made after ${kill}: ${JSON.stringify([...creating.refused])}`, {
          cause,
        });
      },
    );
    creating.refused.clear();
    // Some load between two kills.
    await sleep(500);
  }
  await creating.stop();
  expect(pidOf(world, 'mysql')).toBeGreaterThan(0);

  const ids = companies.map(({ id }) => id);
  await allDelivered(world.sql, ids);
  const events = await world.sql<{ company_id: number; event_id: number; type: string }>(
    'SELECT company_id, event_id, type FROM events WHERE company_id IN (?)',
    [ids],
  );
  // Every answered create has its event, so the log is the reference for the comparison.
  const clients = events.filter(({ type }) => type === 'client.created' || type === 'lead.created');
  expect(clients.length).toBeGreaterThanOrEqual(creating.made.length);

  let total = 0;
  let repeated = 0;
  for (const [path, { company, types }] of wanted) {
    const committed = events
      .filter(({ company_id, type }) => company_id === company && types.includes(type))
      .map(({ event_id }) => String(event_id));
    const known = new Set(committed);
    const arrived = receiver.arrivals.get(path) ?? new Map<string, number>();
    const unknown = [...arrived.keys()].filter((id) => !known.has(id));
    const missing = committed.filter((id) => !arrived.has(id));
    expect({ path, missing, unknown }).toEqual({ path, missing: [], unknown: [] });
    for (const times of arrived.values()) {
      total++;
      repeated += times - 1;
    }
  }
  console.log(`${total} deliveries of ${clients.length} events, ${repeated} came twice`);
  // An event has two subscribers.
  expect(repeated).toBeLessThan(Math.max(total / 100, 2 * (await allowedRepeats(world, startedMs))));
});

test('a pace and a pause hold while dispatchers and webhooks are killed in the middle of them', {
  timeout: 300_000,
}, async () => {
  const startedMs = Date.now();
  onTestFinished(async () => {
    await allReady(world);
  });
  const receiver = await testReceiver();
  const company = await world.company(unlimited);
  const key = (await company.key()).value;
  const types = ['client.created'];
  const limit = 8;
  const paced = await subscribe(key, `${receiver.url}/paced`, types, { pace: { limit, per: 'second' } });
  const pausable = await subscribe(key, `${receiver.url}/pausable`, types);
  const creating = startCreating([key], 1);
  const arrived = (path: string) => receiver.received.filter((one) => one.path === path);
  await until('events arrive', () => arrived('/paced').length > limit && arrived('/pausable').length > limit);

  /** As a client that repeats the request until it is answered. */
  const setPaused = async (paused: boolean): Promise<void> => {
    const ask = { method: 'PATCH', key, body: JSON.stringify({ paused }) };
    const path = `/webhooks/subscriptions/${pausable}`;
    await until('an answer', async () => ((await outcome(world.ask(path, ask))) as Reply).status === 200);
  };
  const pauses: [fromMs: number, untilMs: number][] = [];
  for (const name of ['webhooks-1', 'dispatcher-1', 'webhooks-2', 'dispatcher-2']) {
    const gone: number[] = [];
    for (const paused of [true, false]) {
      if (!paused) pauses.at(-1)![1] = Date.now();
      const asked = setPaused(paused);
      gone.push(signal(world, name, 'SIGKILL'));
      await asked;
      if (paused) pauses.push([Date.now() + 3_000, 0]);
      await allReady(world, gone);
      // Time for a wrong attempt.
      await sleep(3_500);
    }
  }
  await creating.stop();
  await allDelivered(world.sql, [company.id]);

  const committed = await world.sql<{ event_id: number }>(
    "SELECT event_id FROM events WHERE company_id = ? AND type = 'client.created'",
    [company.id],
  );
  const recorded = await world.sql<{ subscription_id: number; event_id: number; started_utc: Date }>(
    'SELECT subscription_id, event_id, started_utc FROM delivery_attempts WHERE company_id = ?',
    [company.id],
  );
  /** Of an attempt that died with its dispatcher, when it arrived. */
  const startsOf = (subscriptionId: number, path: string): number[] => {
    const known = Map.groupBy(
      recorded.filter(({ subscription_id }) => subscription_id === subscriptionId),
      ({ event_id }) => String(event_id),
    );
    return [...Map.groupBy(arrived(path), ({ id }) => id)].flatMap(([id, all]) => {
      const starts = (known.get(id) ?? []).map(({ started_utc }) => started_utc.getTime());
      return [...starts, ...all.slice(0, all.length - starts.length).map(({ atMs }) => atMs)];
    });
  };
  let repeated = 0;
  for (const path of ['/paced', '/pausable']) {
    const ids = arrived(path).map(({ id }) => id);
    repeated += ids.length - committed.length;
    expect([...new Set(ids)].toSorted()).toEqual(committed.map(({ event_id }) => `${event_id}`).toSorted());
  }
  const starts = startsOf(paced, '/paced');
  const most = starts.map((at) => starts.filter((other) => other >= at && other < at + 1_000).length);
  expect(Math.max(...most)).toBeLessThanOrEqual(limit);
  const wrong = startsOf(pausable, '/pausable').filter((at) =>
    pauses.some(([fromMs, untilMs]) => at > fromMs && at < untilMs),
  );
  expect(wrong).toEqual([]);
  console.log(`${committed.length} events to two subscriptions, ${repeated} came twice`);
  expect(repeated).toBeLessThanOrEqual(2 * (await allowedRepeats(world, startedMs)));
});
