import { setTimeout as sleep } from 'node:timers/promises';
import { noMetrics } from '@causeway/runtime';
import { describe, expect, test } from 'vitest';
import type { AttemptedDelivery, Delivery, LeasedDelivery } from '../delivery.ts';
import { createHealth, type Health } from '../health.ts';
import { createPlaces } from './places.ts';
import { createScheduler, type Scheduler, type SchedulerOptions } from './scheduler.ts';
import { createShares, type Shares } from './shares.ts';

let lastEvent = 0;
const deliveryOf = (subscription_id: number, more: Partial<Delivery> = {}): Delivery =>
  ({
    company_id: 1,
    subscription_id,
    event_id: ++lastEvent,
    replay_id: 0,
    source: 'first',
    probe: false,
    body: Buffer.alloc(9),
    target: { url: 'https://hooks.example.com/' },
    ...more,
  }) as Delivery;

interface World {
  readonly scheduler: Scheduler;
  readonly health: Health;
  /** The oldest first. */
  readonly started: Delivery[];
  readonly returned: LeasedDelivery[];
  clockMs: number;
  rooms: number;
  waiting(): number;
  /** @param ended `succeeded` is true unless given. */
  end(subscription_id: number, ended?: { succeeded?: boolean; elapsedMs?: number }): Promise<void>;
}

const openScheduler = (options: Partial<SchedulerOptions> = {}): World => {
  const ends = new Map<Delivery, (attempted: AttemptedDelivery) => void>();
  const health = createHealth();
  const world: World = {
    scheduler: createScheduler({
      slots: 512,
      attempts: {
        mayBegin: () => true,
        make: (delivery) => {
          world.started.push(delivery);
          return new Promise((resolve) => ends.set(delivery, resolve));
        },
      },
      recorder: { giveBack: (deliveries) => void world.returned.push(...deliveries) },
      health,
      metrics: noMetrics,
      nowMs: () => world.clockMs,
      timeoutMs: 10_000,
      ...options,
    }),
    health,
    started: [],
    returned: [],
    clockMs: 1_000_000,
    rooms: 0,
    waiting: () => world.scheduler.counts().waiting,
    end: async (subscription_id, { succeeded = true, elapsedMs = 5 } = {}) => {
      const at = world.started.findIndex((delivery) => delivery.subscription_id === subscription_id);
      const [delivery] = world.started.splice(at, 1);
      const outcome = succeeded ? 'succeeded' : 'retry';
      ends.get(delivery!)!({
        ...delivery!,
        result: { elapsedMs },
        decision: { outcome },
      } as AttemptedDelivery);
      await undefined;
      await new Promise(setImmediate);
    },
  };
  world.scheduler.queues.onRoom(() => void world.rooms++);
  return world;
};
const offer = (
  { scheduler }: World,
  count: number,
  subscription_id: number,
  more: Partial<Delivery> = {},
) => {
  for (let at = 0; at < count; at++) scheduler.offer(deliveryOf(subscription_id, more));
};
const queued = (subscription_id: number, company_id = 1) => ({
  company_id,
  subscription_id,
  url: 'https://hooks.example.com/',
});
const roomFor = ({ scheduler }: World, subscription_id: number) =>
  scheduler.queues.allot([queued(subscription_id)])[0];
const inFlight = ({ started }: World, subscription_id: number) =>
  started.filter((delivery) => delivery.subscription_id === subscription_id).length;

/** Quick answers until so many may be in flight, which then are. */
const fill = async (world: World, subscription_id: number, count: number): Promise<void> => {
  while (inFlight(world, subscription_id) < count) {
    offer(world, 2, subscription_id);
    if (inFlight(world, subscription_id) < count) await world.end(subscription_id);
  }
};

test('a receiver that goes silent gets one attempt at a time, however large its concurrency was', async () => {
  const world = openScheduler();
  await fill(world, 1, 32);
  while (inFlight(world, 1) > 3) await world.end(1);
  const before = world.returned.length;
  world.clockMs += 1_001;
  offer(world, 30, 1);
  expect(inFlight(world, 1)).toBe(3);
  expect(world.returned.length - before).toBe(30);
  await world.end(1);
  offer(world, 30, 1);
  expect(inFlight(world, 1)).toBe(32);
});

describe('another URL', async () => {
  const moved = { target: { url: 'https://moved.example.com/' } as Delivery['target'] };

  test('starts over: attempts at the former one take no room, and their answers say nothing', async () => {
    const world = openScheduler();
    await fill(world, 1, 16);
    const waiting = world.waiting();
    offer(world, 3, 1, moved);
    // What waited for the former URL is given back.
    expect([inFlight(world, 1), world.waiting(), world.returned.length]).toEqual([17, 2, waiting]);
    for (let former = 0; former < 16; former++) await world.end(1, { succeeded: former % 2 === 0 });
    expect(world.health.failuresOf(deliveryOf(1))).toBe(0);
    expect(inFlight(world, 1)).toBe(1);
    await world.end(1, { succeeded: false });
    expect(world.health.failuresOf(deliveryOf(1))).toBe(1);
  });

  test('has room for deliveries of its queue as soon as the change is applied', async () => {
    const world = openScheduler();
    offer(world, 2, 1);
    world.scheduler.queues.markBacklogged(queued(1));
    expect(roomFor(world, 1)).toBe(0);
    world.health.restart(deliveryOf(1));
    expect([world.returned.length, roomFor(world, 1)]).toEqual([1, 1]);
    await expect.poll(() => world.rooms).toBe(1);
  });
});

