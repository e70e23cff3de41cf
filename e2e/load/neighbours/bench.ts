import { setTimeout as sleep } from 'node:timers/promises';
import { samplePayload } from '@causeway/proto';
import {
  type DeliveryWorld,
  makeEvents,
  startDeliveryWorld,
  steadyEvents,
  type Tenant,
} from '../deliveries/world.ts';
import { type BenchContext, makeHome } from '../driver.ts';
import { describeMachine, percentile, type Table, toTerminal, whole, writeResults } from '../report.ts';
import { howLargeFanOut, measureLargeFanOut } from './large-fan-out.ts';
import { howSlowCompany, measureSlowCompany } from './slow-company.ts';

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
  // Runs last: its waiting deliveries would disturb other measurements.
  const slowCompany = await measureSlowCompany(world, say);
  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    {
      title: 'From the event’s time to its arrival',
      columns: ['', 'deliveries', 'p50', 'p99', 'most'],
      rows,
    },
    largeFanOut,
    slowCompany,
  ];
  for (const table of tables) process.stdout.write(`${toTerminal(table)}\n`);
  if (options.write) writeResults('neighbours', howMeasured(options), tables);
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
${rounds} turns of ${seconds} s; then the same beside ten bad neighbours: ${badCount} companies whose receivers never answer, with ${whole(hangingBacklog)} events
created just before, and ${badCount} whose receivers answer 500, with ${failingPerSecond} events a second; then beside a company with ${whole(longBacklog)} due deliveries
for a receiver that answers after a second as well. Only arrivals at healthy receivers are
counted. Time is measured from \`createdUtc\`, which is taken before the event's commit, to the arrival of
the whole request at the receiver, in whole milliseconds. The first row is ${quietClients} clients created through the API, one after the
other, in a cluster that does nothing else.
${howLargeFanOut}${howSlowCompany}`;
