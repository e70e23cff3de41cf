import { setTimeout as sleep } from 'node:timers/promises';
import { noMetrics } from '@causeway/runtime';
import { describe, expect, test } from 'vitest';
import type { AttemptedDelivery, Delivery, LeasedDelivery } from '../delivery.ts';
import { createHealth, type Health } from '../health.ts';
import { createScheduler, type Scheduler, type SchedulerOptions } from './scheduler.ts';

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

test('the concurrency begins at one, grows by one with each quick success up to 64, and falls back with a failure', async () => {
  const world = openScheduler();
  offer(world, 10, 1);
  expect(inFlight(world, 1)).toBe(1);
  await world.end(1);
  expect(inFlight(world, 1)).toBe(2);
  for (let round = 0; round < 200; round++) {
    offer(world, 2, 1);
    await world.end(1);
  }
  expect(inFlight(world, 1)).toBe(64);
  await world.end(1, { succeeded: false });
  expect(inFlight(world, 1)).toBe(63);
  while (inFlight(world, 1) > 1) await world.end(1, { succeeded: false });
  world.scheduler.offer(deliveryOf(1));
  expect(inFlight(world, 1)).toBe(1);
});

test('slow answers make room for fewer', async () => {
  const world = openScheduler();
  await fill(world, 1, 8);
  offer(world, 20, 1);
  for (let slow = 0; slow < 4; slow++) await world.end(1, { elapsedMs: 1_500 });
  expect(inFlight(world, 1)).toBe(6);
});

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

  test('begins anew: attempts at the former one take no room, and their answers say nothing', async () => {
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

test('many hanging receivers leave slots, waiting places and turns to others', async () => {
  const world = openScheduler({ slots: 64 });
  for (let hanging = 100; hanging < 110; hanging++) offer(world, 100, hanging, { company_id: hanging });
  expect(world.started).toHaveLength(10);
  offer(world, 10, 1);
  expect(inFlight(world, 1)).toBe(1);
  for (let round = 0; round < 6; round++) await world.end(1);
  expect(inFlight(world, 1)).toBe(4);
});

test('attempts from queues leave half of the slots to first attempts', async () => {
  const world = openScheduler({ slots: 16 });
  for (let queue = 100; queue < 120; queue++) offer(world, 1, queue, { company_id: queue, source: 'queue' });
  expect(world.started).toHaveLength(8);
  expect(world.scheduler.free()).toEqual({ slots: 8, queueSlots: 0 });
  for (const company_id of [1, 2, 3, 4, 5, 6, 7, 8]) offer(world, 1, company_id, { company_id });
  expect(world.started).toHaveLength(16);
  await world.end(1);
  expect(world.scheduler.free()).toEqual({ slots: 1, queueSlots: 0 });
  await world.end(100);
  expect(inFlight(world, 108)).toBe(1);
});

test('subscriptions that wait take turns', async () => {
  const world = openScheduler({ slots: 2 });
  offer(world, 2, 1);
  for (const subscription of [2, 3]) offer(world, 3, subscription);
  const order: number[] = [];
  while (world.started.length > 0) {
    const [delivery] = world.started;
    order.push(delivery!.subscription_id);
    await world.end(delivery!.subscription_id);
  }
  expect(order).toEqual([1, 1, 2, 3, 2, 3, 2, 3]);
});

test('a recorded count of failures never lowers the known one: results that are not recorded yet may count for more', () => {
  const world = openScheduler();
  const { health, returned } = world;
  health.raise(deliveryOf(1), 3);
  expect(health.failuresOf(deliveryOf(1))).toBe(3);
  health.set(deliveryOf(1), 5);
  for (const recorded of [0, 4]) health.raise(deliveryOf(1), recorded);
  offer(world, 1, 1);
  expect([health.failuresOf(deliveryOf(1)), returned.length]).toEqual([5, 1]);
  health.set(deliveryOf(1), 0);
  offer(world, 1, 1);
  expect([inFlight(world, 1), returned.length]).toEqual([1, 1]);
});

test('a failing subscription has no waiting deliveries, and room for one attempt at a time', async () => {
  const world = openScheduler();
  offer(world, 8, 1);
  world.health.set(deliveryOf(1), 5);
  expect(world.returned).toHaveLength(7);
  offer(world, 1, 1);
  expect(world.returned).toHaveLength(8);
  expect(roomFor(world, 1)).toBe(0);
  await world.end(1, { succeeded: false });
  expect(roomFor(world, 1)).toBe(1);
  offer(world, 1, 1, { source: 'queue', probe: true });
  expect(inFlight(world, 1)).toBe(1);
  expect(roomFor(world, 1)).toBe(0);
});

test('a queue with more deliveries is read again when half of its concurrency is free', async () => {
  const world = openScheduler();
  await fill(world, 1, 4);
  while (world.waiting() > 0) await world.end(1, { elapsedMs: 1_500 });
  while (inFlight(world, 1) > 3) await world.end(1, { elapsedMs: 1_500 });
  offer(world, 1, 1);
  world.scheduler.queues.markBacklogged(queued(1));
  expect(world.scheduler.queues.saturated().queues).toHaveLength(1);
  // Longer than the scheduler waits before it reports room.
  await sleep(100);
  expect(world.rooms).toBe(0);
  while (inFlight(world, 1) > 0) await world.end(1);
  await expect.poll(() => world.rooms).toBe(1);
  expect(world.scheduler.queues.saturated()).toEqual({ companies: [], queues: [] });
  world.scheduler.queues.markBacklogged(queued(2));
  await expect.poll(() => world.rooms).toBe(2);
});

test('a drain gives back waiting deliveries, accepts no more, and ends with the last attempt', async () => {
  const world = openScheduler();
  await fill(world, 1, 4);
  const waiting = world.waiting();
  let drained = false;
  const draining = world.scheduler.drain().then(() => {
    drained = true;
  });
  expect(world.returned).toHaveLength(waiting);
  offer(world, 1, 2);
  expect(world.returned).toHaveLength(waiting + 1);
  for (let left = 4; left > 0; left--) {
    await sleep(0);
    expect(drained).toBe(false);
    await world.end(1);
  }
  await draining;
});

describe('one company with 950 slow subscriptions', async () => {
  const slow = Array.from({ length: 950 }, (_, at) => 1_000 + at);

  test('gets half of the slots, and another company’s attempts of either kind begin at once', () => {
    const world = openScheduler({ slots: 64 });
    for (const id of slow) offer(world, 2, id, { source: 'queue' });
    expect(world.started).toHaveLength(16);
    for (const id of slow) offer(world, 2, 10_000 + id);
    expect(world.started).toHaveLength(32);
    expect(world.waiting()).toBeLessThanOrEqual(2048);
    offer(world, 1, 1, { company_id: 2 });
    offer(world, 1, 2, { company_id: 2, source: 'queue' });
    expect([inFlight(world, 1), inFlight(world, 2)]).toEqual([1, 1]);
  });

  test('does not take waiting places or turns from others', async () => {
    const world = openScheduler({ slots: 8 });
    for (const id of slow) offer(world, 2, id);
    for (const company_id of [2, 3, 4]) offer(world, 3, company_id, { company_id });
    const order: number[] = [];
    while (world.waiting() > 450) {
      const [delivery] = world.started;
      order.push(delivery!.company_id);
      await world.end(delivery!.subscription_id);
    }
    // All of the small companies are done when the large one has had about as many attempts.
    expect(order.slice(0, 24).filter((company) => company > 1)).toHaveLength(9);
  });

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

  test('is skipped while it has its share, and its queues are read again when it has less', async () => {
    const world = openScheduler({ slots: 16 });
    for (const id of slow.slice(0, 4)) offer(world, 1, id, { source: 'queue' });
    for (const id of slow) world.scheduler.queues.markBacklogged(queued(id));
    expect(world.scheduler.queues.saturated()).toEqual({ companies: [1], queues: [] });
    expect(world.rooms).toBe(0);
    for (const id of slow.slice(0, 4)) await world.end(id);
    await expect.poll(() => world.rooms).toBeGreaterThan(0);
    await expect.poll(() => world.scheduler.queues.saturated()).toEqual({ companies: [], queues: [] });
  });
});

describe('a host', async () => {
  const to = (url: string) => ({ target: { url } as Delivery['target'] });
  const shared = to('https://shared.example/a');

  test('gets a limited number of concurrent attempts over all subscriptions and ports, without effect on others', async () => {
    const world = openScheduler({ slots: 512, maxPerHost: 8 });
    for (let company_id = 1; company_id <= 40; company_id++)
      offer(world, 4, company_id, { company_id, ...to(`https://SHARED.example:${400 + company_id}/`) });
    expect(world.started).toHaveLength(8);
    offer(world, 4, 99, { company_id: 1, ...to('https://other.example/') });
    expect(inFlight(world, 99)).toBe(1);
    await world.end(world.started[0]!.subscription_id);
    expect(world.started.filter(({ subscription_id }) => subscription_id !== 99)).toHaveLength(8);
  });

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
