import { setTimeout as sleep } from 'node:timers/promises';
import { writtenSubject } from '@causeway/proto';
import { connectBus, type LaneAnswer, LaneError, noMetrics } from '@causeway/runtime';
import { cleanUp, testNats } from '@causeway/runtime/testing';
import { beforeAll, expect, test, vi } from 'vitest';
import { createHeldRequests, type HeldRequests } from './long-poll.ts';

let nats: Awaited<ReturnType<typeof testNats>>;
beforeAll(async () => {
  nats = await testNats();
});

const open = async (): Promise<HeldRequests & { readonly announce: (companyId: number) => void }> => {
  const bus = await connectBus({ url: nats.url, name: 'gateway' });
  cleanUp(() => bus.close());
  const held = createHeldRequests({ bus, metrics: noMetrics });
  cleanUp(async () => held.close());
  return {
    ...held,
    announce: (companyId) =>
      bus.nc.publish(writtenSubject, JSON.stringify({ events: [companyId], changes: [] })),
  };
};

const answerOf = (status: number, value: unknown): LaneAnswer => ({
  status,
  body: Buffer.from(JSON.stringify(value)),
});
const empty = (nextCursor = 'a') => answerOf(200, { events: [], nextCursor, hasMore: false });
const pageOf = (ids: readonly number[], hasMore = false) =>
  answerOf(200, { events: ids.map((id) => ({ id })), nextCursor: 'b', hasMore });
const page = pageOf([1]);

/** A client's request. The service answers with what `ask` says. */
const hold = (
  held: HeldRequests,
  ask: (query: string) => Promise<LaneAnswer>,
  { key = 1, companyId = 7, wait = 25, first = empty() } = {},
) => {
  const one = { isAnswered: false, leave: () => {}, answer: undefined as unknown as Promise<LaneAnswer> };
  one.answer = held
    .hold({
      key: { id: key, companyId },
      kind: 'events',
      query: `order=asc&cursor=latest&wait=${wait}`,
      first,
      ask,
      beginWaiting: (onGone) => {
        one.leave = onGone;
        return () => {};
      },
    })
    .finally(() => {
      one.isAnswered = true;
    });
  return one;
};

test('a notice is followed by a look, which continues where the last one ended', async () => {
  const held = await open();
  const asked: string[] = [];
  const answers = [empty('c'), empty('d'), page];
  const one = hold(held, async (query) => {
    asked.push(query);
    return answers[asked.length - 1]!;
  });
  await expect.poll(() => asked.length).toBe(1);
  held.announce(7);
  await expect.poll(() => asked.length).toBe(2);
  held.announce(8);
  // Longer than a notice takes that is not gathered.
  await sleep(300);
  expect(asked).toHaveLength(2);
  held.announce(7);
  expect(await one.answer).toBe(page);
  // The last look finds what was gathered.
  expect(asked.map((query) => new URLSearchParams(query).get('cursor'))).toEqual(['a', 'c', 'd', 'd']);
  expect(asked[0]).toContain('order=asc');
});

test('what is written between the first answer and the notice is found; so is that of a lost notice', async () => {
  const held = await open();
  expect(await hold(held, async () => page).answer).toBe(page);
  let looks = 0;
  expect(await hold(held, async () => (++looks === 1 ? empty() : page)).answer).toBe(page);
  expect(looks).toBe(3);
});

test('a page gathers for a second, so that a reader who follows fast writers asks once a second', async () => {
  const held = await open();
  const fromMs = performance.now();
  let written = 1;
  const soFar = async () => pageOf(Array.from({ length: written }, (_, at) => at));
  const found = hold(held, soFar, { first: await soFar() });
  const due = hold(held, soFar);
  written = 3;
  const fuller = await soFar();
  for (const { answer } of [found, due]) expect(await answer).toEqual(fuller);
  expect(performance.now() - fromMs).toBeGreaterThanOrEqual(990);
});

test('a page gathers nothing if there is more to read, and no longer than the client waits', async () => {
  const held = await open();
  const ask = vi.fn(async () => page);
  const full = pageOf([1], true);
  expect(await hold(held, ask, { first: full }).answer).toBe(full);
  expect(ask).not.toHaveBeenCalled();
  expect(await hold(held, ask, { first: page, wait: 1 }).answer).toBe(page);
  const hangs = hold(held, () => new Promise(() => {}), { first: page, wait: 2 });
  const refused = answerOf(401, {});
  expect(await hold(held, async () => refused, { first: page }).answer).toBe(refused);
  expect(await hangs.answer).toBe(page);
});

test('a company that is written to all the time is looked at a few times a second', async () => {
  const held = await open();
  const look = vi.fn(async () => empty());
  const one = hold(held, look);
  const fromMs = performance.now();
  for (let at = 0; at < 300; at++) {
    held.announce(7);
    await sleep(5);
  }
  const looks = look.mock.calls.length;
  expect(looks).toBeGreaterThan(2);
  expect(looks).toBeLessThan(7 + (performance.now() - fromMs) / 1_000);
  held.close();
  await one.answer;
});

test('a service that does not answer is asked again; what it refuses is the answer', async () => {
  const held = await open();
  const answers = [
    () => Promise.reject(new LaneError('timeout', 'webhooks')),
    async () => answerOf(503, {}),
    async () => answerOf(401, {}),
  ];
  let looks = 0;
  const one = hold(held, () => answers[looks++]!());
  await expect.poll(() => looks).toBe(1);
  held.announce(7);
  await expect.poll(() => looks).toBe(2);
  expect(one.isAnswered).toBe(false);
  held.announce(7);
  expect((await one.answer).status).toBe(401);
});

test('a service that hangs does not make the answer late, nor one that is away when the gateway stops', async () => {
  const held = await open();
  const hangs = () => new Promise<LaneAnswer>(() => {});
  const first = empty();
  expect(await hold(held, hangs, { first, wait: 1 }).answer).toBe(first);
  const stopped = hold(held, hangs, { first });
  // Longer than the request would take if it were not held.
  await sleep(100);
  expect(stopped.isAnswered).toBe(false);
  held.close();
  expect(await stopped.answer).toBe(first);
});

test('when NATS is back, those who wait look again, and get notices', async () => {
  const held = await open();
  const look = vi.fn(async () => empty());
  const looks = () => look.mock.calls.length;
  const one = hold(held, look);
  await expect.poll(looks).toBe(1);
  await nats.restart();
  await expect.poll(looks).toBeGreaterThanOrEqual(2);
  const before = looks();
  held.announce(7);
  await expect.poll(looks).toBeGreaterThan(before);
  held.close();
  await one.answer;
});
