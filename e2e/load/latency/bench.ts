import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CollectedSpan, openCollector } from '@causeway/runtime/testing/collector';
import type { BenchContext } from '../context.ts';
import { steadyEvents } from '../deliveries/events.ts';
import {
  type DeliveryWorld,
  type DeliveryWorldOptions,
  startDeliveryWorld,
  type Tenant,
} from '../deliveries/world.ts';
import { makeEnds, makeHome } from '../ends.ts';
import { profileTables, profilingEnv } from '../gateway/profile.ts';
import { millis, percentile, whole } from '../report/figures.ts';
import { describeMachine } from '../report/machine.ts';
import { writeResults } from '../report/results.ts';
import { type Table, toTerminal } from '../report/table.ts';
import { type Created, type Creator, openCreator } from './creator.ts';
import { stageTable } from './stages.ts';

const tenantCount = 20;
const neighbourCount = 100;
/** Events of other companies while a busy cluster is measured. */
const busyPerSecond = 1_000;
const busyWidth = 64;
const profiled = ['gateway-1', 'crm-1', 'dispatcher-1'];
/** Services export their spans once a second. */
const exportMs = 2_500;

/**
 * Measures creates of leads, one at a time: from the request to its answer and to the arrival of its delivery, in a
 * quiet cluster and in a busy one, and the time that each stage takes.
 */
export const benchLatency = async (context: BenchContext): Promise<void> => {
  const { say, options, toolchain } = context;
  const profiles = options.profile ? makeHome(context.onEnd) : undefined;
  const { onEnd, end } = makeEnds();
  context.onEnd(end);
  const checkouts = options.beside === undefined ? [undefined] : [options.beside, undefined];
  const systems: System[] = [];
  for (const root of checkouts) {
    const name = root === undefined ? 'this checkout' : `commit ${commitOf(root)}`;
    say(`starting MySQL, the receiver and the cluster of ${name} …`);
    systems.push(
      await startSystem(
        { ...context, onEnd },
        { root, name, settings: profiles ? profilingEnv(profiles) : {} },
      ),
    );
  }
  const modes: readonly Mode[] = options.quiet ? ['quiet'] : ['quiet', 'busy'];
  for (const mode of modes)
    for (let round = 0; round <= options.rounds; round++)
      for (const system of systems) {
        const created = await runTurn(system, mode, options.seconds);
        const kept = round > 0;
        if (kept) system.created[mode].push(...created);
        say(
          `${kept ? `round ${round}` : 'warm-up'}  ${mode}  ${system.name}:  ` +
            `answered p50 ${millis(p(answerMs(created), 0.5))}, arrived p50 ${millis(p(arrivalMs(created), 0.5))}`,
        );
      }
  await sleep(exportMs);
  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    timesTable(systems, modes),
    ...systems.map(({ name, created, spans }) => stageTable(name, modes, created, spans)),
  ];
  for (const table of tables) process.stdout.write(`${toTerminal(table)}\n`);
  await end();
  // The profiles are written when the processes end.
  for (const { world } of systems)
    for (const table of profiles ? profileTables(profiles, world.processes, profiled) : [])
      process.stdout.write(`${toTerminal(table)}\n`);
  if (options.write) writeResults('latency', howMeasured(options), tables);
};

