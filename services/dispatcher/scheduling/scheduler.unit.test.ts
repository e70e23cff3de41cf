import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Job } from '../job.ts';
import { createScheduler, type Scheduler, type SchedulerOptions } from './scheduler.ts';

let lastEvent = 0;
const jobOf = (subscription_id: number, more: Partial<Job> = {}): Job =>
  ({
    company_id: 1,
    subscription_id,
    event_id: ++lastEvent,
    source: 'first',
    probe: false,
    body: Buffer.alloc(9),
    target: { url: 'https://hooks.example.com/' },
    ...more,
  }) as Job;

interface World {
  readonly scheduler: Scheduler;
  /** In flight, the oldest first. */
  readonly started: Job[];
  readonly returned: Job[];
  clockMs: number;
  rooms: number;
  /** Ends the oldest attempt of a subscription. */
  end(subscription_id: number, succeeded?: boolean): void;
}

const openScheduler = (options: Partial<SchedulerOptions> = {}): World => {
  const world: World = {
    scheduler: createScheduler({
      slots: 512,
      start: (job) => void world.started.push(job),
      giveBack: (jobs) => void world.returned.push(...jobs),
      onRoom: () => void world.rooms++,
      nowMs: () => world.clockMs,
      ...options,
    }),
    started: [],
    returned: [],
    clockMs: 1_000_000,
    rooms: 0,
    end: (subscription_id, succeeded = true) => {
      const at = world.started.findIndex((job) => job.subscription_id === subscription_id);
      const [job] = world.started.splice(at, 1);
      world.scheduler.ended(job!, succeeded);
    },
  };
  return world;
};
const offer = ({ scheduler }: World, count: number, subscription_id: number, more: Partial<Job> = {}) => {
  for (let at = 0; at < count; at++) scheduler.offer(jobOf(subscription_id, more));
};
const queued = (subscription_id: number, company_id = 1) => ({
  company_id,
  subscription_id,
  url: 'https://hooks.example.com/',
});
const roomFor = ({ scheduler }: World, subscription_id: number) =>
  scheduler.share([queued(subscription_id)])[0];
const inFlight = ({ started }: World, subscription_id: number) =>
  started.filter((job) => job.subscription_id === subscription_id).length;

test('the concurrency begins at four, grows by one with each success up to 64, and falls back with a failure', () => {
  const world = openScheduler();
  offer(world, 10, 1);
  expect(inFlight(world, 1)).toBe(4);
  world.end(1);
  expect(inFlight(world, 1)).toBe(5);
  for (let round = 0; round < 200; round++) {
    offer(world, 2, 1);
    world.end(1);
  }
  expect(inFlight(world, 1)).toBe(64);
  world.end(1, false);
  expect(inFlight(world, 1)).toBe(63);
  while (inFlight(world, 1) > 4) world.end(1, false);
  world.scheduler.offer(jobOf(1));
  expect(inFlight(world, 1)).toBe(4);
});

test('a receiver that goes silent gets no more than the first concurrency, however large its own was', () => {
  const world = openScheduler();
  for (let round = 0; round < 40; round++) {
    offer(world, 1, 1);
    world.end(1);
  }
  offer(world, 3, 1);
  world.clockMs += 1_001;
  offer(world, 30, 1);
  expect(inFlight(world, 1)).toBe(4);
  expect(world.returned).toHaveLength(29);
  world.end(1);
  offer(world, 30, 1);
  expect(inFlight(world, 1)).toBe(33);
});

test('deliveries that wait too long are given back, and so are those that find no waiting place', async () => {
  const world = openScheduler({ maxWaitMs: 40, nowMs: () => performance.now() });
  offer(world, 4 + 32 + 3, 1);
  expect(world.returned).toHaveLength(3);
  expect(world.scheduler.waiting()).toBe(32);
  await sleep(100);
  expect(world.returned).toHaveLength(35);
  expect(world.scheduler.waiting()).toBe(0);
});

