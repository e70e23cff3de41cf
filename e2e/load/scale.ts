import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Program } from '../../deploy/local/toolchain.ts';
import { type DeliveryWorld, startDeliveryWorld } from './deliveries/world.ts';
import { type BenchContext, makeEnds, makeHome } from './driver.ts';
import { loadGenerator, measure, type Round } from './gateway/rounds.ts';
import { runWrk } from './gateway/wrk.ts';
import {
  describeMachine,
  median,
  micros,
  millis,
  publish,
  ratio,
  type Table,
  whole,
  withRange,
} from './report.ts';

/** Processes of the gateway and of crm. */
const shapes = [
  [1, 1],
  [2, 1],
  [1, 2],
  [2, 2],
  [4, 4],
] as const;
const kinds = ['lookup', 'create'] as const;
type Kind = (typeof kinds)[number];
const connections = 64;
const companies = 100;
const employeesEach = 16;

/** Measures lookups and creates with more and more gateways and crm processes, and finds what saturates first. */
export const benchScale = async (context: BenchContext): Promise<void> => {
  const { say, options, toolchain, programs } = context;
  const { wrk } = await programs({ wrk: 'wrk' });
  const measured: Measured[] = [];
  for (const [gateways, crm] of shapes) {
    const { onEnd, end } = makeEnds();
    context.onEnd(end);
    const home = makeHome(onEnd);
    const name = `${gateways} × ${crm}`;
    say(`starting MySQL and a cluster with ${name} gateways and crm processes …`);
    const world = await startDeliveryWorld(
      { ...context, onEnd },
      { home, args: ['--gateways', `${gateways}`, '--crm', `${crm}`] },
    );
    const run = await openLoad(world, { wrk, home, seconds: options.seconds });
    const one: Measured = { name, lookup: [], create: [] };
    for (const kind of kinds)
      for (let round = 0; round <= options.rounds; round++) {
        const result = await measure(world, () => run(kind, round));
        const { statusErrors, socketErrors, requestsPerSecond } = result.load;
        if (statusErrors + socketErrors > 0)
          throw new Error(`${statusErrors + socketErrors} ${kind}s failed`);
        say(
          `${round === 0 ? 'warm-up' : `round ${round}`}  ${name}  ${kind}  ${whole(requestsPerSecond)} requests/s  ${saturated(result)}`,
        );
        if (round > 0) one[kind].push(result);
        await world.settle();
      }
    measured.push(one);
    await end();
  }
  publish('scale', options, howMeasured(options), [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld, wrk }),
    ...kinds.flatMap((kind) => [rateTable(measured, kind), cpuTable(measured, kind)]),
  ]);
};

interface Measured extends Readonly<Record<Kind, Round[]>> {
  readonly name: string;
}

/** Fills the companies. @returns a run of the load generator, with one key after another. */
const openLoad = async (
  world: DeliveryWorld,
  { wrk, home, seconds }: { readonly wrk: Program; readonly home: string; readonly seconds: number },
) => {
  const tenants = await world.tenants(companies);
  await world.write(
    'INSERT INTO employees (company_id, role_id, first_name, last_name, email, is_approved) VALUES ?',
    [
      tenants.flatMap(({ id }) =>
        Array.from({ length: employeesEach }, (_, at) => [id, 1, 'Ada', `L${at}`, `a${at}@example.com`, 1]),
      ),
    ],
  );
  const [keysFile, createsFile] = [join(home, 'keys'), join(home, 'creates')];
  writeFileSync(keysFile, `${tenants.map(({ key }) => key).join('\n')}\n`, { mode: 0o600 });
  writeFileSync(createsFile, `${tenants.map(({ key }) => `${key} 0`).join('\n')}\n`, { mode: 0o600 });
  const { baseUrl } = world.cluster.stack;
  const common = { wrk, connections, seconds, keysFile, firstKey: 0 };
  return (kind: Kind, round: number) =>
    runWrk(
      kind === 'lookup'
        ? { ...common, url: `${baseUrl}/api/v1/integrations/lookups/employees` }
        : { ...common, url: baseUrl, script: [writeLeads, 'create', createsFile, '0', `scale-${round}`] },
    );
};