const commitOf = (root: string): string =>
  execFileSync('git', ['-C', root, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

/** A cluster under measurement, with what was measured. */
interface System {
  readonly name: string;
  readonly world: DeliveryWorld;
  readonly creator: Creator;
  /** The companies of the other events. */
  readonly neighbours: readonly Tenant[];
  readonly created: Readonly<Record<Mode, Created[]>>;
  readonly spans: readonly CollectedSpan[];
}

export type Mode = 'quiet' | 'busy';

const startSystem = async (
  context: BenchContext,
  { root, name, settings }: Pick<System, 'name'> & Pick<DeliveryWorldOptions, 'root' | 'settings'>,
): Promise<System> => {
  const { onEnd, options } = context;
  const collector = await openCollector();
  onEnd(() => collector.close());
  const world = await startDeliveryWorld(context, {
    root,
    home: makeHome(onEnd),
    args: options.startArgs,
    settings: {
      ...settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      // Traces the requests that ask for it, and nothing else.
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    },
  });
  const tenants = await world.tenants(tenantCount);
  const creator = await openCreator(world.cluster.stack.baseUrl, tenants);
  onEnd(() => creator.close());
  for (const tenant of tenants) await world.subscribe(tenant, creator.receiverUrl, ['lead.created']);
  const neighbours = await world.tenants(neighbourCount);
  for (const { id, key } of neighbours)
    await world.subscribe({ id, key }, `/counted/${id}`, ['client.created']);
  return { name, world, creator, neighbours, created: { quiet: [], busy: [] }, spans: collector.spans };
};

const runTurn = async (
  { world, creator, neighbours }: System,
  mode: Mode,
  seconds: number,
): Promise<readonly Created[]> => {
  if (mode === 'quiet') return creator.createFor(seconds);
  const [created, events] = await Promise.all([
    creator.createFor(seconds),
    steadyEvents(world.bus, neighbours, busyPerSecond, seconds, busyWidth),
  ]);
  if (events < 0.95 * busyPerSecond * seconds) throw new Error(`${events} events in ${seconds} s: too few`);
  await world.settle();
  return created;
};

const p = percentile;
const untraced = (created: readonly Created[]) => created.filter(({ traceId }) => traceId === undefined);
const answerMs = (created: readonly Created[]) =>
  untraced(created).map(({ sentMs, answeredMs }) => answeredMs - sentMs);
const arrivalMs = (created: readonly Created[]) =>
  untraced(created).map(({ sentMs, arrivedMs }) => arrivedMs - sentMs);
const afterAnswerMs = (created: readonly Created[]) =>
  untraced(created).map(({ answeredMs, arrivedMs }) => arrivedMs - answeredMs);

const timesTable = (systems: readonly System[], modes: readonly Mode[]): Table => ({
  title: 'One create at a time, p50 / p99 in ms',
  columns: ['', 'creates', 'sent → answered', 'answered → arrived', 'sent → arrived'],
  rows: systems.flatMap(({ name, created }) =>
    modes.map((mode) => [
      `${name}, ${mode}`,
      whole(untraced(created[mode]).length),
      ...[answerMs, afterAnswerMs, arrivalMs].map((timesOf) => {
        const times = timesOf(created[mode]);
        return `${p(times, 0.5).toFixed(2)} / ${p(times, 0.99).toFixed(2)}`;
      }),
    ]),
  ),
});

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
Leads with a new \`external_id\` each, for ${tenantCount} companies in turn, over one connection to the gateway: the next is sent some
20 ms after the delivery of the last has arrived. The receiver runs in the process that sends, so one clock gives all
times; a delivery has arrived when its body is read. Busy: beside ${whole(busyPerSecond)} events a second of ${neighbourCount} other companies, each
with a subscription. ${rounds} turns of ${seconds} s each after a warm-up; MySQL flushes each commit to the disk. Every fourth
request is traced, for the table of stages, and left out of the other: tracing takes time too. A stage's time is the
time of its span without its child spans, as the median of its traces. The stages do not add up: those after the commit
run while the answer travels.

Tried for creates and dropped: event numbers that SQL computes from the counter's row instead of a round trip that reads
them (\`(SELECT last_sequence …) - n\` in each inserted row) took 1.29 instead of 1.40 ms for one event, but 11.3 instead
of 6.4 ms for 64, which is a busy service's case; with user variables 1.17 and 7.9 ms. Counting against the limits while
the lane already carries the call would save about a millisecond, but a refused call must change nothing.
`;
