import { Pool } from 'undici';
import { startDeliveryWorld, type Tenant } from './deliveries/world.ts';
import { type BenchContext, makeHome } from './driver.ts';
import {
  describeMachine,
  median,
  millis,
  percentile,
  type Table,
  toTerminal,
  whole,
  withRange,
  writeResults,
} from './report.ts';

const people = 20_000;
const itemsEach = 100;
const waitsEach = 50;

/** Measures how fast one client reads a company from the beginning, and how soon it learns of a change. */
export const benchChanges = async (context: BenchContext): Promise<void> => {
  const { onEnd, say, options, toolchain } = context;
  say('starting MySQL and the cluster …');
  const world = await startDeliveryWorld(context, { home: makeHome(onEnd), args: options.startArgs });
  const { baseUrl } = world.cluster.stack;
  const [tenant] = (await world.tenants(1)) as [Tenant];
  const pool = new Pool(baseUrl, { connections: 4 });
  onEnd(() => pool.destroy());
  const ask = askOf(pool, tenant);

  say(`creating ${whole(people)} people …`);
  for (let from = 0; from < people; from += itemsEach) await ask('POST', 'leads/batch', batchFrom(from));
  const turns: Turn[] = [];
  let first = 0;
  for (let round = 0; round <= options.rounds; round++) {
    const turn = await runTurn(ask);
    say(
      `${round === 0 ? 'warm-up' : `turn ${round}`}  ${whole(turn.entriesPerSecond)} entries a second; ` +
        `a change is there after ${millis(percentile(turn.waitMs, 0.5))} (p50)`,
    );
    if (round > 0) turns.push(turn);
    else first = turn.entriesPerSecond;
  }
  const tables: Table[] = [
    await describeMachine({ 'nats-server': toolchain.natsServer, MySQL: toolchain.mysqld }),
    table(first, turns),
  ];
  for (const one of tables) process.stdout.write(`${toTerminal(one)}\n`);
  if (options.write) writeResults('changes', howMeasured(options), tables);
};

interface Turn {
  readonly entriesPerSecond: number;
  readonly pageMs: readonly number[];
  /** From the answer of an update to the answer of the request that was held for it. */
  readonly waitMs: readonly number[];
}

// biome-ignore lint/suspicious/noExplicitAny: answers of several operations.
type Ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<any>;

const askOf =
  (pool: Pool, { key }: Tenant): Ask =>
  async (method, path, body) => {
    const reply = await pool.request({
      method,
      path: `/api/v1/integrations/${path}`,
      headers: { 'x-api-key': key },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`${reply.statusCode} ${text}`);
    return JSON.parse(text);
  };

const batchFrom = (from: number) => ({
  mode: 'create',
  items: Array.from({ length: itemsEach }, (_, at) => ({
    first_name: 'Ada',
    last_name: `Lovelace ${from + at}`,
    email: `ada.${from + at}@example.com`,
    phone: '+1 555 010 4477',
    city: 'Graz',
    external_id: `x-${from + at}`,
  })),
});

/** @throws unless the feed has every person once */
const runTurn = async (ask: Ask): Promise<Turn> => {
  const seen = new Set<number>();
  const pageMs: number[] = [];
  const startedMs = performance.now();
  let cursor = '';
  for (let hasMore = true; hasMore; ) {
    const askedMs = performance.now();
    const page = await ask('GET', `changes?limit=1000${cursor && `&cursor=${cursor}`}`);
    pageMs.push(performance.now() - askedMs);
    for (const { id } of page.changes) seen.add(id);
    cursor = page.nextCursor;
    hasMore = page.hasMore;
  }
  const tookMs = performance.now() - startedMs;
  if (seen.size !== people) throw new Error(`the feed has ${seen.size} of ${people} people`);

  const waitMs: number[] = [];
  const [id] = seen;
  for (let at = 0; at < waitsEach; at++) {
    const held = ask('GET', `changes?wait=25&cursor=${cursor}`).then((page) => ({
      page,
      atMs: performance.now(),
    }));
    await ask('PATCH', `leads/${id}`, { city: `Graz ${performance.now()}` });
    const answeredMs = performance.now();
    const { page, atMs } = await held;
    if (page.changes.length !== 1) throw new Error(`${page.changes.length} changes in place of one`);
    cursor = page.nextCursor;
    waitMs.push(Math.max(0, atMs - answeredMs));
  }
  return { entriesPerSecond: (people * 1000) / tookMs, pageMs, waitMs };
};

const table = (first: number, turns: readonly Turn[]): Table => {
  const of = (value: (turn: Turn) => number, write: (value: number) => string) =>
    withRange(turns.map(value), write);
  return {
    title: 'The changes of one company',
    columns: ['', 'one client'],
    rows: [
      ['entries a second, at the first reading', whole(first)],
      ['entries a second, from the beginning', of(({ entriesPerSecond }) => entriesPerSecond, whole)],
      ['a page of 1,000, p50', of(({ pageMs }) => median(pageMs), millis)],
      ['a page of 1,000, p99', of(({ pageMs }) => percentile(pageMs, 0.99), millis)],
      ['answer of a write → of the held request, p50', of(({ waitMs }) => median(waitMs), millis)],
      ['answer of a write → of the held request, p99', of(({ waitMs }) => percentile(waitMs, 0.99), millis)],
    ],
  };
};

const howMeasured = ({ rounds }: BenchContext['options']): string => `
One client reads the ${whole(people)} people of a company with \`GET /integrations/changes?limit=1000\`, one page after another; each is there once.
The first reading gives them their numbers; the figures below its line are of later ones. Then it waits with \`wait=25\` while another request updates one of them, ${waitsEach} times. ${rounds} turns after a warm-up; medians, with minimum and maximum in
parentheses. Load generator, servers and database share the machine.
`;
