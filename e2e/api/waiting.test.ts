import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { type Key, openWorld, type Reply } from './support/world.ts';

// Checks "Waiting" of the contract as a client that follows a feed sees it.

const world = await openWorld();
const plenty = { read: 1_000_000, write: 1_000_000, admin: 1_000_000 };
const person = { first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.com' };
const gateways = world.stack().processes.filter(({ name }) => name.startsWith('gateway')).length;

const newcomer = async () => {
  const company = await world.company(plenty);
  const key = await company.key();
  const get = (path: string, { value }: Key = key): Promise<Reply> => world.ask(path, { key: value });
  const createLead = async ({ value }: Key = key): Promise<number> => {
    const made = await world.ask('/integrations/leads', { method: 'POST', key: value, body: person });
    expect(made.status).toBe(201);
    return made.json.client_id;
  };
  /** At the end of a feed. */
  const follow = async (feed: string): Promise<string> =>
    `${feed}&cursor=${(await get(feed)).json.nextCursor}`;
  return { company, key, get, createLead, follow };
};

const feeds = { changes: '/integrations/changes?limit=10', events: '/events?order=asc&limit=10' } as const;

/** Requests that may be under way, and how many are not answered yet. */
const begin = (asked: readonly Promise<Reply>[]) => {
  let answered = 0;
  for (const one of asked) void one.finally(() => answered++).catch(() => {});
  return { all: Promise.all(asked), held: () => asked.length - answered };
};
/** Longer than an answer takes that does not wait. */
const aWhile = () => sleep(1_000);

describe.concurrent.each(Object.entries(feeds))('A held request for %s', (list, feed) => {
  test('is answered with what is written, within a second or two', async () => {
    const { get, createLead, follow } = await newcomer();
    const held = begin([get(`${await follow(feed)}&wait=25`)]);
    await aWhile();
    expect(held.held()).toBe(1);
    const client_id = await createLead();
    const [{ status, json }] = (await held.all) as [Reply];
    expect([status, json[list].length, json.hasMore]).toEqual([200, 1, false]);
    expect(json[list][0].id === client_id || json[list][0].payload.client_id === client_id).toBe(true);

    // Without notices, each look comes up to five seconds later: of 8, hardly 7 would come within three.
    let { nextCursor } = json;
    let quick = 0;
    for (let round = 0; round < 8; round++) {
      const fromMs = performance.now();
      const next = get(`${feed}&cursor=${nextCursor}&wait=25`);
      await sleep(50);
      await createLead();
      const page = (await next).json;
      expect(page[list]).toHaveLength(1);
      nextCursor = page.nextCursor;
      if (performance.now() - fromMs < 3_000) quick++;
    }
    expect(quick).toBeGreaterThanOrEqual(7);
  });

  test('is answered as without `wait` when the time is over, and if there is something to read', async () => {
    const { get, createLead, follow } = await newcomer();
    const end = await follow(feed);
    const empty = await get(end);
    expect(empty.json).toEqual({ [list]: [], nextCursor: expect.any(String), hasMore: false });
    const fromMs = performance.now();
    expect((await get(`${end}&wait=2`)).text).toBe(empty.text);
    expect(performance.now() - fromMs).toBeGreaterThan(1_900);
    await createLead();
    expect((await get(`${end}&wait=25`)).text).toBe((await get(end)).text);
  });
});

describe.concurrent('A held request', () => {
  const list = 'changes';
  const feed = feeds[list];

  test('lasts longer than an idle connection', async () => {
    const { get, follow } = await newcomer();
    const { status, json } = await get(`${await follow(feed)}&wait=13`);
    expect([status, json[list]]).toEqual([200, []]);
  });

  test('takes one of two places of its key at a gateway; others are answered at once', async () => {
    const { company, get, createLead, follow } = await newcomer();
    const end = `${await follow(feed)}&wait=25`;
    const own = begin(Array.from({ length: 40 }, () => get(end)));
    await until('most answers', () => own.held() <= 2 * gateways);
    // Another key of the company has places of its own.
    const other = await company.key();
    const others = begin([get(end, other)]);
    await aWhile();
    expect(own.held()).toBeGreaterThanOrEqual(2);
    expect(others.held()).toBe(1);
    await createLead();
    const answers = [...(await own.all), ...(await others.all)];
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.filter(({ json }) => json[list].length === 1).length).toBeGreaterThanOrEqual(3);
  });

  test('gives its place back when its client goes', async () => {
    const { key, get, createLead, follow } = await newcomer();
    const end = `${await follow(feed)}&wait=25`;
    const leaving = new AbortController();
    const gone = Array.from({ length: 10 * gateways }, () =>
      fetch(`${world.baseUrl}/api/v1${end}`, {
        headers: { 'x-api-key': key.value },
        signal: leaving.signal,
      }).catch(() => undefined),
    );
    await aWhile();
    leaving.abort();
    await Promise.all(gone);
    await aWhile();
    const next = begin([get(end)]);
    await aWhile();
    expect(next.held()).toBe(1);
    await createLead();
    expect((await next.all)[0]!.json[list]).toHaveLength(1);
  });

  test('of a key that is revoked is a 401', async () => {
    const { company, get, follow } = await newcomer();
    const key = await company.key();
    const held = begin([get(`${await follow(feed)}&wait=25`, key)]);
    await aWhile();
    expect(held.held()).toBe(1);
    await world.operator.ask('revokeKey', { id: key.id });
    expect((await held.all)[0]!.status).toBe(401);
  });
});

