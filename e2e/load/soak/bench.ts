import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StackProcess } from '../../../deploy/local/home.ts';
import { type Processes, readCpu, readMachineCpu, usedBetween } from '../cpu.ts';
import { startDeliveryWorld } from '../deliveries/world.ts';
import { type BenchContext, makeHome } from '../driver.ts';
import { describeMachine, median, micros, percentile, publish, type Table, whole } from '../report.ts';
import { type Kind, kinds, type Mix, openMix } from './mix.ts';

const companies = 101;
const employeesEach = 16;
/** Share of the highest rate. */
const load = 0.7;
/** Parts of the soak, each with figures of its own; a minute each by default. */
const parts = 10;
/** The first parts, in which caches and heaps fill. */
const warmParts = 2;
const samplesPerPart = 12;
/**
 * As a server for this much should have them (deploy/data/README.md): with a redo log of 100 MiB, the default, MySQL writes more and
 * more pages as its tables grow: 28 MB a second at the begin, 47 after eight minutes.
 */
const mysqlSizes = { bufferPoolMiB: 3072, redoLogMiB: 4096 };

/** Loads a cluster with 70 % of its highest rate: the memory of every process, the times, and every delivery once. */
export const benchSoak = async (context: BenchContext): Promise<void> => {
  const { onEnd, say, options, toolchain } = context;
  say('starting MySQL, the receiver and the cluster …');
  const world = await startDeliveryWorld(context, {
    home: makeHome(onEnd),
    args: options.startArgs,
    mysql: mysqlSizes,
  });
  const tenants = await world.tenants(companies);
  await world.write(
    'INSERT INTO employees (company_id, role_id, first_name, last_name, email, is_approved) VALUES ?',
    [
      tenants.flatMap(({ id }) =>
        Array.from({ length: employeesEach }, (_, at) => [id, 1, 'Ada', `L${at}`, `a${at}@example.com`, 1]),
      ),
    ],
  );
  for (const tenant of tenants) await world.subscribe(tenant, `/counted/${tenant.id}`, ['lead.created']);
  const mix = openMix(world.cluster.stack.baseUrl, tenants);
  onEnd(() => mix.close());
  const arrived = async () => (await world.count(true)).deliveries;

  say('looking for the highest rate …');
  const settled = async () => {
    await world.settle();
    while ((await world.number(waitingForSearch)) > 0) await sleep(50);
  };
  await highestRate(mix, arrived, settled, options.seconds);
  const highest = await highestRate(mix, arrived, settled, options.seconds);
  const perSecond = options.rate ?? Math.floor(highest * load);
  const partSeconds = (options.minutes * 60) / parts;
  say(`highest rate ${whole(highest)} requests/s; ${options.minutes} minutes at ${whole(perSecond)}`);

  const memory = watchMemory(world.processes, world.cluster.stack.processes);
  const measured: Part[] = [];
  let known = (await world.count()).elapsedMs.length;
  for (let at = 1; at <= parts; at++) {
    const elapsedMs: Record<Kind, number[]> = { lookup: [], search: [], create: [], update: [] };
    const before = { cpu: readCpu(world.processes), machine: readMachineCpu(), own: process.cpuUsage() };
    const pauses = monitorEventLoopDelay({ resolution: 5 });
    pauses.enable();
    const sampling = sampleTimes(memory.sample, partSeconds);
    await mix.sendSteadily({
      perSecond,
      seconds: partSeconds,
      answered: (kind, ms) => elapsedMs[kind].push(ms),
    });
    await sampling;
    pauses.disable();
    const used = [...usedBetween(before.cpu, readCpu(world.processes)).values()];
    const cpuSeconds = used.reduce((sum, { total }) => sum + total, 0);
    const { user, system } = process.cpuUsage(before.own);
    const busy = readMachineCpu() - before.machine;
    const elsewhere = busy - cpuSeconds - (user + system) / 1e6;
    const arrivals = (await world.count()).elapsedMs;
    const part: Part = {
      elapsedMs,
      arrivalMs: arrivals.slice(known),
      cpuSeconds,
      coresBusy: busy / partSeconds,
      coresElsewhere: Math.max(0, elsewhere / partSeconds),
      pauseMs: pauses.max / 1e6,
    };
    known = arrivals.length;
    measured.push(part);
    say(`part ${at} of ${parts}: ${rowOf(part).join('  ')}`);
  }
  await world.settle();
  const all = await world.count(true);
  const created = mix.created();
  publish('soak', options, howMeasured(context.options), [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    {
      title: 'Load and deliveries',
      columns: ['', ''],
      rows: [
        ['highest rate, requests/s', whole(highest)],
        ['rate of the soak, requests/s', whole(perSecond)],
        ['leads created, each with one delivery', whole(created)],
        ['deliveries that arrived', whole(all.deliveries)],
        ['of these, distinct', whole(all.distinct)],
      ],
    },
    timesTable(measured, options.minutes / parts),
    memory.table(warmParts * samplesPerPart, options.minutes / parts / samplesPerPart),
  ]);
  if (all.deliveries !== created || all.distinct !== created)
    throw new Error(
      `${created} leads created, ${all.deliveries} deliveries arrived, ${all.distinct} distinct`,
    );
};

interface Part {
  /** From the time at which a request was due to its answer. */
  readonly elapsedMs: Readonly<Record<Kind, readonly number[]>>;
  /** From an event's time to its arrival, in whole milliseconds. */
  readonly arrivalMs: readonly number[];
  readonly cpuSeconds: number;
  /** Of the machine, by everything. */
  readonly coresBusy: number;
  readonly coresElsewhere: number;
  /** The longest turn of the load generator's own loop. */
  readonly pauseMs: number;
}

