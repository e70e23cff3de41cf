import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, makeHome } from '../driver.ts';
import { describeMachine, millis, publish, whole } from '../report.ts';
import { type Round, runRounds } from './rounds.ts';
import { cpuTable, exactnessTable, loadTable, ratiosOf, sequentialTable, writesTable } from './tables.ts';
import { companies, employeesPerCompany, startWorld } from './world.ts';

const lookups = '/api/v1/integrations/lookups';
const connections = 64;

/** Compares the cluster with the reference monolith on one MySQL server, in alternate turns under the same load. */
export const benchGateway = async (context: BenchContext): Promise<void> => {
  const { toolchain, programs, say, options } = context;
  const { rounds, seconds, path: lookup } = options;
  const { wrk, 'redis-server': redis } = await programs({ wrk: 'wrk', 'redis-server': 'redis-server' });
  const home = makeHome(context.onEnd);
  say('starting MySQL, the cluster, Redis and the monolith …');
  const world = await startWorld(context, { home, redis });
  const { data } = world;
  const keysFile = join(home, 'keys');
  writeFileSync(keysFile, `${data.keys.join('\n')}\n`, { mode: 0o600 });

  const path = `${lookups}/${lookup}`;
  const line = (round: number, name: string, { load, exactness }: Round) =>
    say(
      [
        `${round === 0 ? 'warm-up' : `round ${round}`}  ${name.padEnd(8)}`,
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

  const tables = [
    await describeMachine({
      'nats-server': toolchain.natsServer,
      MySQL: toolchain.mysqld,
      Redis: redis,
      wrk,
    }),
    loadTable(full, `${connections} connections`),
    cpuTable(full),
    exactnessTable(full),
    sequentialTable(single),
    writesTable(full, single),
  ];
  const { requests, cpu } = ratiosOf(full);
  publish('gateway', options, howMeasured(options, data.keys.length), tables, [
    [`lookups, ${connections} connections: times the monolith`, requests, '≥ 3×'],
    ['their CPU against the monolith’s', cpu, '≤ 0.27×'],
  ]);
  const wrong = Object.values(full)
    .flat()
    .filter(({ exactness, load }) => !exactness?.exact || load.statusErrors > 0);
  if (wrong.length > 0)
    throw new Error('counters were not exact, or requests failed: these figures are not valid');
};

const howMeasured = ({ rounds, seconds, path, startArgs }: BenchContext['options'], keys: number): string => `
The whole path of \`GET ${lookups}/${path}\`, as \`npm start${startArgs.length > 0 ? ` -- ${startArgs.join(' ')}` : ''}\` runs it,
against the reference monolith (\`monolith/\`: one Fastify process, ioredis with one fixed-window script per request,
mysql2 with prepared statements, all keys in memory, Redis without persistence). Both run on the same MySQL with the
same ${companies} companies of ${employeesPerCompany} employees and ${keys} keys, and
write one log entry per request. wrk uses the keys in turn, one per request; load generator, servers and databases share the
machine. The systems take turns, ${rounds} of ${seconds} s each after a warm-up, never at the same time. The
figures are medians of the turns, with minimum and maximum in parentheses; ratios compare neighbouring turns.

After each turn the bench reads the count of every key: their sum must be the number of requests sent (wrk ends with up
to one request per connection in flight, hence the two bounds). Then keys with a small limit get three times as many
requests over ${connections} connections: exactly the limit may be admitted.
`;
