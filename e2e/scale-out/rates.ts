import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scopes } from '@causeway/proto';
import type { World } from '../api/support/open.ts';
import { openPlace } from '../faults/scene.ts';
import type { Processes } from '../load/cpu.ts';
import { measure, type Round } from '../load/gateway/rounds.ts';
import { cpuTable, loadTable } from '../load/gateway/tables.ts';
import { runWrk } from '../load/gateway/wrk.ts';
import { type Table, whole } from '../load/report.ts';
import { type Outcome, root, type Stage } from './stage.ts';

const companies = 24;
const employeesEach = 16;
const settings = { RATE_LIMIT_READ: '1000000000', RATE_LIMIT_WRITE: '1000000000' };

/** One of the two databases, with a cluster on it. */
interface System {
  readonly name: 'Vitess' | 'MySQL';
  readonly world: World;
  /** One `<key> 0` per line, for creates. */
  readonly createsFile: string;
  /** One key per line, for lookups. */
  readonly keysFile: string;
  readonly processes: () => Processes;
}

type Rounds = Readonly<Record<System['name'], readonly Round[]>>;

/** Creates and lookups on Vitess and on one plain MySQL server, in alternate turns. */
export const compareRates = async (stage: Stage): Promise<Outcome> => {
  const { vitess, plain, env, onVitess } = stage;
  const systems = [
    await openSystem(stage, 'Vitess', onVitess, () => vitess.processes()),
    await openSystem(stage, 'MySQL', { ...env, MYSQL_URL: plain.url }, () => new Map([['mysql', plain.pid]])),
  ];
  const complaints: string[] = [];
  const tables: Table[] = [];
  for (const [kind, connections] of turns) {
    const rounds = await runRounds(stage, systems, kind, connections);
    const title = `${kind === 'lookup' ? 'Lookups' : 'Creates'}, ${connections} connections`;
    tables.push(loadTable(rounds, title));
    tables.push(cpuTable(rounds, `${title}: CPU microseconds per request`, partOf));
    for (const { name } of systems) {
      const wrong = rounds[name].reduce((sum, { load }) => sum + load.statusErrors + load.socketErrors, 0);
      if (wrong > 0) complaints.push(`${wrong} ${kind}s failed on ${name}`);
    }
  }
  return { tables, complaints };
};

const openSystem = async (
  { home, report, onEnd }: Stage,
  name: System['name'],
  env: NodeJS.ProcessEnv,
  databases: () => Processes,
): Promise<System> => {
  const place = join(home, `rates-${name}`);
  const { world } = await openPlace({ home: place, env: { ...env, ...settings }, report, onEnd });
  const keys: string[] = [];
  for (let at = 0; at < companies; at++) {
    const company = await world.company();
    keys.push((await company.key(scopes)).value);
    await world.sql(
      'INSERT INTO employees (company_id, role_id, first_name, last_name, email, is_approved) VALUES ?',
      [
        Array.from({ length: employeesEach }, (_, one) => [
          company.id,
          1,
          'Ada',
          `L${one}`,
          `a${one}@example.com`,
          1,
        ]),
      ],
    );
  }
  for (const key of keys)
    while ((await world.ask('/integrations/lookups/employees', { key })).status === 401) await sleep(50);
  const [keysFile, createsFile] = [join(place, 'keys'), join(place, 'creates')];
  writeFileSync(keysFile, `${keys.join('\n')}\n`, { mode: 0o600 });
  writeFileSync(createsFile, `${keys.map((key) => `${key} 0`).join('\n')}\n`, { mode: 0o600 });
  return {
    name,
    world,
    keysFile,
    createsFile,
    processes: () =>
      new Map([
        ...world.stack().processes.flatMap(({ name, pid }) => (pid === null ? [] : [[name, pid] as const])),
        ...databases(),
      ]),
  };
};

/** As in `bench -- actions`. */
const turns = [
  ['lookup', 64],
  ['create', 64],
  ['create', 256],
] as const;

const runRounds = async (
  { wrk, report, options }: Stage,
  systems: readonly System[],
  kind: 'lookup' | 'create',
  connections: number,
): Promise<Rounds> => {
  const rounds = { Vitess: [] as Round[], MySQL: [] as Round[] };
  for (let round = 0; round <= options.rounds; round++) {
    for (const { name, world, keysFile, createsFile, processes } of systems) {
      const common = { wrk, connections, seconds: options.seconds, keysFile, firstKey: 0 };
      const measured = await measure({ processes: processes() }, () =>
        runWrk(
          kind === 'lookup'
            ? { ...common, url: `${world.baseUrl}/api/v1/integrations/lookups/employees` }
            : {
                ...common,
                url: world.baseUrl,
                script: [writeLeads, 'create', createsFile, '0', `${name}-${connections}-${round}`],
              },
        ),
      );
      report.line(
        `${round === 0 ? 'warm-up' : `round ${round}`}  ${kind}  ${connections}  ${name}  ${whole(measured.load.requestsPerSecond)} requests/s`,
      );
      if (round > 0) rounds[name].push(measured);
      await settle(world);
    }
  }
  return rounds;
};

const writeLeads = join(root, 'e2e/load/actions/write-leads.lua');

/** Waits until the events of the turn are published, so that they do not burden the next one. */
const settle = async (world: World): Promise<void> => {
  const waiting = async (): Promise<number> => {
    const [row] = await world.sql<{ n: number }>('SELECT COUNT(*) AS n FROM event_outbox');
    return Number(row?.n);
  };
  for (const endMs = Date.now() + settleWithinMs; (await waiting()) > 0; await sleep(100))
    if (Date.now() > endMs) throw new Error('events were not published');
};
const settleWithinMs = 60_000;

/** Which part of the system a process belongs to. */
const groups: Readonly<Record<string, RegExp>> = {
  gateway: /^gateway-/,
  'other services': /^(?:access|crm|webhooks|dispatcher)-/,
  NATS: /^nats/,
  vtgate: /^vtgate$/,
  vttablet: /^vttablet /,
  'etcd, vtctld': /^(?:etcd|vtctld)$/,
  MySQL: /^mysql/,
};

const partOf = (process: string): string =>
  Object.entries(groups).find(([, pattern]) => pattern.test(process))?.[0] ?? process;
