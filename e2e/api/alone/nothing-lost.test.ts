import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { allowedRepeats } from '../../faults/allowed-repeats.ts';
import { outcome, until } from '../support/clock.ts';
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

const subscribe = async (key: string, url: string, eventTypes: readonly string[]): Promise<number> => {
  const reply = await world.ask('/webhooks/subscriptions', {
    method: 'POST',
    key,
    body: JSON.stringify({ url, eventTypes }),
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