const writeLeads = join(import.meta.dirname, 'actions', 'write-leads.lua');

const rateTable = (measured: readonly Measured[], kind: Kind): Table => {
  const rate = ({ load }: Round) => load.requestsPerSecond;
  const first = median(measured[0]![kind].map(rate));
  return {
    title: `${kind === 'lookup' ? 'Lookups' : 'Creates'}, ${connections} connections`,
    columns: [
      'gateways × crm',
      'saturates first',
      'requests/s',
      'of the first',
      'p50',
      'p99',
      'CPU µs/request',
    ],
    texts: 2,
    rows: measured.map(({ name, [kind]: rounds }) => [
      name,
      mostFrequent(rounds.map(saturated)),
      withRange(rounds.map(rate), whole),
      ratio(median(rounds.map(rate)) / first),
      millis(median(rounds.map(({ load }) => load.p50Ms))),
      millis(median(rounds.map(({ load }) => load.p99Ms))),
      withRange(
        rounds.map((round) => perRequest(round, (process) => process !== loadGenerator)),
        micros,
      ),
    ]),
  };
};

const groups: Readonly<Record<string, RegExp>> = {
  gateways: /^gateway-/,
  crm: /^crm-/,
  NATS: /^nats/,
  MySQL: /^mysql/,
  'access, webhooks, dispatcher': /^(?:access|webhooks|dispatcher)-/,
  [loadGenerator]: new RegExp(`^${loadGenerator}$`),
};

const cpuTable = (measured: readonly Measured[], kind: Kind): Table => ({
  title: `${kind === 'lookup' ? 'Lookups' : 'Creates'}: CPU microseconds per request`,
  columns: ['part', ...measured.map(({ name }) => name)],
  rows: Object.entries(groups).map(([label, pattern]) => [
    label,
    ...measured.map(({ [kind]: rounds }) =>
      micros(median(rounds.map((round) => perRequest(round, (process) => pattern.test(process))))),
    ),
  ]),
});

const perRequest = ({ load, cpu }: Round, isPart: (process: string) => boolean): number =>
  ([...cpu].reduce((sum, [name, { total }]) => (isPart(name) ? sum + total : sum), 0) * 1e6) / load.requests;

/** The share of its processors above which the machine, or of one processor above which a process, is saturated. */
const saturation = 0.92;
/** Programs that compute in one thread. */
const singleThreaded = new RegExp(`^(?:gateway|access|crm|webhooks)-|^${loadGenerator}$`);

/** What limits the rate: all processors, a process that cannot use another one, or else waits (disk, locks, batches). */
const saturated = ({ load, cpu, coresElsewhere }: Round): string => {
  const seconds = load.requests / load.requestsPerSecond;
  const cores = availableParallelism();
  const uses = [...cpu].map(([name, { total }]) => [name, total / seconds] as const);
  const busy = uses.reduce((sum, [, use]) => sum + use, coresElsewhere);
  const busiest = uses.reduce((one, other) => (other[1] > one[1] ? other : one));
  const single = uses.find(([name, use]) => use >= saturation && singleThreaded.test(name));
  if (busy >= saturation * cores) return `all ${cores} processors, most by ${busiest[0]}`;
  return single ? single[0] : `none; most by ${busiest[0]}`;
};

const mostFrequent = (texts: readonly string[]): string =>
  [...Map.groupBy(texts, (text) => text)].reduce((one, other) =>
    other[1].length > one[1].length ? other : one,
  )[0];

const howMeasured = ({ rounds, seconds }: BenchContext['options']): string => `
\`GET /integrations/lookups/employees\` and \`POST /integrations/leads\` over the keys of ${companies} companies, one after another, as
\`npm start\` runs the cluster with these numbers of gateways and crm processes, on a MySQL server of its own that flushes each
commit to the disk; one process of every other service. ${rounds} turns of ${seconds} s each after a warm-up. The load generator
shares the machine. A part is saturated when it uses ${saturation * 100} % of what it can use: the machine of all its processors, a process with
one thread of one. "None" means that requests wait for something else: the disk, a lock, or the next batch. The
figures are medians of the turns, with minimum and maximum in parentheses.
`;