test('many hanging receivers leave slots, waiting places and turns to others', () => {
  const world = openScheduler({ slots: 64 });
  for (let hanging = 100; hanging < 110; hanging++) offer(world, 100, hanging, { company_id: hanging });
  expect(world.started).toHaveLength(40);
  offer(world, 10, 1);
  expect(inFlight(world, 1)).toBe(4);
  for (let round = 0; round < 6; round++) world.end(1);
  expect(inFlight(world, 1)).toBe(4);
});

test('attempts from queues leave half of the slots to first attempts', () => {
  const world = openScheduler({ slots: 16 });
  for (let queue = 100; queue < 120; queue++) offer(world, 1, queue, { company_id: queue, source: 'queue' });
  expect(world.started).toHaveLength(8);
  expect(world.scheduler.free()).toEqual({ slots: 8, queueSlots: 0 });
  for (const company_id of [1, 2, 3, 4, 5, 6, 7, 8]) offer(world, 1, company_id, { company_id });
  expect(world.started).toHaveLength(16);
  world.end(1);
  expect(world.scheduler.free()).toEqual({ slots: 1, queueSlots: 0 });
  world.end(100);
  expect(inFlight(world, 108)).toBe(1);
});

test('subscriptions that wait take turns', () => {
  const world = openScheduler({ slots: 2 });
  offer(world, 2, 1);
  for (const subscription of [2, 3]) offer(world, 3, subscription);
  const order: number[] = [];
  while (world.started.length > 0) {
    const [job] = world.started;
    order.push(job!.subscription_id);
    world.end(job!.subscription_id);
  }
  expect(order).toEqual([1, 1, 2, 3, 2, 3, 2, 3]);
});

test('a recorded count of failures never lowers the known one: results that are not recorded yet may count for more', () => {
  const { scheduler } = openScheduler();
  scheduler.raiseFailures(jobOf(1), 3);
  expect(scheduler.failuresOf(jobOf(1))).toBe(3);
  scheduler.setFailures(jobOf(1), 5);
  for (const recorded of [0, 4]) scheduler.raiseFailures(jobOf(1), recorded);
  expect([scheduler.failuresOf(jobOf(1)), scheduler.isClosed(jobOf(1))]).toEqual([5, true]);
  scheduler.setFailures(jobOf(1), 0);
  expect(scheduler.isClosed(jobOf(1))).toBe(false);
});

test('a failing subscription has no waiting deliveries, and room for one attempt at a time', () => {
  const world = openScheduler();
  offer(world, 8, 1);
  world.scheduler.setFailures(jobOf(1), 5);
  expect(world.returned).toHaveLength(4);
  offer(world, 1, 1);
  expect(world.returned).toHaveLength(5);
  expect(roomFor(world, 1)).toBe(0);
  for (let round = 0; round < 4; round++) world.end(1, false);
  expect(roomFor(world, 1)).toBe(1);
  offer(world, 1, 1, { probe: true });
  expect(inFlight(world, 1)).toBe(1);
  expect(roomFor(world, 1)).toBe(0);
});

test('a queue with more deliveries is read again when half of its concurrency is free', async () => {
  const world = openScheduler();
  offer(world, 4, 1);
  world.scheduler.wanted(queued(1));
  expect(world.scheduler.full().queues).toHaveLength(1);
  world.end(1, false);
  await sleep(100);
  expect(world.rooms).toBe(0);
  world.end(1, false);
  await expect.poll(() => world.rooms).toBe(1);
  expect(world.scheduler.full()).toEqual({ companies: [], queues: [] });
  world.scheduler.wanted(queued(2));
  await expect.poll(() => world.rooms).toBe(2);
});

