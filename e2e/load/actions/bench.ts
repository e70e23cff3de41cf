import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import { type BenchContext, makeHome } from '../driver.ts';
import { measure, type Round } from '../gateway/rounds.ts';
import { cpuTable, loadTable } from '../gateway/tables.ts';
import { startWorld, type World } from '../gateway/world.ts';
import { runWrk } from '../gateway/wrk.ts';
import { describeMachine, millis, publish, whole } from '../report.ts';

/** With 64, groups of calls are half full; with 256, they are full, and the processors are what limits the rate. */
const connectionCounts = [64, 256];
const script = join(import.meta.dirname, 'write-leads.lua');

/** Measures creates and updates of leads. */
export const benchActions = async (context: BenchContext): Promise<void> => {
  const { toolchain, programs, say, options } = context;
  const { wrk } = await programs({ wrk: 'wrk' });
  const home = makeHome(context.onEnd);
  say('starting MySQL and the cluster …');
  const world = await startWorld(context, home);
  const file = join(home, 'leads');
  const leads = await makeLeads(world, file);
  context.onEnd(() => leads.close());
  const columns: Record<string, readonly Round[]> = {};
  for (const kind of ['create', 'update'] as const)
    for (const connections of connectionCounts) {
      say(`${kind}s, ${connections} connections, ${options.seconds} s a turn`);
      columns[`${kind}s, ${connections} connections`] = await runKind(
        { world, leads, kind, connections, rounds: options.rounds, say },
        (tag) =>
          runWrk({
            wrk,
            url: world.baseUrl,
            connections,
            seconds: options.seconds,
            keysFile: file,
            firstKey: 0,
            script: [script, kind, file, '0', tag],
          }),
      );
    }
  publish('actions', options, howMeasured(options), [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld, wrk }),
    loadTable(columns, 'Creates and updates'),
    cpuTable(columns),
  ]);
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
  load: (tag: string) => Promise<Round['load']>,
): Promise<readonly Round[]> => {
  const results: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    await leads.settle();
    const done = await measure(world, () => load(`${kind}-${connections}-${round}`));
    const { requests, statusErrors, requestsPerSecond, p50Ms, p99Ms } = done.load;
    if (statusErrors > 0) throw new Error(`${statusErrors} of ${requests} requests were refused`);
    const made = await leads.made();
    const expected = kind === 'create' ? requests : 0;
    // When the load generator stops, one request per connection may still be in flight.
    if (made < expected || made > expected + connections)
      throw new Error(`${requests} requests were answered, ${made} leads created`);
    say(
      `${round === 0 ? 'warm-up' : `round ${round}`}  ${whole(requestsPerSecond)} requests/s  ` +
        `p50 ${millis(p50Ms)}  p99 ${millis(p99Ms)}`,
    );
    if (round > 0) results.push(done);
  }
  return results;
};

const howMeasured = ({ rounds, seconds, startArgs }: BenchContext['options']): string => `
Creates of leads with a new \`external_id\` each, and updates of two fields, over 6 000 keys of 300 companies, as
\`npm start${startArgs.length > 0 ? ` -- ${startArgs.join(' ')}` : ''}\` runs the cluster, on a MySQL server that flushes each commit to the disk. ${rounds} turns of ${seconds} s each after a
warm-up. After each turn, every answered create has a lead and an event.
`;

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