test('20 held requests of a company do not delay its other requests', async () => {
  const { company, get, createLead } = await newcomer();
  const keys = await Promise.all(Array.from({ length: 10 }, () => company.key()));
  const { nextCursor } = (await get(feeds.changes)).json;
  const end = `${feeds.changes}&cursor=${nextCursor}&wait=25`;
  const held = begin(keys.flatMap((key) => [get(end, key), get(end, key)]));
  await aWhile();
  expect(held.held()).toBe(20);
  for (let at = 0; at < 100; at++) expect((await get('/integrations/lookups/employees')).status).toBe(200);
  // All 100 were answered while all 20 waited.
  expect(held.held()).toBe(20);
  await createLead();
  for (const { json } of await held.all) expect(json.changes).toHaveLength(1);
});

test('A client that follows from now on, at default limits, misses no change of fast writers', async () => {
  const company = await world.company({ write: 1_000_000 });
  const [{ value: reading }, { value: writing }] = [await company.key(), await company.key()];
  const write = async () =>
    (await world.ask('/integrations/leads', { method: 'POST', key: writing, body: person })).json.client_id;
  await write();
  const made = new Set<number>();
  let isOver = false;
  const read = (cursor: string) =>
    world.ask(`/integrations/changes?limit=1000&wait=5&cursor=${cursor}`, { key: reading });
  const fromMs = performance.now();
  let reader = read('latest');
  // What is written before it has begun is not from now on.
  await aWhile();
  const writer = (async () => {
    while (!isOver) made.add(await write());
  })();
  const seen = new Set<number>();
  for (let reads = 0; reads < 6; reads++) {
    const { status, json } = await reader;
    expect(status).toBe(200);
    for (const { id } of json.changes) seen.add(id);
    if (reads === 4) {
      isOver = true;
      await writer;
    }
    if (reads < 5) reader = read(json.nextCursor);
  }
  // So 60 reads a minute are enough.
  expect(performance.now() - fromMs).toBeGreaterThan(5_900);
  expect(made.size).toBeGreaterThan(20);
  expect([...made].filter((id) => !seen.has(id))).toEqual([]);
});

test('A reader of some event types is not woken by others', async () => {
  const { key, get, createLead } = await newcomer();
  const held = begin([
    get('/events?order=asc&cursor=latest&type=affiliate.created,client.created&wait=25&include=meta'),
  ]);
  await createLead();
  await aWhile();
  expect(held.held()).toBe(1);
  await world.ask('/integrations/affiliates', { method: 'POST', key: key.value, body: person });
  const [{ json }] = (await held.all) as [Reply];
  expect(json.entries).toMatchObject([
    { event: { type: 'affiliate.created' }, origin: `key:${key.id}`, sequence: 2 },
  ]);
});

test.each([
  ['/integrations/changes?wait=26', 'wait must be an integer between 0 and 25'],
  ['/events?order=asc&wait=-1', 'wait must be an integer between 0 and 25'],
  ['/events?wait=5', 'wait needs order=asc'],
])('%s is refused', async (path, error) => {
  const { get } = await newcomer();
  const { status, json } = await get(path);
  expect([status, json.error]).toEqual([400, error]);
});
