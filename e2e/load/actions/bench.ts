import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { type BenchContext, makeHome } from '../driver.ts';
import { measure, type Round, type Rounds } from '../gateway/rounds.ts';
import { cpuTable, loadTable, ratiosOf } from '../gateway/tables.ts';
import { type System, startWorld, type World } from '../gateway/world.ts';
import { runWrk } from '../gateway/wrk.ts';
import { describeMachine, type Goal, millis, publish, type Table, whole } from '../report.ts';

/** With 64, groups of calls are half full; with 256, they are full, and the processors are what limits both systems. */
const connectionCounts = [64, 256];
const script = join(import.meta.dirname, 'write-leads.lua');

/**
 * Compares creates and updates of leads between the cluster and the reference monolith, in alternate turns under the
 * same load.
 */
export const benchActions = async (context: BenchContext): Promise<void> => {
  const { toolchain, programs, say, options } = context;
  const { wrk, 'redis-server': redis } = await programs({ wrk: 'wrk', 'redis-server': 'redis-server' });
  const home = makeHome(context.onEnd);
  say('starting MySQL, the cluster, Redis and the monolith …');
  const world = await startWorld(context, { home, redis });
  const file = join(home, 'leads');
  const leads = await makeLeads(world, file);
  context.onEnd(() => leads.close());
  const run = (kind: Kind['kind'], connections: number): Promise<Rounds> =>
    runKind({ world, leads, kind, connections, rounds: options.rounds, say }, (system, tag) =>
      runWrk({
        wrk,
        url: system.baseUrl,
        connections,
        seconds: options.seconds,
        keysFile: file,
        firstKey: 0,
        script: [script, kind, file, '0', tag],
      }),
    );
  const measured: Table[] = [];
  const goals: Goal[] = [];
  for (const kind of ['create', 'update'] as const)
    for (const connections of connectionCounts) {
      say(`${kind}s, ${connections} connections, ${options.seconds} s a turn`);
      const rounds = await run(kind, connections);
      const title = `${kind === 'create' ? 'Creates' : 'Updates'}, ${connections} connections`;
      const cpu = { ...cpuTable(rounds), title: `${title}: CPU microseconds per request` };
      measured.push(loadTable(rounds, title), cpu);
      const goal = { create: '≥ 2.6×', update: '≥ 2.4×' }[kind];
      if (connections === 64) goals.push([`${title}: times the monolith`, ratiosOf(rounds).requests, goal]);
    }
  const tables = [
    await describeMachine({
      'nats-server': toolchain.natsServer,
      MySQL: toolchain.mysqld,
      Redis: redis,
      wrk,
    }),
    ...measured,
  ];
  publish('actions', options, howMeasured(options), tables, goals);
};

interface Kind {
  readonly world: World;
  readonly leads: Leads;
  readonly kind: 'create' | 'update';
  readonly connections: number;
  readonly rounds: number;
  readonly say: (line: string) => void;
}

/** @throws if a request failed, or a create left no lead or no event. */
const runKind = async (
  { world, leads, kind, connections, rounds, say }: Kind,
  load: (system: System, tag: string) => Promise<Round['load']>,
): Promise<Rounds> => {
  const results = { cluster: [] as Round[], monolith: [] as Round[] };
  for (let round = 0; round <= rounds; round++) {
    for (const system of [world.cluster, world.monolith]) {
      await leads.settle();
      const done = await measure(world, () => load(system, `${system.name}-${kind}-${connections}-${round}`));
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
      if (round > 0) results[system.name].push(done);
    }
  }
  return results;
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

const leadNew = 1;
const rowsPerInsert = 1000;
/** The load generator stops without waiting for its last answers: nothing was under way if nothing came for so long. */
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
      let now = await countBoth(db);
      for (let earlier = -1; earlier !== now.leads; now = await countBoth(db)) {
        earlier = now.leads;
        await sleep(underWayMs);
      }
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
