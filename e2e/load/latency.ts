import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver } from '@causeway/local/receiver';
import { randomHex } from '@causeway/runtime';
import { Pool } from 'undici';
import { freePort } from '../../deploy/local/ports.ts';
import type { Program } from '../../deploy/local/toolchain.ts';
import { makeSteadily, startDeliveryWorld, steadyEvents, type Tenant } from './deliveries/world.ts';
import { type BenchContext, makeHome } from './driver.ts';
import { startMonolith } from './monolith/start.ts';
import { describeMachine, millis, percentile, publish, ratio, type Table, whole } from './report.ts';

const tenantCount = 20;
const neighbourCount = 100;
/** Events of other companies while a busy cluster is measured. */
const busyPerSecond = 1_000;
const busyWidth = 64;

/**
 * Measures creates of leads, one at a time: from the request to its answer and to the arrival of its delivery, in a
 * quiet cluster, in a busy one, and in the reference monolith.
 */
export const benchLatency = async (context: BenchContext): Promise<void> => {
  const { say, options, toolchain, programs } = context;
  const { 'redis-server': redis } = await programs({ 'redis-server': 'redis-server' });
  const checkouts = options.beside === undefined ? [undefined] : [options.beside, undefined];
  const systems: System[] = [];
  for (const root of checkouts) {
    const name = root === undefined ? 'this checkout' : `commit ${commitOf(root)}`;
    say(`starting MySQL, the receiver and the cluster of ${name} …`);
    systems.push(await startSystem(context, name, root));
  }
  systems.push(await startReference(context, systems.at(-1)!, redis));
  for (const mode of modes)
    for (let round = 0; round <= options.rounds; round++)
      for (const system of systems) {
        const { created, events } = await runTurn(system, mode, options.seconds);
        const kept = round > 0;
        if (kept) system.created[mode].push(...created);
        if (kept && mode === 'busy') system.otherEvents.push(events / options.seconds);
        say(
          `${kept ? `round ${round}` : 'warm-up'}  ${mode}  ${system.name}:  ` +
            `answered p50 ${millis(p(answerMs(created), 0.5))}, arrived p50 ${millis(p(arrivalMs(created), 0.5))}`,
        );
      }
  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld, Redis: redis }),
    timesTable(systems),
  ];
  const times = (mode: Mode, share: number): string => {
    const [cluster, monolith] = systems.slice(-2).map(({ created }) => p(arrivalMs(created[mode]), share));
    return ratio(cluster! / monolith!);
  };
  publish('latency', options, howMeasured(options), tables, [
    ['one create at a time, sent → arrived: times the monolith', times('quiet', 0.5), '≤ 1.5×'],
    [`the same beside ${whole(busyPerSecond)} events/s, p99`, times('busy', 0.99), '≤ 1.5×'],
  ]);
};