test('a drain gives back waiting deliveries, accepts no more, and ends with the last attempt', async () => {
  const world = openScheduler();
  offer(world, 6, 1);
  let drained = false;
  const draining = world.scheduler.drain().then(() => {
    drained = true;
  });
  expect(world.returned).toHaveLength(2);
  offer(world, 1, 2);
  expect(world.returned).toHaveLength(3);
  for (let left = 4; left > 0; left--) {
    await sleep(0);
    expect(drained).toBe(false);
    world.end(1);
  }
  await draining;
});

describe('one company with 950 slow subscriptions', () => {
  const slow = Array.from({ length: 950 }, (_, at) => 1_000 + at);

  test('gets half of the slots, and another company’s attempts of either kind begin at once', () => {
    const world = openScheduler({ slots: 64 });
    for (const id of slow) offer(world, 2, id, { source: 'queue' });
    expect(world.started).toHaveLength(16);
    for (const id of slow) offer(world, 2, id);
    expect(world.started).toHaveLength(32);
    expect(world.scheduler.waiting()).toBeLessThanOrEqual(512);
    offer(world, 1, 1, { company_id: 2 });
    offer(world, 1, 2, { company_id: 2, source: 'queue' });
    expect([inFlight(world, 1), inFlight(world, 2)]).toEqual([1, 1]);
  });

  test('does not take waiting places or turns from others', () => {
    const world = openScheduler({ slots: 8 });
    for (const id of slow) offer(world, 2, id);
    for (const company_id of [2, 3, 4]) offer(world, 3, company_id, { company_id });
    const order: number[] = [];
    while (world.scheduler.waiting() > 450) {
      const [job] = world.started;
      order.push(job!.company_id);
      world.end(job!.subscription_id);
    }
    // All of the small companies are done when the large one has had about as many attempts.
    expect(order.slice(0, 24).filter((company) => company > 1)).toHaveLength(9);
  });

  test('gets no more than its share of the due queues that are read, after one for each company', () => {
    const world = openScheduler({ slots: 64 });
    const others = [2, 3].map((company_id) => queued(company_id, company_id));
    const counts = world.scheduler.share([...slow.slice(0, 62).map((id) => queued(id)), ...others]);
    expect(counts.slice(-2)).toEqual([4, 4]);
    const large = counts.slice(0, -2);
    expect(large.reduce((sum, count) => sum + count, 0)).toBe(12);
    // Its subscriptions take turns as well.
    expect(Math.max(...large)).toBe(1);
    // Reading took no slots.
    expect(world.scheduler.free()).toEqual({ slots: 64, queueSlots: 32 });
  });

  test('is skipped while it has its share, and its queues are read again when it has less', async () => {
    const world = openScheduler({ slots: 16 });
    for (const id of slow.slice(0, 4)) offer(world, 1, id, { source: 'queue' });
    for (const id of slow) world.scheduler.wanted(queued(id));
    expect(world.scheduler.full()).toEqual({ companies: [1], queues: [] });
    expect(world.rooms).toBe(0);
    for (const id of slow.slice(0, 4)) world.end(id);
    await expect.poll(() => world.rooms).toBeGreaterThan(0);
    await expect.poll(() => world.scheduler.full()).toEqual({ companies: [], queues: [] });
  });
});

describe('a host', () => {
  const to = (url: string) => ({ target: { url } as Job['target'] });
  const shared = to('https://shared.example/a');

  test('gets a limited number of concurrent attempts over all subscriptions and ports, without effect on others', () => {
    const world = openScheduler({ slots: 512, maxPerHost: 8 });
    for (let company_id = 1; company_id <= 40; company_id++)
      offer(world, 4, company_id, { company_id, ...to(`https://SHARED.example:${400 + company_id}/`) });
    expect(world.started).toHaveLength(8);
    offer(world, 4, 99, { company_id: 1, ...to('https://other.example/') });
    expect(inFlight(world, 99)).toBe(4);
    world.end(world.started[0]!.subscription_id);
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
      world.scheduler.share([
        { ...queued(7), url },
        { ...queued(8, 3), url },
      ]),
    ).toEqual([0, 2]);
  });
});
