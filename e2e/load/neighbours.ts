import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { samplePayload } from '@causeway/proto';
import {
  type DeliveryWorld,
  makeEvents,
  startDeliveryWorld,
  steadyEvents,
  type Tenant,
} from './deliveries/world.ts';
import { type BenchContext, makeHome } from './driver.ts';
import { describeMachine, percentile, publish, type Table, whole } from './report.ts';

const healthyCount = 100;
const healthyPerSecond = 200;
const badCount = 5;
const failingPerSecond = 20;
const hangingBacklog = 10_000;
const longBacklog = 1_000_000;
const quietClients = 300;
const quietPauseMs = 60;

/** Measures the time from the commit of an event to its arrival: alone, under load, and beside bad neighbours. */
export const benchNeighbours = async (context: BenchContext): Promise<void> => {
  const { onEnd, say, options, toolchain } = context;
  const home = makeHome(onEnd);
  say('starting MySQL, the receiver and the cluster …');
  const world = await startDeliveryWorld(context, { home, args: options.startArgs });
  const healthy = await world.tenants(healthyCount);
  for (const tenant of healthy) await world.subscribe(tenant, `/counted/${tenant.id}`, ['client.created']);
  const hanging = await world.tenants(badCount);
  const failing = await world.tenants(badCount);
  for (const tenant of hanging) await world.subscribe(tenant, '/neighbour?hang', ['client.created']);
  for (const tenant of failing) await world.subscribe(tenant, '/neighbour?status=500', ['client.created']);
  await steadyEvents(world.bus, healthy, healthyPerSecond, 3);
  await world.settle();

  const rows: string[][] = [];
  const note = async (what: string, run: () => Promise<unknown>): Promise<void> => {
    await world.reset();
    await run();
    // The last deliveries are under way.
    await sleep(1_500);
    const { elapsedMs, deliveries, distinct } = await world.count();
    if (distinct !== deliveries) throw new Error(`${deliveries} arrived, ${distinct} of them distinct`);
    const at = (share: number) => `${whole(percentile(elapsedMs, share))} ms`;
    rows.push([what, whole(deliveries), at(0.5), at(0.99), at(1)]);
    say(`${what}: ${whole(deliveries)} arrived, p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}`);
  };
  await note('a client created by the API, one at a time', () => createClients(world, healthy));
  for (let round = 1; round <= options.rounds; round++) {
    await note(`turn ${round}, without bad neighbours`, () =>
      steadyEvents(world.bus, healthy, healthyPerSecond, options.seconds),
    );
  }
  const largeFanOut = await measureLargeFanOut(world, healthy, say);
  // These receivers hang, so their deliveries wait from here on.
  const backlog = makeEvents(world.bus, hanging, {
    width: 64,
    mayGoOn: (made) => made < hangingBacklog - 64,
  });
  while (backlog.made() < hangingBacklog - 64) await sleep(10);
  await backlog.stop();
  for (let round = 1; round <= options.rounds; round++) {
    const waits = await world.number(
      `SELECT COUNT(*) AS n FROM deliveries WHERE company_id IN (${hanging.map(({ id }) => id)})
        AND state IN ('waiting', 'held')`,
    );
    await note(
      `turn ${round}, with ${whole(waits)} deliveries for ${badCount} that hang, and ${badCount} that fail`,
      async () => {
        const seconds = options.seconds;
        await Promise.all([
          steadyEvents(world.bus, healthy, healthyPerSecond, seconds),
          steadyEvents(world.bus, failing, failingPerSecond, seconds),
        ]);
      },
    );
  }
  await addLongBacklog(world);
  for (let round = 1; round <= options.rounds; round++)
    await note(`turn ${round}, with a backlog of ${whole(longBacklog)} deliveries as well`, () =>
      steadyEvents(world.bus, healthy, healthyPerSecond, options.seconds),
    );
  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    {
      title: 'From the event’s time to its arrival',
      columns: ['', 'deliveries', 'p50', 'p99', 'most'],
      rows,
    },
    largeFanOut,
  ];
  publish('neighbours', options, howMeasured(options), tables);
};

/** Deliveries for a receiver that answers after a second, all due, as after an outage of days. */
const addLongBacklog = async (world: DeliveryWorld): Promise<void> => {
  const [tenant] = (await world.tenants(1)) as [Tenant];
  const subscription = await world.subscribe(tenant, '/neighbour?delay=1000', ['client.created']);
  const first = 1 + (await world.number('SELECT COALESCE(MAX(event_id), 0) AS n FROM events'));
  const perStatement = 50_000;
  const payload = JSON.stringify(samplePayload('client.created', new Date()));
  for (let from = 0; from < longBacklog; from += perStatement) {
    const numbers = `WITH RECURSIVE k AS (SELECT ${from} AS n UNION ALL SELECT n + 1 FROM k WHERE n + 1 < ${from + perStatement})
      SELECT /*+ SET_VAR(cte_max_recursion_depth = ${perStatement}) */`;
    await world.write(
      `INSERT INTO events (company_id, sequence, created_utc, event_id, type, payload)
       ${numbers} ${tenant.id}, n + 1, UTC_TIMESTAMP(), ${first} + n, 'client.created', ? FROM k`,
      [payload],
    );
    await world.write(
      `INSERT INTO deliveries (company_id, event_id, subscription_id, created_utc, event_type, due_utc, updated_utc)
       SELECT company_id, event_id, ${subscription}, created_utc, type, created_utc, created_utc FROM events
       WHERE company_id = ${tenant.id} AND sequence > ${from} AND sequence <= ${from + perStatement}`,
    );
  }
  await world.write(
    `INSERT INTO event_sequences (company_id, last_sequence) VALUES (${tenant.id}, ${longBacklog})
     ON DUPLICATE KEY UPDATE last_sequence = ${longBacklog}`,
  );
  await world.write(
    `UPDATE delivery_queues SET next_due_utc = UTC_TIMESTAMP() WHERE subscription_id = ${subscription}`,
  );
};