const commitOf = (root: string): string =>
  execFileSync('git', ['-C', root, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

/** A cluster under measurement, with what was measured. */
interface System {
  readonly name: string;
  readonly creator: Creator;
  readonly tenants: readonly Tenant[];
  readonly mysqlUrl: string;
  /** Makes events of other companies. @returns how many. */
  readonly makeOthers: (seconds: number) => Promise<number>;
  /** Ends when the others' deliveries have arrived. */
  readonly settle: () => Promise<void>;
  readonly neighbours: readonly Tenant[];
  readonly created: Readonly<Record<Mode, Created[]>>;
  /** Of the busy turns that are kept. */
  readonly otherEvents: number[];
}

const modes = ['quiet', 'busy'] as const;
type Mode = (typeof modes)[number];

const startSystem = async (
  context: BenchContext,
  name: string,
  root: string | undefined,
): Promise<System> => {
  const { onEnd, options } = context;
  const world = await startDeliveryWorld(context, {
    root,
    home: makeHome(onEnd),
    args: options.startArgs,
  });
  const tenants = await world.tenants(tenantCount);
  const creator = await openCreator(world.cluster.stack.baseUrl, tenants);
  onEnd(() => creator.close());
  for (const tenant of tenants) await world.subscribe(tenant, creator.receiverUrl, ['lead.created']);
  const neighbours = await world.tenants(neighbourCount);
  for (const { id, key } of neighbours)
    await world.subscribe({ id, key }, `/counted/${id}`, ['client.created']);
  return {
    ...{ name, creator, tenants, neighbours, mysqlUrl: world.cluster.stack.mysqlUrl },
    makeOthers: (seconds) => steadyEvents(world.bus, neighbours, busyPerSecond, seconds, busyWidth),
    settle: world.settle,
    created: { quiet: [], busy: [] },
    otherEvents: [],
  };
};

/** On the MySQL of a cluster: a transaction, the answer, and a signed request of its own. Its other events are creates. */
const startReference = async (
  { env, onEnd }: BenchContext,
  { tenants, neighbours, mysqlUrl }: System,
  redis: Program,
): Promise<System> => {
  const home = makeHome(onEnd);
  mkdirSync(join(home, 'logs'));
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const creator = await openCreator(baseUrl, tenants);
  onEnd(() => creator.close());
  const others = new Pool(baseUrl, { connections: busyWidth });
  onEnd(() => others.close());
  await startMonolith({
    ...{ home, redis, onEnd, port },
    env: { ...env, MYSQL_URL: mysqlUrl, RATE_LIMIT_WRITE: '1000000', WEBHOOK_URL: creator.receiverUrl },
  });
  return {
    ...{ name: 'the monolith', creator, tenants, neighbours, mysqlUrl },
    makeOthers: (seconds) =>
      makeSteadily(
        (at) => createLead(others, neighbours[at % neighbours.length]!),
        busyPerSecond,
        seconds,
        busyWidth,
      ),
    // It remembers no delivery: what its connections hold has soon gone.
    settle: () => sleep(2000),
    created: { quiet: [], busy: [] },
    otherEvents: [],
  };
};

const runTurn = async (
  { creator, makeOthers, settle }: System,
  mode: Mode,
  seconds: number,
): Promise<{ readonly created: readonly Created[]; readonly events: number }> => {
  if (mode === 'quiet') return { created: await creator.createFor(seconds), events: 0 };
  const [created, events] = await Promise.all([creator.createFor(seconds), makeOthers(seconds)]);
  await settle();
  return { created, events };
};

const p = percentile;
const answerMs = (created: readonly Created[]) =>
  created.map(({ sentMs, answeredMs }) => answeredMs - sentMs);
const arrivalMs = (created: readonly Created[]) => created.map(({ sentMs, arrivedMs }) => arrivedMs - sentMs);
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const afterAnswerMs = (created: readonly Created[]) =>
  created.map(({ answeredMs, arrivedMs }) => arrivedMs - answeredMs);

const timesTable = (systems: readonly System[]): Table => ({
  title: 'One create at a time, p50 / p99 in ms',
  columns: ['', 'creates', 'sent → answered', 'answered → arrived', 'sent → arrived'],
  rows: systems.flatMap(({ name, created, otherEvents }) =>
    modes
      .filter((mode) => created[mode].length > 0)
      .map((mode) => [
        mode === 'quiet' ? `${name}, quiet` : `${name}, beside ${whole(mean(otherEvents))} events/s`,
        whole(created[mode].length),
        ...[answerMs, afterAnswerMs, arrivalMs].map((timesOf) => {
          const times = timesOf(created[mode]);
          return `${p(times, 0.5).toFixed(2)} / ${p(times, 0.99).toFixed(2)}`;
        }),
      ]),
  ),
});

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
Leads for ${tenantCount} companies in turn, over one connection: the next is sent some 20 ms after the delivery of the last has arrived at a
receiver in the same process. The monolith answers after its transaction and sends one signed request. Busy: beside ${whole(busyPerSecond)} events a second of ${neighbourCount} other companies, leads for the monolith, or as many as the machine takes. ${rounds} turns of ${seconds} s each after a warm-up.
`;

/** One create and its delivery, in milliseconds of this process's clock. */
interface Created {
  readonly sentMs: number;
  readonly answeredMs: number;
  /** May come before the answer. */
  readonly arrivedMs: number;
}

/** Creates leads one at a time and receives their deliveries. */
interface Creator {
  readonly receiverUrl: string;
  createFor(seconds: number): Promise<readonly Created[]>;
  close(): Promise<void>;
}

const createLead = async (pool: Pool, { key }: Tenant): Promise<number> => {
  const response = await pool.request({
    method: 'POST',
    path: '/api/v1/integrations/leads',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'ada@example.com',
      external_id: randomHex(12),
    }),
  });
  const answer = (await response.body.json()) as { client_id: number };
  if (response.statusCode !== 201) throw new Error(`no lead: ${JSON.stringify(answer)}`);
  return answer.client_id;
};

const pauseMs = 15;
const arrivalTimeoutMs = 10_000;

const openCreator = async (baseUrl: string, tenants: readonly Tenant[]): Promise<Creator> => {
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
    const sentMs = performance.now();
    const leadId = await createLead(pool, tenants[made++ % tenants.length]!);
    const answeredMs = performance.now();
    return { sentMs, answeredMs, arrivedMs: await arrivalOf(leadId) };
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
