import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { openOperator } from '../../deploy/local/demo.ts';
import { type DeliveryWorld, startDeliveryWorld, type Tenant } from './deliveries/world.ts';
import { type BenchContext, makeHome } from './driver.ts';
import {
  describeMachine,
  median,
  millis,
  percentile,
  ratio,
  seconds as secondsText,
  type Table,
  toTerminal,
  whole,
  withRange,
  writeResults,
} from './report.ts';

/** Batches of one key in a minute, the default limit of the bucket write. */
const batchesPerMinute = 100;
const batchesInPart = 10;
const itemsEach = 100;
const neighbourCount = 20;
const neighbourWorkers = 8;
const neighbourPauseMs = 40;
const minuteMs = 60_000;

/**
 * Measures what one key imports in a minute at the default limits, and how long single requests of other companies
 * take meanwhile and without it.
 */
export const benchBatch = async (context: BenchContext): Promise<void> => {
  const { onEnd, say, options, toolchain } = context;
  say('starting MySQL and the cluster …');
  const world = await startDeliveryWorld(context, { home: makeHome(onEnd), args: options.startArgs });
  const { baseUrl, natsUrl } = world.cluster.stack;
  const [importer, ...neighbours] = (await world.tenants(1 + neighbourCount)) as [Tenant, ...Tenant[]];
  const operator = await openOperator(natsUrl);
  await operator.ask('setLimits', { company_id: importer.id, write: batchesPerMinute });
  await operator.close();
  const pool = new Pool(baseUrl, { connections: 32 });
  onEnd(() => pool.destroy());

  const turns: Turn[] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const turn = await runTurn(pool, importer, neighbours, round);
    const { alone, beside } = turn;
    say(
      `${round === 0 ? 'warm-up' : `turn ${round}`}  ${whole(batchesPerMinute * itemsEach)} records in ${secondsText(turn.importMs)};  ` +
        `others: p99 ${millis(p99(alone))} alone, ${millis(p99(beside))} beside it (${whole(alone.length)} and ${whole(beside.length)} calls)`,
    );
    if (round > 0) turns.push(turn);
  }
  await expectAll(world, importer, (options.rounds + 1) * batchesPerMinute * itemsEach);

  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    importTable(turns),
    callsTable(turns),
  ];
  for (const table of tables) process.stdout.write(`${toTerminal(table)}\n`);
  if (options.write) writeResults('batch', howMeasured(options), tables);
};

interface Turn {
  /** Milliseconds of each call of another company. */
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  readonly importMs: number;
}

/**
 * Imports what the limit allows in a minute, in parts with pauses that are as long: whatever else the machine does
 * meets calls with and without the import alike. @throws if it does not fit into the minute
 */
const runTurn = async (
  pool: Pool,
  importer: Tenant,
  neighbours: readonly Tenant[],
  round: number,
): Promise<Turn> => {
  const turn = { alone: [] as number[], beside: [] as number[], importMs: 0 };
  await sleep(minuteMs - (Date.now() % minuteMs));
  for (let from = 0; from < batchesPerMinute; from += batchesInPart) {
    const startedMs = performance.now();
    const send = () => importPart(pool, importer, round, from);
    turn.beside.push(...(await callsDuring(pool, neighbours, send)));
    const tookMs = performance.now() - startedMs;
    turn.importMs += tookMs;
    turn.alone.push(...(await callsDuring(pool, neighbours, () => sleep(tookMs))));
  }
  if (turn.importMs > minuteMs) throw new Error('the import of a minute took longer than a minute');
  return turn;
};

/** Sends two batches at a time. @throws if an item is not created */
const importPart = async (pool: Pool, { key }: Tenant, round: number, from: number): Promise<void> => {
  let next = from;
  const sendRest = async (): Promise<void> => {
    while (next < from + batchesInPart) {
      const batch = next++;
      const items = Array.from({ length: itemsEach }, (_, at) => ({
        first_name: 'Ada',
        last_name: `Lovelace ${at}`,
        email: `ada.${round}.${batch}.${at}@example.com`,
        phone: '+1 555 010 4477',
        city: 'Graz',
        external_id: `${round}-${batch}-${at}`,
      }));
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/api/v1/integrations/leads/batch',
        headers: { 'x-api-key': key, 'idempotency-key': `${round}-${batch}` },
        body: JSON.stringify({ mode: 'create', items }),
      });
      const text = await body.text();
      const results = statusCode === 200 ? JSON.parse(text).results : [];
      if (results.length !== itemsEach || results.some((one: { status: number }) => one.status !== 201))
        throw new Error(`a batch was answered ${statusCode}: ${text.slice(0, 1000)}`);
    }
  };
  await Promise.all([sendRest(), sendRest()]);
};