const callers = 64;
/** Clients of companies that have so many that the indexer takes them. */
const waitingForSearch = `
  SELECT COUNT(*) AS n FROM (SELECT company_id FROM client_search_pending GROUP BY company_id HAVING COUNT(*) >= 64) AS busy`;
/** Deliveries under way at the highest rate: a rate that builds up a backlog is none. */
const maxDeliveries = 500;

/**
 * As fast as requests are answered and delivered. What is done after the answers, such as indexing for the search, takes its part
 * of the time. @returns requests per second
 */
const highestRate = async (
  mix: Mix,
  arrived: () => Promise<number>,
  settled: () => Promise<void>,
  seconds: number,
): Promise<number> => {
  let behind = 0;
  const watching = setInterval(async () => {
    behind = mix.created() - (await arrived());
  }, 50);
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      if (behind > maxDeliveries) await sleep(2);
      else {
        await mix.send();
        sent++;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  clearInterval(watching);
  await settled();
  return (sent * 1000) / (performance.now() - startedMs);
};

const sampleTimes = async (sample: () => Promise<void>, seconds: number): Promise<void> => {
  for (let at = 0; at < samplesPerPart; at++) {
    await sleep((seconds * 1000) / samplesPerPart);
    await sample();
  }
};

const rowOf = ({ elapsedMs, arrivalMs, cpuSeconds, coresBusy, coresElsewhere, pauseMs }: Part): string[] => {
  const requests = kinds.reduce((sum, kind) => sum + elapsedMs[kind].length, 0);
  const times = [...kinds.map((kind) => elapsedMs[kind]), arrivalMs];
  return [
    whole(requests),
    ...times.map((ms) => `${percentile(ms, 0.5).toFixed(1)} / ${percentile(ms, 0.99).toFixed(1)}`),
    micros((cpuSeconds * 1e6) / requests),
    coresBusy.toFixed(2),
    coresElsewhere.toFixed(2),
    whole(pauseMs),
  ];
};

const timesTable = (measured: readonly Part[], minutes: number): Table => ({
  title: 'p50 / p99 in ms',
  columns: [
    'until',
    'requests',
    ...kinds,
    'delivery',
    'CPU µs/request',
    'cores busy',
    'cores elsewhere',
    'generator paused',
  ],
  rows: measured.map((part, at) => [`minute ${Number(((at + 1) * minutes).toFixed(1))}`, ...rowOf(part)]),
});

const howMeasured = ({ minutes, rate, startArgs }: BenchContext['options']): string => `
A cluster as \`npm start${startArgs.length > 0 ? ` -- ${startArgs.join(' ')}` : ''}\` runs it, on a MySQL server with a buffer pool of ${mysqlSizes.bufferPoolMiB / 1024} GiB, gets ${minutes} minutes of
${rate === undefined ? `${load * 100} % of its highest rate` : `${rate} requests a second`} (that of ${callers} callers, delivered and indexed): of ten requests six lookups, two creates of leads, an update and a
search, of ${companies} companies. Times count from when a request was due, those of deliveries from the event's. The memory is sampled
${samplesPerPart} times in each of ${parts} parts, after the first ${warmParts}: \`VmRSS\`, and for Node the least used heap and buffers, in which a leak would show; growth is the
slope through all samples. MySQL grows until its buffer pool is full. Each created lead arrived exactly once.
`;

/** The memory of every process, sampled at equal distances. */
interface MemorySamples {
  sample(): Promise<void>;
  /** @param warmUp the first samples, which do not count. @param minutes between two samples */
  table(warmUp: number, minutes: number): Table;
}

/** @param stack processes that tell their heap and buffers by their metrics */
const watchMemory = (processes: Processes, stack: readonly StackProcess[]): MemorySamples => {
  const series = new Map<string, number[]>();
  const add = (name: string, mib: number): void => {
    series.set(name, [...(series.get(name) ?? []), mib]);
  };
  return {
    sample: async () => {
      for (const [name, pid] of processes) add(name, residentMib(pid));
      for (const { name, metricsUrl } of stack)
        if (metricsUrl) {
          const text = await (await fetch(`${metricsUrl}/metrics`)).text();
          for (const [part, metric] of Object.entries(ofNode)) {
            const bytes = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1];
            if (bytes) add(`${name}, ${part}`, Number(bytes) / 2 ** 20);
          }
        }
    },
    table: (warmUp, minutes) => ({
      title: 'Memory after the warm-up, MiB',
      columns: ['process', 'first third', 'last third', 'least', 'most', 'growth a minute'],
      rows: [...series]
        .toSorted(([one], [other]) => one.localeCompare(other))
        .map(([name, all]) => {
          const samples = all.slice(warmUp);
          const third = Math.max(1, Math.floor(samples.length / 3));
          return [
            name,
            ...[
              // What V8 collects grows between two collections: its least value is nearest to what is in use.
              ...[samples.slice(0, third), samples.slice(-third)].map((part) =>
                name.includes(',') ? Math.min(...part) : median(part),
              ),
              Math.min(...samples),
              Math.max(...samples),
            ].map((mib) => mib.toFixed(1)),
            (slope(samples) / minutes).toFixed(2),
          ];
        }),
    }),
  };
};

const ofNode = { heap: 'nodejs_heap_size_used_bytes', buffers: 'nodejs_external_memory_bytes' } as const;

const residentMib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** Of the line with the least squares, a step. */
const slope = (values: readonly number[]): number => {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let product = 0;
  let square = 0;
  for (const [at, value] of values.entries()) {
    product += (at - middle) * (value - mean);
    square += (at - middle) ** 2;
  }
  return square === 0 ? 0 : product / square;
};
