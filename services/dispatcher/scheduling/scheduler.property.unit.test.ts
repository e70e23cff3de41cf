import { failuresUntilProbing } from '@causeway/proto';
import { noMetrics } from '@causeway/runtime';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AttemptedDelivery, type Delivery, deliveryName, queueName } from '../delivery.ts';
import { createHealth, type Health } from '../health.ts';
import { createScheduler } from './scheduler.ts';

const subscriptions = 3;
const subscription = fc.integer({ min: 1, max: subscriptions });
const companyOf = (subscriptionId: number): number => (subscriptionId < 3 ? 1 : 2);
const slots = 12;

type Step =
  | {
      readonly kind: 'offer';
      readonly to: number;
      readonly source: Delivery['source'];
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

const play = async (steps: readonly Step[], check: (world: Played) => void): Promise<Played> => {
  let clockMs = 1_000_000;
  let lastEvent = 0;
  const offered = new Set<string>();
  const started = new Map<string, Attempt>();
  const ended = new Set<string>();
  const returned = new Set<string>();
  const health = createHealth();
  // Each is started at most once, and never after it was given back.
  const isNew = (name: string): void =>
    expect([started.has(name), ended.has(name), returned.has(name)]).toEqual([false, false, false]);
  const scheduler = createScheduler({
    slots,
    attempts: {
      mayBegin: () => true,
      make: (delivery) => {
        isNew(deliveryName(delivery));
        return new Promise((end) => started.set(deliveryName(delivery), { delivery, end }));
      },
    },
    recorder: {
      giveBack: (deliveries) => {
        for (const name of deliveries.map(deliveryName)) {
          isNew(name);
          returned.add(name);
        }
      },
    },
    health,
    metrics: noMetrics,
    nowMs: () => clockMs,
    timeoutMs: 10_000,
    // Its timer would use the real clock.
    maxWaitMs: 1e9,
  });
  const world: Played = { scheduler, health, offered, started, ended, returned };
  for (const one of steps) {
    if (one.kind === 'wait') clockMs += one.ms;
    if (one.kind === 'failures')
      health.set({ company_id: companyOf(one.to), subscription_id: one.to }, one.failures);
    if (one.kind === 'wanted')
      scheduler.queues.markBacklogged({
        company_id: companyOf(one.to),
        subscription_id: one.to,
        url: '',
      });
    if (one.kind === 'offer')
      for (let at = 0; at < one.times; at++) {
        const delivery = {
          company_id: companyOf(one.to),
          subscription_id: one.to,
          event_id: ++lastEvent,
          replay_id: 0,
          source: one.source,
          probe: one.probe,
          body: Buffer.alloc(9),
          target: { url: 'https://hooks.example.com/' },
        } as Delivery;
        offered.add(deliveryName(delivery));
        scheduler.offer(delivery);
      }
    if ((one.kind === 'end' || one.kind === 'abandon') && started.size > 0) {
      const [name, attempt] = [...started][one.which % started.size]!;
      started.delete(name);
      ended.add(name);
      attempt.end(one.kind === 'end' ? attemptedOf(attempt.delivery, one.succeeded) : undefined);
      await undefined;
    }
    check(world);
  }
  return world;
};

const attemptedOf = (delivery: Delivery, succeeded: boolean): AttemptedDelivery =>
  ({
    ...delivery,
    result: { elapsedMs: 50 },
    decision: { outcome: succeeded ? 'succeeded' : 'retry' },
  }) as AttemptedDelivery;

interface Attempt {
  readonly delivery: Delivery;
  end(attempted: AttemptedDelivery | undefined): void;
}

interface Played {
  readonly scheduler: ReturnType<typeof createScheduler>;
  readonly health: Health;
  readonly offered: ReadonlySet<string>;
  readonly started: ReadonlyMap<string, Attempt>;
  readonly ended: ReadonlySet<string>;
  readonly returned: ReadonlySet<string>;
}

const always = (checkOf: () => (world: Played) => void) =>
  fc.assert(
    fc.asyncProperty(steps, async (order) => void (await play(order, checkOf()))),
    { numRuns: 200 },
  );

const steps = fc.array(step, { maxLength: 60 });

test('no delivery is lost: each is waiting, under way, ended or given back, and never two of these', () =>
  always(() => ({ scheduler, offered, started, ended, returned }) => {
    const { inFlight, waiting } = scheduler.counts();
    expect(inFlight).toBe(started.size);
    expect(offered.size).toBe(waiting + started.size + ended.size + returned.size);
  }));

test('no more attempts are under way than there are slots, than the share of queues allows, or than the concurrency of a subscription', () =>
  always(() => ({ scheduler, started }) => {
    const fromQueues = [...started.values()].filter(({ delivery }) => delivery.source === 'queue').length;
    expect(started.size).toBeLessThanOrEqual(slots);
    expect(fromQueues).toBeLessThanOrEqual(slots / 2);
    expect(scheduler.free()).toEqual({
      slots: slots - started.size,
      queueSlots: Math.min(slots - started.size, slots / 2 - fromQueues),
    });
  }));

test('a failing subscription gets no second attempt while one is under way', () =>
  always(() => {
    // Attempts under way when it began to fail may end; none are added.
    const atMost = new Map<string, number>();
    return ({ scheduler, health, started }) => {
      for (let id = 1; id <= subscriptions; id++) {
        const key = { company_id: companyOf(id), subscription_id: id };
        const name = queueName(key);
        const count = [...started.values()].filter(({ delivery }) => delivery.subscription_id === id).length;
        if (health.failuresOf(key) < failuresUntilProbing) atMost.delete(name);
        else {
          const allowed = Math.max(1, atMost.get(name) ?? count);
          expect(count).toBeLessThanOrEqual(allowed);
          atMost.set(name, Math.min(allowed, Math.max(1, count)));
          expect(scheduler.queues.allot([{ ...key, url: '' }])[0]).toBeLessThanOrEqual(
            Math.max(0, 1 - count),
          );
        }
      }
    };
  }));

test('at the end nothing waits, and the drain ends with the last attempt', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const { scheduler, started, offered, ended, returned } = await play(order, () => {});
      let isOver = false;
      const drained = scheduler.drain().then(() => {
        isOver = true;
      });
      expect(scheduler.counts().waiting).toBe(0);
      for (const attempt of [...started.values()]) {
        await undefined;
        expect(isOver).toBe(false);
        attempt.end(attemptedOf(attempt.delivery, true));
      }
      await drained;
      expect(scheduler.counts().inFlight).toBe(0);
      expect(started.size + ended.size + returned.size).toBe(offered.size);
    }),
    { numRuns: 100 },
  );
});