test('deliveries that wait too long are given back, and so are those that find no waiting place', async () => {
  const world = openScheduler({ maxWaitMs: 40, nowMs: () => performance.now() });
  offer(world, 1 + 128 + 3, 1);
  expect(world.returned).toHaveLength(3);
  expect(world.waiting()).toBe(128);
  // Longer than `maxWaitMs`.
  await sleep(100);
  expect(world.returned).toHaveLength(131);
  expect(world.waiting()).toBe(0);
});

describe('one company with 950 slow subscriptions', async () => {
  const slow = Array.from({ length: 950 }, (_, at) => 1_000 + at);

  test('gets no more than its share of the due queues that are read, after one for each company', () => {
    const world = openScheduler({ slots: 64 });
    const others = [2, 3].map((company_id) => queued(company_id, company_id));
    const counts = world.scheduler.queues.allot([...slow.slice(0, 62).map((id) => queued(id)), ...others]);
    expect(counts.slice(-2)).toEqual([1, 1]);
    const large = counts.slice(0, -2);
    expect(large.reduce((sum, count) => sum + count, 0)).toBe(15);
    // Its subscriptions take turns as well.
    expect(Math.max(...large)).toBe(1);
    // Reading took no slots.
    expect(world.scheduler.free()).toEqual({ slots: 64, queueSlots: 32 });
  });
});

describe('a host', async () => {
  const to = (url: string) => ({ target: { url } as Delivery['target'] });
  const shared = to('https://shared.example/a');

  test('that one company uses heavily has places left for another company’s deliveries', () => {
    const world = openScheduler({ slots: 512, maxPerHost: 8 });
    for (let subscription = 100; subscription < 140; subscription++) offer(world, 4, subscription, shared);
    expect(world.started).toHaveLength(4);
    offer(world, 1, 1, { company_id: 2, ...shared });
    expect(inFlight(world, 1)).toBe(1);
    const url = shared.target.url;
    expect(
      world.scheduler.queues.allot([
        { ...queued(7), url },
        { ...queued(8, 3), url },
      ]),
    ).toEqual([0, 1]);
  });
});

test('a company that uses up its places leaves places to others, and waits for its own', async () => {
  const places = createPlaces(8, 60_000);
  for (let taken = 0; taken < 4; taken++) expect(await places.take(1)).toBe(true);
  const waiting = [places.take(1), places.take(1)];
  expect(await places.take(2)).toBe(true);
  expect([places.held(1), places.held(2)]).toEqual([4, 1]);
  places.giveBack(2);
  places.giveBack(1);
  expect(await waiting[0]).toBe(true);
  places.giveBack(1);
  expect(await waiting[1]).toBe(true);
  expect(places.held(1)).toBe(4);
});

test('a company may wait in half of the waiting places; the rest is refused at once', async () => {
  const places = createPlaces(8, 30);
  for (let taken = 0; taken < 4; taken++) await places.take(1);
  const waiting = Array.from({ length: 4 }, () => places.take(1));
  expect(await places.take(1)).toBe(false);
  expect(await Promise.all(waiting)).toEqual(Array(4).fill(false));
  expect(places.held(1)).toBe(4);
  places.giveBack(1);
  expect(await places.take(1)).toBe(true);
});

describe('Shares', () => {
  const fill = (shares: Shares, companies: readonly number[]): Map<number, number> => {
    const got = new Map<number, number>();
    for (let moved = true; moved; ) {
      moved = false;
      for (const company of companies) {
        if (!shares.mayTake(company)) continue;
        shares.take(company);
        got.set(company, (got.get(company) ?? 0) + 1);
        moved = true;
      }
    }
    return got;
  };

  test.each([
    [1, 128],
    [2, 86],
    [7, 32],
  ])(
    '%i companies that take all they can get at most %i of 256 each, and leave as many free',
    (companies, each) => {
      const shares = createShares(256);
      const ids = Array.from({ length: companies }, (_, at) => at + 1);
      const got = fill(shares, ids);
      for (const count of got.values()) expect(count).toBeLessThanOrEqual(each);
      expect(shares.free()).toBeGreaterThanOrEqual(each - companies);
      expect(shares.full().toSorted((a, b) => a - b)).toEqual(ids);
      // A new company gets its part without waiting for the others.
      expect(shares.mayTake(99)).toBe(true);
    },
  );

  test('places that one company gives back are free for companies with fewer', () => {
    const shares = createShares(12);
    fill(shares, [1]);
    expect([shares.taken(), shares.full()]).toEqual([6, [1]]);
    shares.take(2, 3);
    shares.giveBack(1, 4);
    expect(shares.full()).toEqual([]);
    shares.giveBack(1, 2);
    shares.giveBack(2, 3);
    expect([shares.taken(), shares.free()]).toEqual([0, 12]);
  });
});
