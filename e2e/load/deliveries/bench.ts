import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Cpu, readCpu, usedBetween } from '../cpu.ts';
import { type BenchContext, makeEnds, makeHome } from '../driver.ts';
import { describeMachine, median, micros, publish, ratio, type Table, whole, withRange } from '../report.ts';
import { type DeliveryWorld, makeEvents, startDeliveryWorld, type Tenant } from './world.ts';

const tenantCount = 20;
const concurrency = 64;
/** Number of subscriptions that each event goes to. */
const fanOuts = [1, 10] as const;
const dispatcherCounts = [1, 2] as const;

/** Compares deliveries from end to end with the same requests sent by undici alone, in alternate turns. */
export const benchDeliveries = async (context: BenchContext): Promise<void> => {
  const { say, options, toolchain } = context;
  const measured: Measured[] = [];
  let storage: Table | undefined;
  for (const dispatchers of dispatcherCounts) {
    const { onEnd, end } = makeEnds();
    context.onEnd(end);
    const home = makeHome(onEnd);
    say(`starting MySQL, the receiver and a cluster with ${dispatchers} dispatcher(s) …`);
    const world = await startDeliveryWorld(
      { ...context, onEnd },
      { home, args: ['--dispatchers', `${dispatchers}`, ...options.startArgs] },
    );
    for (const copies of fanOuts) {
      const tenants = await world.tenants(tenantCount);
      for (const tenant of tenants)
        for (let at = 0; at < copies; at++)
          await world.subscribe(tenant, `/counted/${tenant.id}/${at}`, ['client.created']);
      const one: Measured = { dispatchers, copies, cluster: [], alone: [] };
      for (let round = 0; round <= options.rounds; round++) {
        const cluster = await deliverTurn(world, { tenants, copies, seconds: options.seconds });
        const alone = await postTurn(world, { concurrency, seconds: options.seconds });
        say(
          `${round === 0 ? 'warm-up' : `round ${round}`}  ${dispatchers} dispatcher(s), ${copies} per event:  ` +
            `${whole(cluster.perSecond)}/s, undici alone ${whole(alone.perSecond)}/s, ` +
            ratio(cluster.perSecond / alone.perSecond),
        );
        if (round === 0) continue;
        one.cluster.push(cluster);
        one.alone.push(alone);
      }
      measured.push(one);
    }
    storage = await storageTable(world);
    await end();
  }
  const tables = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    rateTable(measured),
    cpuTable(measured),
    ...(storage ? [storage] : []),
  ];
  publish('deliveries', options, howMeasured(options), tables);
};

interface Measured {
  readonly dispatchers: number;
  readonly copies: number;
  readonly cluster: Turn[];
  readonly alone: Turn[];
}

const nameOf = ({ dispatchers, copies }: Measured): string =>
  `${dispatchers} dispatcher${dispatchers > 1 ? 's' : ''}, ${copies} per event`;

const rateTable = (measured: readonly Measured[]): Table => ({
  title: 'Deliveries from end to end',
  columns: ['', 'delivered/s', 'undici alone/s', 'ratio', 'deliveries'],
  rows: measured.map((one) => [
    nameOf(one),
    withRange(
      one.cluster.map(({ perSecond }) => perSecond),
      whole,
    ),
    withRange(
      one.alone.map(({ perSecond }) => perSecond),
      whole,
    ),
    withRange(
      one.cluster.map(({ perSecond }, at) => perSecond / (one.alone[at]?.perSecond ?? Number.NaN)),
      ratio,
    ),
    whole(one.cluster.reduce((sum, { delivered }) => sum + delivered, 0)),
  ]),
});

const cpuTable = (measured: readonly Measured[]): Table => {
  const processes = [...new Set(measured.flatMap(({ cluster }) => [...(cluster[0]?.cpu.keys() ?? [])]))];
  return {
    title: 'CPU microseconds per delivery',
    isDetail: true,
    columns: ['process', ...measured.map(nameOf)],
    rows: processes.map((process) => [
      process,
      ...measured.map(({ cluster }) =>
        micros(
          median(cluster.map(({ cpu, delivered }) => ((cpu.get(process)?.total ?? 0) * 1e6) / delivered)),
        ),
      ),
    ]),
  };
};

