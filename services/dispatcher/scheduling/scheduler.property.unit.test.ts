import { failuresUntilProbing } from '@causeway/proto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { deliveryName, type Job, queueName } from '../job.ts';
import { createScheduler } from './scheduler.ts';

const subscriptions = 3;
const subscription = fc.integer({ min: 1, max: subscriptions });
/** Two of them belong to one company. */
const companyOf = (subscriptionId: number): number => (subscriptionId < 3 ? 1 : 2);
const slots = 12;

type Step =
  | {
      readonly kind: 'offer';
      readonly to: number;
      readonly source: Job['source'];
      readonly probe: boolean;
      readonly times: number;
    }
  | { readonly kind: 'end' | 'abandon'; readonly which: number; readonly succeeded: boolean }
  | { readonly kind: 'failures'; readonly to: number; readonly failures: number }
  | { readonly kind: 'wanted'; readonly to: number }
  | { readonly kind: 'wait'; readonly ms: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('offer' as const),
      to: subscription,
      source: fc.constantFrom('first' as const, 'queue' as const),
      probe: fc.oneof(
        { arbitrary: fc.constant(false), weight: 9 },
        { arbitrary: fc.constant(true), weight: 1 },
      ),
      times: fc.integer({ min: 1, max: 12 }),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constantFrom('end' as const, 'end' as const, 'end' as const, 'abandon' as const),
      which: fc.nat(100),
      succeeded: fc.oneof(
        { arbitrary: fc.constant(true), weight: 3 },
        { arbitrary: fc.constant(false), weight: 1 },
      ),
    }),
    weight: 8,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('failures' as const), to: subscription, failures: fc.nat(8) }),
    weight: 1,
  },
  { arbitrary: fc.record({ kind: fc.constant('wanted' as const), to: subscription }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(1500) }), weight: 2 },
);

/** Runs the steps, and records each job that is started or given back. */
const play = (steps: readonly Step[], check: (world: Played) => void): Played => {
  let clockMs = 1_000_000;
  let lastEvent = 0;
  const offered = new Map<string, Job>();
  const started = new Map<string, Job>();
  const ended = new Set<string>();
  const returned = new Set<string>();
  const scheduler = createScheduler({
    slots,
    start: (job) => {
      const name = deliveryName(job);
      // Each is started at most once, and never after it was given back.
      expect([started.has(name), ended.has(name), returned.has(name)]).toEqual([false, false, false]);
      started.set(name, job);
    },
    giveBack: (jobs) => {
      for (const job of jobs) {
        const name = deliveryName(job);
        expect([started.has(name), ended.has(name), returned.has(name)]).toEqual([false, false, false]);
        returned.add(name);
      }
    },
    onRoom: () => {},
    nowMs: () => clockMs,
    // Its timer would use the real clock.
    maxWaitMs: 1e9,
  });
  const world: Played = { scheduler, offered, started, ended, returned };
  for (const one of steps) {
    if (one.kind === 'wait') clockMs += one.ms;
    if (one.kind === 'failures')
      scheduler.setFailures({ company_id: companyOf(one.to), subscription_id: one.to }, one.failures);
    if (one.kind === 'wanted')
      scheduler.wanted({ company_id: companyOf(one.to), subscription_id: one.to, url: '' });
    if (one.kind === 'offer')
      for (let at = 0; at < one.times; at++) {
        const job = {
          company_id: companyOf(one.to),
          subscription_id: one.to,
          event_id: ++lastEvent,
          replay_id: 0,
          source: one.source,
          probe: one.probe,
          body: Buffer.alloc(9),
          target: { url: 'https://hooks.example.com/' },
        } as Job;
        offered.set(deliveryName(job), job);
        scheduler.offer(job);
      }
    if ((one.kind === 'end' || one.kind === 'abandon') && started.size > 0) {
      const [name, job] = [...started][one.which % started.size]!;
      started.delete(name);
      ended.add(name);
      if (one.kind === 'end') scheduler.ended(job, one.succeeded);
      else scheduler.abandoned(job);
    }
    check(world);
  }
  return world;
};

interface Played {
  readonly scheduler: ReturnType<typeof createScheduler>;
  readonly offered: ReadonlyMap<string, Job>;
  readonly started: ReadonlyMap<string, Job>;
  readonly ended: ReadonlySet<string>;
  readonly returned: ReadonlySet<string>;
}

const steps = fc.array(step, { maxLength: 60 });

test('no delivery is lost: each is waiting, under way, ended or given back, and never two of these', () => {
  fc.assert(
    fc.property(steps, (order) => {
      play(order, ({ scheduler, offered, started, ended, returned }) => {
        expect(scheduler.inFlight()).toBe(started.size);
        expect(offered.size).toBe(scheduler.waiting() + started.size + ended.size + returned.size);
      });
    }),
    { numRuns: 200 },
  );
});

test('no more attempts are under way than there are slots, than the share of queues allows, or than the concurrency of a subscription', () => {
  fc.assert(
    fc.property(steps, (order) => {
      play(order, ({ scheduler, started }) => {
        const jobs = [...started.values()];
        const fromQueues = jobs.filter(({ source }) => source === 'queue').length;
        expect(jobs.length).toBeLessThanOrEqual(slots);
        expect(fromQueues).toBeLessThanOrEqual(slots / 2);
        expect(scheduler.free()).toEqual({
          slots: slots - jobs.length,
          queueSlots: Math.min(slots - jobs.length, slots / 2 - fromQueues),
        });
      });
    }),
    { numRuns: 200 },
  );
});

test('a failing subscription gets no second attempt while one is under way', () => {
  fc.assert(
    fc.property(steps, (order) => {
      // Attempts under way when it began to fail may end; none are added.
      const atMost = new Map<string, number>();
      play(order, ({ scheduler, started }) => {
        for (let id = 1; id <= subscriptions; id++) {
          const key = { company_id: companyOf(id), subscription_id: id };
          const name = queueName(key);
          const count = [...started.values()].filter((job) => job.subscription_id === id).length;
          if (scheduler.failuresOf(key) < failuresUntilProbing) atMost.delete(name);
          else {
            const allowed = Math.max(1, atMost.get(name) ?? count);
            expect(count).toBeLessThanOrEqual(allowed);
            atMost.set(name, Math.min(allowed, Math.max(1, count)));
            expect(scheduler.share([{ ...key, url: '' }])[0]).toBeLessThanOrEqual(Math.max(0, 1 - count));
          }
        }
      });
    }),
    { numRuns: 200 },
  );
});

test('at the end nothing waits, and the drain ends with the last attempt', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const { scheduler, started, offered, ended, returned } = play(order, () => {});
      let isOver = false;
      const drained = scheduler.drain().then(() => {
        isOver = true;
      });
      expect(scheduler.waiting()).toBe(0);
      for (const job of [...started.values()]) {
        await Promise.resolve();
        expect(isOver).toBe(false);
        scheduler.ended(job, true);
      }
      await drained;
      expect(scheduler.inFlight()).toBe(0);
      expect(started.size + ended.size + returned.size).toBe(offered.size);
    }),
    { numRuns: 100 },
  );
});
