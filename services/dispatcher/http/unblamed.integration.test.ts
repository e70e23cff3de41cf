import { setTimeout as sleep } from 'node:timers/promises';
import { testReceiver } from '@causeway/runtime/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type World } from '../testing/boot.ts';
import { answer, startRawReceiver } from '../testing/raw-receiver.ts';
import { Failure } from './failure.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const failures = async (subscription: Parameters<World['queue']>[0]) =>
  (await world.queue(subscription))?.consecutive_failures;

test('a fault on our side counts for no receiver, uses up no attempt, and delays the delivery only', async () => {
  let lookUps = 0;
  const faulty = await world.start({
    leaseMs: 1_000,
    timeoutMs: 500,
    resolve: async () => {
      lookUps++;
      throw new Failure('dns', 'The name servers did not answer.', 'ETIMEOUT');
    },
  });
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url.replace('127.0.0.1', 'hooks.example.com'));
  await world.deliver(subscription, 3);
  await world.deliver(subscription, 3, { by: 'queue' });
  // More than twenty faults, so that the subscription would be disabled.
  await expect.poll(async () => lookUps >= 20).toBe(true);
  expect(await failures(subscription)).toBe(0);
  expect(await world.attempts(subscription)).toEqual([]);
  expect(await faulty.metrics.registry.metrics()).toContain('dispatcher_own_faults_total{code="ETIMEOUT"}');
  await faulty.drain();
  const { drain } = await world.start({ resolve: async () => ['127.0.0.1'] });
  await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 6 });
  expect(receiver.received.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1, 1]);
  expect(await failures(subscription)).toBe(0);
  await drain();
});

describe('a kept connection that ends without an answer', () => {
  /** Answers each first request of a connection, and ends the connection after `waitMs` at each second one. */
  const start = (waitMs: number) => {
    const counts = new WeakMap<object, number>();
    return startRawReceiver((socket) => {
      const nth = (counts.get(socket) ?? 0) + 1;
      counts.set(socket, nth);
      if (nth === 1) socket.write(answer(200));
      else setTimeout(() => socket.destroy(), waitMs);
    });
  };
  const attemptsOf = (requests: readonly string[]) =>
    requests.map((text) => Number(/x-webhook-attempt: (\d+)/i.exec(text)?.[1]));

  test('is repeated as an attempt of its own that is shown', async () => {
    // A busy machine may see the end later than a round trip: then it is the retry of the schedule.
    const { drain } = await world.start({ scheduleMs: [50] });
    const receiver = await start(0);
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 1);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 1 });
    await world.deliver(subscription, 1);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 2 });
    expect(attemptsOf(receiver.requests)).toEqual([1, 1, 2]);
    expect(await world.attempts(subscription)).toMatchObject([
      { attempt: 1, status_code: 200 },
      { attempt: 1, status_code: null, error_class: 'reset' },
      { attempt: 2, status_code: 200 },
    ]);
    expect(await failures(subscription)).toBe(0);
    await drain();
    await receiver[Symbol.asyncDispose]();
  });

  test('after some time is a failed attempt, and no request is sent beside the schedule', async () => {
    const { drain } = await world.start({ scheduleMs: [600_000] });
    const receiver = await start(3_000);
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 1);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 1 });
    await world.deliver(subscription, 1);
    await expect.poll(() => failures(subscription)).toBe(1);
    // Time for a second request, which must not come.
    await sleep(300);
    expect(attemptsOf(receiver.requests)).toEqual([1, 1]);
    await drain();
    await receiver[Symbol.asyncDispose]();
  });

  test('gets no request beyond the pace', async () => {
    const { drain } = await world.start();
    const receiver = await start(0);
    const timesMs: number[] = [];
    const push = receiver.requests.push.bind(receiver.requests);
    receiver.requests.push = (...more) => {
      timesMs.push(performance.now());
      return push(...more);
    };
    const subscription = await world.subscribe(receiver.url, { pace_limit: 5, pace_seconds: 1 });
    await world.deliver(subscription, 20, { by: 'queue' });
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 20 });
    const most = Math.max(
      ...timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + 900).length),
    );
    expect(most).toBeLessThanOrEqual(6);
    await drain();
    await receiver[Symbol.asyncDispose]();
  });
});