/** InnoDB's own estimate of the pages in use, by the rows in them. */
const storageTable = async (world: DeliveryWorld): Promise<Table> => {
  const rows: string[][] = [];
  for (const name of ['deliveries', 'delivery_attempts', 'events']) {
    await world.write(`ANALYZE TABLE ${name}`);
    const sizeOf = (column: string) =>
      world.number(`SELECT SUM(${column}) AS n FROM information_schema.tables WHERE table_name = '${name}'`);
    const count = await world.number(`SELECT COUNT(*) AS n FROM ${name}`);
    const [data, index] = [await sizeOf('data_length'), await sizeOf('index_length')];
    rows.push([name, whole(count), whole(data / count), whole(index / count)]);
  }
  return { title: 'Storage', columns: ['table', 'rows', 'bytes a row', 'bytes of its keys'], rows };
};

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
Events come in by \`events.ingest\` for ${tenantCount} companies; each is committed, matched, signed, posted to a receiver on this machine and
recorded, exactly once. ${rounds} turns of ${seconds} s each after a warm-up, in turn with undici alone, which posts the same request to the same
receiver, ${concurrency} at a time. Medians, with minimum and maximum in parentheses.
`;

/** One turn: the arrivals, and the CPU time of each process. */
interface Turn {
  readonly perSecond: number;
  readonly delivered: number;
  readonly cpu: ReadonlyMap<string, Cpu>;
}

/** Maximum events in flight: enough to fill every batch, few enough that they do not only wait. */
const onTheirWay = 2_000;
/** Time to fill batches before counting begins. */
const warmMs = 1_500;

/**
 * Creates events in MySQL for `seconds`, each delivered to `copies` subscriptions. Afterwards every delivery has
 * arrived exactly once and is recorded. @throws otherwise.
 */
const deliverTurn = async (
  world: DeliveryWorld,
  { tenants, copies, seconds }: { tenants: readonly Tenant[]; copies: number; seconds: number },
): Promise<Turn> => {
  await world.reset();
  const recordedBefore = await world.number(recorded);
  let arrived = 0;
  const watching = setInterval(async () => {
    arrived = (await world.count(true)).deliveries;
  }, 50);
  const events = makeEvents(world.bus, tenants, {
    width: 64,
    mayGoOn: (made) => made * copies - arrived < onTheirWay,
  });
  await sleep(warmMs);
  const processes = new Map([...world.processes, ['event source', process.pid]]);
  const before = readCpu(processes);
  const first = (await world.count(true)).deliveries;
  const startedMs = performance.now();
  await sleep(seconds * 1000);
  const delivered = (await world.count(true)).deliveries - first;
  const elapsedSeconds = (performance.now() - startedMs) / 1000;
  const cpu = usedBetween(before, readCpu(processes));
  const made = await events.stop();
  clearInterval(watching);
  await world.settle();
  const all = await world.count(true);
  if (all.deliveries !== made * copies || all.distinct !== made * copies)
    throw new Error(
      `${made} events created, ${all.deliveries} deliveries arrived, ${all.distinct} of them distinct`,
    );
  const kept = (await world.number(recorded)) - recordedBefore;
  if (kept !== made * copies)
    throw new Error(`${made * copies} deliveries were made, ${kept} attempts are recorded`);
  return { perSecond: delivered / elapsedSeconds, delivered, cpu };
};

const recorded = 'SELECT COUNT(*) AS n FROM delivery_attempts';

/** Posts the same request with undici alone, in a process of its own. */
const postTurn = async (
  world: DeliveryWorld,
  { concurrency, seconds }: { concurrency: number; seconds: number },
): Promise<Turn> => {
  const { sample } = await world.count(true);
  if (!sample) throw new Error('there is no delivery to post again');
  const before = readCpu(world.processes);
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'post.ts'),
    `${world.receiverUrl}/counted/alone`,
    `${concurrency}`,
    `${seconds}`,
    JSON.stringify(sample),
  ]);
  const cpu = usedBetween(before, readCpu(world.processes));
  const { requests, seconds: elapsed } = JSON.parse(stdout) as { requests: number; seconds: number };
  return { perSecond: requests / elapsed, delivered: requests, cpu };
};
