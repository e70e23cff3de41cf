import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Processes, readCpu, usedBetween } from './cpu.ts';
import { startDeliveryWorld, steadyEvents } from './deliveries/world.ts';
import { type BenchContext, makeEnds, makeHome } from './driver.ts';
import { describeMachine, type Goal, publish, type Table } from './report.ts';

const settleMs = 15_000;
const perSecond = 1_000;
const companies = 100;

/** Measures what everything holds and works at rest, and holds under load: in processes of their own, and together. */
export const benchMemory = async (context: BenchContext): Promise<void> => {
  const { options, toolchain } = context;
  const states: State[] = [];
  for (const args of [[], ['--together']]) states.push(await measure(context, args));
  publish(
    'memory',
    options,
    howMeasured(options),
    [
      await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
      sums(states),
      ...states.map(parts),
    ],
    states.slice(0, 1).flatMap(({ rest, load, perSecond: events }): Goal[] => [
      ['memory of everything at rest', mibText(sum(rest.mib)), '≤ 763 MiB'],
      [`memory under ${events} events/s`, mibText(sum(load.mib)), '≤ 1144 MiB'],
      ['CPU of everything at rest, of a core', cpuText(sum(rest.cpu)), '≤ 1 %'],
    ]),
  );
};

interface State {
  readonly name: string;
  readonly rest: Readings;
  readonly load: Readings;
  /** Fewer than asked for on a machine that is busy otherwise. */
  readonly perSecond: number;
}

interface Readings {
  readonly mib: ReadonlyMap<string, number>;
  /** Share of a core. */
  readonly cpu: ReadonlyMap<string, number>;
}

const measure = async (context: BenchContext, args: readonly string[]): Promise<State> => {
  const { say, options } = context;
  const { onEnd, end } = makeEnds();
  context.onEnd(end);
  const name = args.length > 0 ? 'in one process' : 'a process each';
  say(`starting the cluster, ${name} …`);
  const world = await startDeliveryWorld({ ...context, onEnd }, { home: makeHome(onEnd), args });
  const processes = new Map([...world.processes].filter(([process]) => process !== 'receiver'));
  await sleep(settleMs);
  const seconds = options.seconds * options.rounds;
  const rest = await read(processes, seconds);
  const tenants = await world.tenants(companies);
  for (const tenant of tenants) await world.subscribe(tenant, `/counted/${tenant.id}`, ['client.created']);
  const [load, events] = await Promise.all([
    read(processes, seconds),
    steadyEvents(world.bus, tenants, perSecond, seconds, 64),
  ]);
  await world.settle();
  await end();
  return { name, rest, load, perSecond: Math.round(events / seconds) };
};

/** @returns the most that each process held, once a second. */
const read = async (processes: Processes, seconds: number): Promise<Readings> => {
  const before = readCpu(processes);
  const mib = new Map<string, number>();
  for (let second = 0; second < seconds; second++) {
    await sleep(1000);
    for (const [name, pid] of processes) mib.set(name, Math.max(mib.get(name) ?? 0, pssOf(pid)));
  }
  const used = usedBetween(before, readCpu(processes));
  return { mib, cpu: new Map([...used].map(([name, { total }]) => [name, total / seconds])) };
};

/** Of pages that several processes share, each has its share. */
const pssOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;

const sum = (values: ReadonlyMap<string, number>): number => [...values.values()].reduce((a, b) => a + b, 0);
const mibText = (mib: number): string => `${Math.round(mib)} MiB`;
const cpuText = (share: number): string => `${(share * 100).toFixed(1)} %`;

const sums = (states: readonly State[]): Table => ({
  title: 'Everything',
  columns: ['services', 'at rest', 'CPU at rest, of a core', 'events/s', 'under these', 'CPU'],
  rows: states.map(({ name, rest, load, perSecond: events }) => [
    name,
    mibText(sum(rest.mib)),
    cpuText(sum(rest.cpu)),
    String(events),
    mibText(sum(load.mib)),
    cpuText(sum(load.cpu)),
  ]),
});

const parts = ({ name, rest, load }: State): Table => ({
  title: `By process, ${name}`,
  columns: ['process', 'at rest', 'CPU at rest, of a core', `under ${perSecond} events/s`, 'CPU'],
  isDetail: true,
  rows: [...rest.mib].map(([process, mib]) => [
    process,
    mibText(mib),
    cpuText(rest.cpu.get(process) ?? 0),
    mibText(load.mib.get(process) ?? 0),
    cpuText(load.cpu.get(process) ?? 0),
  ]),
});

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
The proportional set size of every process of \`npm start\`, MySQL, NATS and the supervisor included, once a second for ${rounds * seconds} s:
the sum of the most of each. At rest from ${settleMs / 1000} s after the start; then ${perSecond} events a second of ${companies} companies, with a delivery each.
`;
