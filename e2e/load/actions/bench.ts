import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { type BenchContext, makeEnds, makeHome } from '../driver.ts';
import type { TrafficSources } from '../gateway/rounds.ts';
import { measure, type Round, type Rounds } from '../gateway/rounds.ts';
import { cpuTable, loadTable } from '../gateway/tables.ts';
import { type System, startWorld, type World } from '../gateway/world.ts';
import { runWrk } from '../gateway/wrk.ts';
import {
  describeMachine,
  median,
  micros,
  millis,
  type Table,
  toTerminal,
  whole,
  writeResults,
} from '../report.ts';

const connections = 64;
const script = join(import.meta.dirname, 'write-leads.lua');

/**
 * Compares creates and updates of leads between the cluster and the reference monolith, in alternate turns under the
 * same load.
 */
export const benchActions = async (context: BenchContext): Promise<void> => {
  const { toolchain, programs, say, options } = context;
  const { wrk, 'redis-server': redis } = await programs({ wrk: 'wrk', 'redis-server': 'redis-server' });
  const inWorld = async <Result>(
    clusterEnv: NodeJS.ProcessEnv,
    work: (run: (kind: 'create' | 'update', rounds: number) => Promise<Measured>) => Promise<Result>,
  ): Promise<Result> => {
    const { onEnd, end } = makeEnds();
    context.onEnd(end);
    const home = makeHome(onEnd);
    say('starting MySQL, the cluster, Redis and the monolith …');
    const world = await startWorld({ ...context, onEnd }, { home, redis, clusterEnv });
    const file = join(home, 'leads');
    const leads = await makeLeads(world, file);
    onEnd(() => leads.close());
    const result = await work((kind, rounds) =>
      runKind({ world, leads, kind, rounds, say }, (system, tag) =>
        runWrk({
          wrk,
          url: system.baseUrl,
          connections,
          seconds: options.seconds,
          keysFile: file,
          firstKey: 0,
          script: [script, kind, file, '0', tag],
        }),
      ),
    );
    await end();
    return result;
  };
  say(`${connections} connections, ${options.seconds} s a turn`);
  const [creates, updates] = await inWorld({}, async (run) => [
    await run('create', options.rounds),
    await run('update', options.rounds),
  ]);
  say('the same creates, each in a transaction of its own');
  const single = await inWorld({ WRITE_GROUP_SIZE: '1' }, (run) =>
    run('create', Math.min(2, options.rounds)),
  );
  const titled = (title: string, rounds: Rounds) => [
    loadTable(rounds, `${title}, ${connections} connections`),
    { ...cpuTable(rounds), title: `${title}: CPU microseconds per request` },
  ];
  const tables = [
    await describeMachine({
      'nats-server': toolchain.natsServer,
      MySQL: toolchain.mysqld,
      Redis: redis,
      wrk,
    }),
    ...titled('Creates', creates.rounds),
    ...titled('Updates', updates.rounds),
    groupingTable([
      ['creates', creates],
      ['updates', updates],
      ['creates, each in a transaction of its own', single],
    ]),
  ];
  for (const table of tables) process.stdout.write(`${toTerminal(table)}\n`);
  if (options.write) writeResults('actions', howMeasured(options), tables);
};

/** The turns of one kind, and how the cluster grouped its calls in each. */
interface Measured {
  readonly rounds: Rounds;
  readonly grouping: readonly Grouping[];
}

interface Kind {
  readonly world: World;
  readonly leads: Leads;
  readonly kind: 'create' | 'update';
  readonly rounds: number;
  readonly say: (line: string) => void;
}

/** @throws if a request failed, or a create left no lead or no event. */
const runKind = async (
  { world, leads, kind, rounds, say }: Kind,
  load: (system: System, tag: string) => Promise<Round['load']>,
): Promise<Measured> => {
  const results = { cluster: [] as Round[], monolith: [] as Round[] };
  const grouping: Grouping[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const system of [world.cluster, world.monolith]) {
      await leads.settle();
      const groupsBefore = await readGrouping(world.traffic);
      const done = await measure(world, () => load(system, `${system.name}-${kind}-${round}`));
      const groups = await readGrouping(world.traffic);
      const { requests, statusErrors, requestsPerSecond, p50Ms, p99Ms } = done.load;
      // When the load generator stops, one request per connection may still be in flight.
      if (statusErrors > 0)
        throw new Error(`${system.name}: ${statusErrors} of ${requests} requests were refused`);
      const made = await leads.made();
      const expected = kind === 'create' ? requests : 0;
      if (made < expected || made > expected + connections)
        throw new Error(`${system.name}: ${requests} requests were answered, ${made} leads created`);
      say(
        `${round === 0 ? 'warm-up' : `round ${round}`}  ${kind}  ${system.name.padEnd(8)}  ` +
          `${whole(requestsPerSecond)} requests/s  p50 ${millis(p50Ms)}  p99 ${millis(p99Ms)}`,
      );
      if (round === 0) continue;
      results[system.name].push(done);
      if (system.name === 'cluster')
        grouping.push({
          groups: groups.groups - groupsBefore.groups,
          calls: groups.calls - groupsBefore.calls,
        });
    }
  }
  return { rounds: results, grouping };
};

