import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readEnv } from '@causeway/runtime';
import { SetupError } from '../../deploy/local/setup-error.ts';
import { providePrograms } from '../../deploy/local/toolchain/provide.mjs';
import { giveUp } from '../../deploy/local/toolchain/terminal.mjs';
import { readToolchain } from '../../deploy/local/toolchain.ts';
import { benchActions } from './actions/bench.ts';
import { benchBatch } from './batch.ts';
import { benchDeliveries } from './deliveries/bench.ts';
import { type BenchContext, type BenchOptions, makeEnds } from './driver.ts';
import { benchGateway } from './gateway/bench.ts';
import { benchLatency } from './latency.ts';
import { benchMemory } from './memory.ts';
import { benchNeighbours } from './neighbours.ts';
import { benchPortal } from './portal/bench.ts';
import { goalsTable, toTerminal } from './report.ts';
import { runSearch } from './search/bench.ts';
import { benchSoak } from './soak/bench.ts';
import { benchStart } from './start.ts';

const usage = `Usage: npm run bench -- all|gateway|actions|batch|deliveries|latency|memory|neighbours|search|soak|start|portal [options]

  all                start, memory, latency, gateway and actions in short, and their figures beside their goals
  gateway            the whole path of a lookup, compared with a reference monolith
  actions            creates and updates of leads, compared with the same monolith
  batch              partial updates by external_id, in batches of one key at the default limits
  deliveries         webhooks from the event's row to the receiver, compared with undici alone
  latency            one create at a time: to its answer and to its delivery
  memory             what everything holds and works, at rest and under 1,000 events a second
  neighbours         how long a delivery takes, alone and beside receivers that hang or fail
  search             the client search over two million people
  soak               70 % of the highest rate for minutes: memory, times, each delivery once
  start              npm start, from a fresh clone and again
  portal             the first page and its response to input, in a slowed-down browser

  --write            write the figures to e2e/load/RESULTS.md
  --rounds N         turns of each, after a warm-up (5)
  --seconds N        length of a turn (8)
  --minutes N        soak: its length; batch: for how many 10,000 people each (10)
  --rate N           soak: requests per second, instead of 70 % of the highest rate
  --lookup NAME      gateway: employees or client-statuses (employees)
  --data DIR         search: keep the database in DIR, for the next run
  --beside DIR       latency: also measure the checkout in DIR, in alternate turns
  --gateways N, --crm N   gateway, actions, soak: processes of the cluster (1)
`;

const benches: Readonly<Record<string, (context: BenchContext) => Promise<void>>> = {
  actions: benchActions,
  batch: benchBatch,
  deliveries: benchDeliveries,
  gateway: benchGateway,
  latency: benchLatency,
  memory: benchMemory,
  neighbours: benchNeighbours,
  portal: benchPortal,
  search: runSearch,
  soak: benchSoak,
  start: benchStart,
};

const readOptions = (args: readonly string[]): { name: string; options: BenchOptions } => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      write: { type: 'boolean', default: false },
      beside: { type: 'string' },
      data: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '8' },
      minutes: { type: 'string', default: '10' },
      rate: { type: 'string' },
      lookup: { type: 'string', default: 'employees' },
      gateways: { type: 'string' },
      crm: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const number = (name: 'rounds' | 'seconds' | 'minutes' | 'rate', most: number): number => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new SetupError(`--${name} takes a whole number from 1 to ${most}, not "${values[name]}".`);
  };
  const startArgs = (['gateways', 'crm'] as const).flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  );
  return {
    name: values.help ? '' : (positionals[0] ?? ''),
    options: {
      rounds: number('rounds', 100),
      seconds: number('seconds', 40),
      minutes: number('minutes', 600),
      rate: values.rate === undefined ? undefined : number('rate', 100_000),
      path: values.lookup,
      write: values.write,
      beside: values.beside,
      data: values.data && resolve(values.data),
      startArgs,
    },
  };
};

/** Some fifteen minutes. A bench that fails leaves its goals out, and the others run. */
const benchAll = async (context: BenchContext): Promise<void> => {
  for (const [bench, rounds, seconds] of [
    [benchStart, 2, 1],
    [benchMemory, 3, 5],
    [benchLatency, 2, 8],
    [benchGateway, 3, 8],
    [benchActions, 3, 5],
  ] as const) {
    const { onEnd, end } = makeEnds();
    context.onEnd(end);
    try {
      await bench({ ...context, onEnd, options: { ...context.options, rounds, seconds } });
    } catch (error) {
      context.say(`✗ ${bench.name}: ${error}`);
      process.exitCode = 1;
    } finally {
      await end();
    }
  }
  process.stdout.write(`${toTerminal(goalsTable())}\n`);
};

const main = async (): Promise<void> => {
  const { name, options } = readOptions(process.argv.slice(2));
  const bench = name === 'all' ? benchAll : benches[name];
  if (!bench) {
    process.stdout.write(usage);
    return;
  }
  const { onEnd, end } = makeEnds();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().then(() => process.exit(130)));
  const env = readEnv();
  const { mysqld, natsServer } = readToolchain(env);
  if (!mysqld || !natsServer)
    throw new SetupError(
      'Benches start servers of their own: unset MYSQL_URL and NATS_URL and run the command again.',
    );
  try {
    await bench({
      env,
      toolchain: { mysqld, natsServer },
      programs: (wanted) => providePrograms(dirname(env.CAUSEWAY_TOOLCHAIN ?? ''), wanted),
      onEnd,
      say: (line) => process.stderr.write(`${line}\n`),
      options,
    });
  } finally {
    await end();
  }
};

await main().catch(giveUp);
