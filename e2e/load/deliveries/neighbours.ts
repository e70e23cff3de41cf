import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { makeHome } from '../ends.ts';
import { percentile, whole } from '../report/figures.ts';
import { describeMachine } from '../report/machine.ts';
import { writeResults } from '../report/results.ts';
import { type Table, toTerminal } from '../report/table.ts';
import { makeEvents, steadyEvents } from './events.ts';
import { howSlowCompany, measureSlowCompany } from './slow-company.ts';
import { type DeliveryWorld, startDeliveryWorld, type Tenant } from './world.ts';

const healthyCount = 100;
const healthyPerSecond = 200;
const failingPerSecond = 20;
const hangingBacklog = 10_000;
const quietClients = 300;
const quietPauseMs = 60;

/** Measures the time from the commit of an event to its arrival: alone, under load, and beside bad neighbours. */
export const benchNeighbours = async (context: BenchContext): Promise<void> => {
  const { onEnd, say, options, toolchain } = context;
  const home = makeHome(onEnd);
  say('starting MySQL, the receiver and the cluster …');
  const world = await startDeliveryWorld(context, { home, args: options.startArgs, settings: {} });
  const healthy = await world.tenants(healthyCount);
  for (const tenant of healthy) await world.subscribe(tenant, `/counted/${tenant.id}`, ['client.created']);
  const [hanging, failing] = (await world.tenants(2)) as [Tenant, Tenant];
  await world.subscribe(hanging, '/neighbour?hang', ['client.created']);
  await world.subscribe(failing, '/neighbour?status=500', ['client.created']);
  await steadyEvents(world.bus, healthy, healthyPerSecond, 3);
  await world.settle();

  const rows: string[][] = [];
  const note = async (what: string, run: () => Promise<unknown>): Promise<void> => {
    await world.reset();
    await run();
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
  // The receiver hangs, so its deliveries wait from here on.
  const backlog = makeEvents(world.bus, [hanging], {
    width: 64,
    mayGoOn: (made) => made < hangingBacklog - 64,
  });
  while (backlog.made() < hangingBacklog - 64) await sleep(10);
  await backlog.stop();
  for (let round = 1; round <= options.rounds; round++) {
    const waits = await world.number(
      `SELECT COUNT(*) AS n FROM deliveries WHERE company_id = ${hanging.id} AND state IN ('waiting', 'held')`,
    );
    await note(
      `turn ${round}, with ${whole(waits)} deliveries for one that hangs, and one that fails`,
      async () => {
        const seconds = options.seconds;
        await Promise.all([
          steadyEvents(world.bus, healthy, healthyPerSecond, seconds),
          steadyEvents(world.bus, [failing], failingPerSecond, seconds),
        ]);
      },
    );
  }
  // Runs last: its waiting deliveries would disturb other measurements.
  const slowCompany = await measureSlowCompany(world, say);
  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    {
      title: 'From the event’s time to its arrival',
      columns: ['', 'deliveries', 'p50', 'p99', 'most'],
      rows,
    },
    slowCompany,
  ];
  for (const table of tables) process.stdout.write(`${toTerminal(table)}\n`);
  if (options.write) writeResults('neighbours', howMeasured(options), tables);
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
${rounds} turns of ${seconds} s; then the same beside two bad neighbours: a receiver that never answers, with ${whole(hangingBacklog)} events
created just before, and a receiver that answers 500, with ${failingPerSecond} events a second. Only arrivals at healthy receivers are
counted. Time is measured from \`createdUtc\`, which is taken before the event's commit, to the arrival of
the whole request at the receiver, in whole milliseconds. The first row is ${quietClients} clients created through the API, one after the
other, in a cluster that does nothing else.
${howSlowCompany}`;
