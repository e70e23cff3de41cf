import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, makeHome } from '../driver.ts';
import { describeMachine, millis, publish, whole } from '../report.ts';
import { type Round, runRounds } from './rounds.ts';
import { cpuTable, loadTable } from './tables.ts';
import { companies, employeesPerCompany, startWorld } from './world.ts';

const lookups = '/api/v1/integrations/lookups';
const connections = 64;

/** Measures the whole path of a lookup. */
export const benchGateway = async (context: BenchContext): Promise<void> => {
  const { toolchain, programs, say, options } = context;
  const { rounds, seconds, path: lookup } = options;
  const { wrk } = await programs({ wrk: 'wrk' });
  const home = makeHome(context.onEnd);
  say('starting MySQL and the cluster …');
  const world = await startWorld(context, home);
  const keysFile = join(home, 'keys');
  writeFileSync(keysFile, `${world.data.keys.join('\n')}\n`, { mode: 0o600 });

  const path = `${lookups}/${lookup}`;
  const line = (round: number, { load, exactness }: Round) =>
    say(
      [
        round === 0 ? 'warm-up' : `round ${round}`,
        `${whole(load.requestsPerSecond).padStart(7)} requests/s  p50 ${millis(load.p50Ms)}  p99 ${millis(load.p99Ms)}`,
        ...(exactness
          ? [exactness.exact ? 'counters exact' : `COUNTERS WRONG ${JSON.stringify(exactness)}`]
          : []),
      ].join('  '),
    );
  const common = { wrk, keysFile, path, rounds, say: line };
  say(`${connections} connections, ${seconds} s a turn`);
  const full = await runRounds(world, { ...common, seconds, connections, checkCounters: true });
  say('one sequential client');
  const single = await runRounds(world, {
    ...common,
    seconds: Math.min(seconds, 4),
    connections: 1,
    checkCounters: false,
  });

  const columns = { [`${connections} connections`]: full, 'one sequential client': single };
  publish('gateway', options, howMeasured(options, world.data.keys.length), [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld, wrk }),
    loadTable(columns, `GET ${path}`),
    cpuTable(columns),
  ]);
  if (full.some(({ exactness, load }) => !exactness?.exact || load.statusErrors > 0))
    throw new Error('counters were not exact, or requests failed: these figures are not valid');
};

const howMeasured = ({ rounds, seconds, startArgs }: BenchContext['options'], keys: number): string => `
A lookup as \`npm start${startArgs.length > 0 ? ` -- ${startArgs.join(' ')}` : ''}\` runs it, with ${keys} keys of ${companies} companies of ${employeesPerCompany} employees, one key after the other.
${rounds} turns of ${seconds} s each after a warm-up: medians, with minimum and maximum in parentheses. Load generator, servers and database
share the machine. After each turn the sum of all counts is the number of requests sent, and keys with a small limit that get
three times as many requests over ${connections} connections admit exactly their limit; else the figures are not valid.
`;