const howMeasured = ({ rounds, seconds, startArgs }: BenchContext['options']): string => `
\`POST /integrations/leads\` with a new \`external_id\` each, and \`PATCH /integrations/leads/{client_id}\` of two fields, over
6 000 keys of 300 companies, as \`npm start${startArgs.length > 0 ? ` -- ${startArgs.join(' ')}` : ''}\` runs it, against the reference monolith
(\`monolith/leads.ts\`): one transaction per create (lead, sequence, event), one statement per update. Both write to the same
MySQL, which flushes each commit to the disk (\`innodb_flush_log_at_trx_commit=1\`). The cluster also keeps an outbox,
publishes each event to JetStream and marks each lead for the search index; the monolith does none of these. After each
turn, every answered create has a lead and an event; the next turn begins when everything is published and indexed. The
systems take turns as in the gateway bench: ${rounds} of ${seconds} s each after a warm-up.
`;

/** Totals that crm has written so far. */
interface Grouping {
  readonly groups: number;
  readonly calls: number;
}

const readGrouping = async ({ crmMetrics }: TrafficSources): Promise<Grouping> => {
  const texts = await Promise.all(crmMetrics.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  const total = (name: string): number =>
    texts
      .flatMap((text) => [...text.matchAll(new RegExp(`^${name}\\{batch="record-actions"\\} (\\d+)`, 'gm'))])
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return { groups: total('batch_flushes_total'), calls: total('batch_items_total') };
};

/** The gain of one transaction for many calls over one for each call; medians. */
const groupingTable = (kinds: readonly (readonly [name: string, Measured])[]): Table => ({
  title: 'Grouped transactions of the cluster',
  columns: ['', 'calls per transaction', 'requests/s', 'CPU µs/request of crm', 'of mysql'],
  rows: kinds.map(([name, { rounds, grouping }]) => {
    const cpuOf = (start: string) =>
      micros(
        median(
          rounds.cluster.map(({ cpu, load }) => {
            const seconds = [...cpu].reduce(
              (sum, [of, { total }]) => (of.startsWith(start) ? sum + total : sum),
              0,
            );
            return (seconds * 1e6) / load.requests;
          }),
        ),
      );
    return [
      name,
      median(grouping.map(({ calls, groups }) => calls / groups)).toFixed(1),
      whole(median(rounds.cluster.map(({ load }) => load.requestsPerSecond))),
      cpuOf('crm'),
      cpuOf('mysql'),
    ];
  }),
});

const leadNew = 1;
const rowsPerInsert = 1000;
/** The load generator stops without waiting for its last answers. */
const underWayMs = 500;

/** The leads that the bench updates, and queries on the state of the database. */
interface Leads {
  /** Waits until everything that was written is published and indexed. */
  settle(): Promise<void>;
  /** Leads created since the last call, each with its event. @throws if the numbers of leads and events differ. */
  made(): Promise<number>;
  close(): Promise<void>;
}

/** Creates a lead for each key and writes `<key> <lead id>` lines to `file`, in the order of the keys. */
const makeLeads = async ({ data, mysqlUrl }: World, file: string): Promise<Leads> => {
  const db = await createConnection({ uri: mysqlUrl, timezone: 'Z' });
  const lines: string[] = [];
  for (let at = 0; at < data.keys.length; at += rowsPerInsert) {
    const keys = data.keys.slice(at, at + rowsPerInsert);
    const [{ insertId }] = await db.query<ResultSetHeader>(
      'INSERT INTO clients (company_id, status_id, first_name, last_name, email) VALUES ?',
      [keys.map((key) => [Number(key.split('_')[1]), leadNew, 'Ada', 'Lovelace', 'ada@example.com'])],
    );
    lines.push(...keys.map((key, row) => `${key} ${insertId + row}`));
  }
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  let before = await countBoth(db);
  return {
    settle: async () => {
      while ((await count(db, waiting)) > 0) await sleep(100);
    },
    made: async () => {
      await sleep(underWayMs);
      const now = await countBoth(db);
      const leads = now.leads - before.leads;
      const events = now.events - before.events;
      if (events !== leads) throw new Error(`${leads} leads were created, and ${events} events`);
      before = now;
      return leads;
    },
    close: () => db.end(),
  };
};

/** Unpublished events, plus companies with enough pending leads for the indexer to index them. */
const waiting = `SELECT (SELECT COUNT(*) FROM event_outbox) + (SELECT COUNT(*) FROM (
    SELECT company_id FROM client_search_pending GROUP BY company_id HAVING COUNT(*) >= 64) AS busy) AS n`;

/** One statement gives both counts at the same moment: requests may still be in flight. */
const countBoth = async (db: Connection): Promise<{ leads: number; events: number }> => {
  const [rows] = await db.query<RowDataPacket[]>(
    'SELECT (SELECT COUNT(*) FROM clients) AS leads, (SELECT COUNT(*) FROM events) AS events',
  );
  return { leads: Number(rows[0]?.leads), events: Number(rows[0]?.events) };
};

const count = async (db: Connection, sql: string): Promise<number> => {
  const [rows] = await db.query<RowDataPacket[]>(sql);
  return Number(rows[0]?.n);
};