/** @returns the milliseconds of each call. */
const callsDuring = async (
  pool: Pool,
  tenants: readonly Tenant[],
  work: () => Promise<unknown>,
): Promise<readonly number[]> => {
  const tookMs: number[] = [];
  let isOver = false;
  const call = async (at: number, key: string): Promise<void> => {
    const isCreate = at % 2 === 0;
    const startedMs = performance.now();
    const { statusCode, body } = await pool.request({
      method: isCreate ? 'POST' : 'GET',
      path: `/api/v1/integrations/${isCreate ? 'leads' : 'lookups/employees'}`,
      headers: { 'x-api-key': key },
      ...(isCreate && {
        body: JSON.stringify({ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' }),
      }),
    });
    const text = await body.text();
    if (statusCode >= 400) throw new Error(`${statusCode} ${text}`);
    tookMs.push(performance.now() - startedMs);
  };
  const loops = Array.from({ length: neighbourWorkers }, async (_, worker) => {
    for (let at = worker; !isOver; at++) {
      await call(at, tenants[(at * 7 + worker) % tenants.length]!.key);
      await sleep(neighbourPauseMs);
    }
  });
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(loops);
  }
  return tookMs;
};

/** @throws unless each record of the import exists once, with its event */
const expectAll = async (world: DeliveryWorld, { id }: Tenant, records: number): Promise<void> => {
  await world.settle();
  for (const table of ['clients', 'events']) {
    const found = await world.number(`SELECT COUNT(*) AS n FROM ${table} WHERE company_id = ${id}`);
    if (found !== records) throw new Error(`${records} records were imported; ${table} has ${found}`);
  }
};

const p99 = (tookMs: readonly number[]): number => percentile(tookMs, 0.99);

const importTable = (turns: readonly Turn[]): Table => ({
  title: 'An import at the default limits',
  columns: ['', 'one key'],
  rows: [
    ['records a minute', whole(batchesPerMinute * itemsEach)],
    [
      'time that the minute’s batches took',
      withRange(
        turns.map(({ importMs }) => importMs),
        secondsText,
      ),
    ],
    [
      'records a second meanwhile',
      whole(median(turns.map(({ importMs }) => (batchesPerMinute * itemsEach * 1000) / importMs))),
    ],
  ],
});

const callsTable = (turns: readonly Turn[]): Table => ({
  title: 'Single requests of other companies',
  columns: ['', 'without', 'beside the import', 'ratio'],
  rows: [0.5, 0.9, 0.99].map((share) => {
    const alone = turns.map((turn) => percentile(turn.alone, share));
    const beside = turns.map((turn) => percentile(turn.beside, share));
    const ratios = beside.map((value, at) => value / alone[at]!);
    return [`p${share * 100}`, withRange(alone, millis), withRange(beside, millis), withRange(ratios, ratio)];
  }),
});

const howMeasured = ({ rounds }: BenchContext['options']): string => `
One key with the default limit imports leads with \`POST /integrations/leads/batch\`: in each UTC minute ${batchesPerMinute} batches of ${itemsEach} items, two at
a time, each with an \`Idempotency-Key\`, in parts of ${batchesInPart} with pauses of the same length. Meanwhile, ${neighbourCount} other companies create a lead
or read a lookup, one request at a time in ${neighbourWorkers} workers with pauses of ${neighbourPauseMs} ms; those during a part are compared with those during the pauses.
${rounds} minutes after a warm-up; medians, with minimum and maximum in parentheses. At the end, each imported record exists once, with its event. Load
generator, servers and database share the machine.
`;