const createClients = async ({ cluster }: DeliveryWorld, tenants: readonly Tenant[]): Promise<void> => {
  for (let at = 0; at < quietClients; at++) {
    const response = await fetch(`${cluster.stack.baseUrl}/api/v1/integrations/clients`, {
      method: 'POST',
      headers: { 'x-api-key': tenants[at % tenants.length]?.key ?? '' },
      body: JSON.stringify({ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' }),
    });
    if (response.status !== 201) throw new Error(`no client: ${await response.text()}`);
    await response.arrayBuffer();
    await sleep(quietPauseMs);
  }
};

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
${healthyCount} companies with a subscription each to a receiver that answers at once, ${healthyPerSecond} events a second over all of them,
${rounds} turns of ${seconds} s; the same beside ten bad neighbours: ${badCount} companies whose receivers never answer, with ${whole(hangingBacklog)} events
created just before, and ${badCount} whose receivers answer 500, with ${failingPerSecond} events a second; then also beside ${whole(longBacklog)} due deliveries
for a receiver that answers after a second. Only arrivals at healthy receivers count, from \`createdUtc\` on. The first row is
${quietClients} clients created through the API in a cluster that does nothing else.
${howLargeFanOut}`;

const largeCompanies = 10;
const subscriptionsEach = 1_000;
const eventsPerSecond = 50;
const maxSeconds = 120;

/**
 * Measures what one event of each of ten companies with a thousand subscriptions does to others: how long the
 * deliveries of small companies take meanwhile, until when all have arrived, and how much memory a dispatcher needs.
 */
const measureLargeFanOut = async (
  world: DeliveryWorld,
  healthy: readonly Tenant[],
  say: (line: string) => void,
): Promise<Table> => {
  const large = await world.tenants(largeCompanies);
  for (const tenant of large) {
    await world.subscribe(tenant, '/large', ['client.created']);
    await copySubscription(world, tenant.id);
  }
  const arrived = async (): Promise<number> =>
    world.number(
      `SELECT COUNT(*) AS n FROM deliveries WHERE state = 'succeeded' AND company_id IN (${large.map(({ id }) => id)})`,
    );
  const memoryMib = (): number => {
    const pids = [...world.processes].filter(([name]) => name.startsWith('dispatcher')).map(([, pid]) => pid);
    return Math.max(...pids.map(residentMib));
  };
  const rows: string[][] = [];
  const row = async (what: string, run: () => Promise<string>): Promise<void> => {
    await world.reset();
    const [took] = await Promise.all([run(), steadyEvents(world.bus, healthy, eventsPerSecond, 12)]);
    // The last deliveries are under way.
    await sleep(1_500);
    const { elapsedMs } = await world.count();
    const at = (share: number) => `${whole(percentile(elapsedMs, share))} ms`;
    rows.push([what, took, at(0.5), at(0.99), at(1), `${whole(memoryMib())} MiB`]);
    say(`${what}: ${rows.at(-1)!.slice(1).join(', ')}`);
  };
  await row('alone', async () => '–');
  await row(
    `beside ${largeCompanies} events with ${whole(subscriptionsEach)} subscriptions each`,
    async () => {
      await sleep(1_000);
      const startedMs = performance.now();
      const events = makeEvents(world.bus, large, {
        width: largeCompanies,
        mayGoOn: (made) => made < largeCompanies,
      });
      await sleep(100);
      await events.stop();
      const all = largeCompanies * subscriptionsEach;
      while ((await arrived()) < all) {
        if (performance.now() - startedMs > maxSeconds * 1000)
          throw new Error(`${await arrived()} of ${all} arrived`);
        await sleep(50);
      }
      return `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
    },
  );
  return {
    title: 'Beside events with a thousand subscriptions',
    columns: ['', 'all arrived after', 'others’ p50', 'p99', 'most', 'memory of a dispatcher'],
    rows,
  };
};

/** As rows, because the interface makes them one by one. */
const copySubscription = async (world: DeliveryWorld, companyId: number): Promise<void> => {
  const copies = JSON.stringify(Array.from({ length: subscriptionsEach - 1 }, (_, at) => at));
  await world.write(
    `INSERT INTO subscriptions (company_id, url, event_types, secret, created_utc, updated_utc)
     SELECT s.company_id, s.url, s.event_types, s.secret, s.created_utc, s.updated_utc
     FROM subscriptions AS s JOIN JSON_TABLE(?, '$[*]' COLUMNS (n INT PATH '$')) AS k WHERE s.company_id = ?`,
    [copies, companyId],
  );
  await world.write(
    `INSERT IGNORE INTO delivery_queues (company_id, subscription_id)
     SELECT company_id, subscription_id FROM subscriptions WHERE company_id = ?`,
    [companyId],
  );
  await world.write(
    'UPDATE event_sequences SET subscriptions_version = subscriptions_version + 1 WHERE company_id = ?',
    [companyId],
  );
};

const residentMib = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const howLargeFanOut = `
Beside events with a thousand subscriptions: ${largeCompanies} companies with ${subscriptionsEach} subscriptions each have one event at the same moment, while the
healthy companies get ${eventsPerSecond} events a second. The memory is the most that a dispatcher has had until then (VmHWM).
`;
