import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, type TestDelivery, testDeliverySubject } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type Subscription, type World } from './testing/boot.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const states = (subscription: Subscription) => world.states(subscription);

test('a delivery fails after its last attempt, and is not attempted again', async () => {
  const { drain } = await world.start({ scheduleMs: [50, 50] });
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(302, { location: receiver.url }).end();
  const subscription = await world.subscribe(receiver.url);
  await world.deliver(subscription, 1);
  await expect.poll(() => states(subscription)).toEqual({ failed: 1 });
  // Time for a wrong fourth attempt, which would be due after 50 ms.
  await sleep(400);
  expect(await world.deliveries(subscription)).toMatchObject([
    { attempts: 3, due_utc: null, last_status: 302, last_error: 'redirect' },
  ]);
  expect(receiver.received).toHaveLength(3);
  expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 3 });
  await drain();
});

describe('a subscription is disabled', () => {
  test('by a 410 at once, and its waiting deliveries are held', async () => {
    const { drain } = await world.start({ scheduleMs: [100] });
    const receiver = await testReceiver();
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 3, { by: 'queue', dueMs: Date.now() + 3_600_000 });
    receiver.answer = (response) => response.writeHead(410).end();
    await world.deliver(subscription, 1);
    await expect
      .poll(() => world.subscription(subscription))
      .toMatchObject({
        enabled: 0,
        disabled_reason: 'the receiver answered 410 Gone',
      });
    await expect.poll(() => states(subscription)).toEqual({ held: 4 });
    expect((await world.attempts(subscription))[0]).toMatchObject({
      status_code: 410,
      next_attempt_utc: null,
    });
    await expect.poll(async () => (await world.queue(subscription))!.next_due_utc).toBeNull();
    // Deliveries that were written meanwhile are held too, not attempted; later events are missed.
    await world.deliver(subscription, 2, { by: 'queue' });
    await world.deliver(subscription, 1);
    await expect.poll(() => states(subscription)).toEqual({ held: 6 });
    expect(receiver.received).toHaveLength(1);
    await drain();
    const watching = await world.start();
    await expect
      .poll(() => watching.metrics.registry.metrics())
      .toMatch(/^dispatcher_waiting_queues\{kind="held"\} 1$/m);
    expect(await watching.metrics.registry.metrics()).toMatch(
      /^dispatcher_oldest_due_seconds\{kind="held"\} \d+\.\d+$/m,
    );
    await watching.drain();
  });

  test('by a 410 for 30 days, and is then removed, if a tool manages it', async () => {
    const { drain } = await world.start({ scheduleMs: [100] });
    const receiver = await testReceiver();
    receiver.answer = (response) => response.writeHead(410).end();
    const subscription = await world.subscribe(receiver.url, { managed_by: 'n8n' });
    await world.deliver(subscription, 1);
    await expect.poll(() => world.subscription(subscription)).toMatchObject({ enabled: 0 });
    const [row] = await world.database.query<Readonly<Record<string, Date>>>(
      'SELECT disabled_utc, expires_utc FROM subscriptions WHERE subscription_id = ?',
      [subscription.subscription_id],
    );
    const { disabled_utc, expires_utc } = row!;
    expect(expires_utc!.getTime() - disabled_utc!.getTime()).toBe(30 * 86_400_000);
    const own = await world.subscribe(receiver.url);
    await world.deliver(own, 1);
    await expect.poll(() => world.subscription(own)).toMatchObject({ enabled: 0 });
    expect(
      await world.database.query('SELECT expires_utc FROM subscriptions WHERE subscription_id = ?', [
        own.subscription_id,
      ]),
    ).toEqual([{ expires_utc: null }]);
    await drain();
  });

  test('but not by a 410 from its previous URL', async () => {
    const { drain } = await world.start({ scheduleMs: [60_000] });
    const [old, fresh] = [await testReceiver(), await testReceiver()];
    const subscription = await world.subscribe(old.url);
    old.answer = async (response) => {
      await world.database.query('UPDATE subscriptions SET url = ? WHERE subscription_id = ?', [
        fresh.url,
        subscription.subscription_id,
      ]);
      response.writeHead(410).end();
    };
    await world.deliver(subscription, 1);
    // Its delivery is soon sent to the fresh one.
    await expect
      .poll(async () => (await world.attempts(subscription))[0])
      .toMatchObject({ status_code: 410 });
    expect(await world.subscription(subscription)).toMatchObject({ enabled: 1 });
    await drain();
  });

  test('by twenty failures in a row: five of any burst, then fifteen probes, never two at a time', async () => {
    const options = { probeIntervalMs: 3, scheduleMs: Array(10).fill(50) };
    const { drain } = await world.start(options);
    const other = await world.start(options);
    const receiver = await testReceiver();
    receiver.answer = (response) => void setTimeout(() => response.writeHead(500).end(), 30);
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 2_000);
    await expect
      .poll(async () => (await world.queue(subscription))!.consecutive_failures)
      .toBeGreaterThan(10);
    // By now all attempts that were under way when it began to fail have ended: each dispatcher has four at most.
    receiver.mostAtATime = 0;
    const before = receiver.received.length;
    const failuresBefore = (await world.queue(subscription))!.consecutive_failures;
    await expect
      .poll(() => world.subscription(subscription))
      .toEqual({
        enabled: 0,
        disabled_reason: '20 consecutive failures',
      });
    expect(
      await world.database.query(
        'SELECT actor_kind, action, target_id, after_json FROM audit_log WHERE company_id = ? AND target_id = ?',
        [subscription.company_id, subscription.subscription_id],
      ),
    ).toEqual([
      {
        actor_kind: 'system',
        action: 'subscription.disabled',
        target_id: String(subscription.subscription_id),
        after_json: JSON.stringify({ enabled: false, reason: '20 consecutive failures' }),
      },
    ]);
    expect(receiver.mostAtATime).toBe(1);
    expect(receiver.received.length - before).toBeLessThanOrEqual(20 - failuresBefore + 1);
    expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 20 });
    const probes = receiver.received.slice(before).map(({ atMs }) => atMs);
    for (const [at, atMs] of probes.slice(1).entries())
      expect(atMs - probes[at]!).toBeGreaterThanOrEqual(3 * Math.min(2 ** (at + 1), 60));
    await expect.poll(() => states(subscription)).toEqual({ held: 2_000 });
    await expect.poll(async () => (await world.queue(subscription))!.next_due_utc).toBeNull();
    const made = receiver.received.length;
    // Time for a wrong attempt of a held delivery.
    await sleep(400);
    expect(receiver.received).toHaveLength(made);
    await drain();
    await other.drain();
  });
});

describe('auto-disable counts', () => {
  const spans = async (subscription: Subscription) =>
    (await world.attempts(subscription))
      .map(({ started_utc, elapsed_ms }) => ({
        beganMs: started_utc.getTime(),
        endedMs: started_utc.getTime() + Number(elapsed_ms),
      }))
      .sort((a, b) => a.beganMs - b.beganMs);
  const failures = async (subscription: Subscription) =>
    (await world.queue(subscription))!.consecutive_failures;

  test('each probe of a receiver that hangs: fifteen of the timeout, one after the other', async () => {
    const timeoutMs = 150;
    const { drain } = await world.start({ timeoutMs, probeIntervalMs: 1, scheduleMs: Array(10).fill(20) });
    const receiver = await testReceiver();
    receiver.answer = () => {};
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 300);
    await expect.poll(() => world.subscription(subscription)).toMatchObject({ enabled: 0 });
    expect(await failures(subscription)).toBe(20);
    const attempts = await world.attempts(subscription);
    expect(attempts.filter(({ error_class }) => error_class !== 'timeout')).toEqual([]);
    const all = await spans(subscription);
    expect(all.length).toBeGreaterThanOrEqual(20);
    const probes = all.slice(-15);
    for (const [at, { beganMs, endedMs }] of probes.entries()) {
      expect(endedMs - beganMs).toBeGreaterThanOrEqual(timeoutMs - 5);
      if (at > 0) expect(beganMs).toBeGreaterThanOrEqual(probes[at - 1]!.endedMs);
    }
    await drain();
  });
});

describe('a failing subscription backs off', () => {
  /** The clock stands still, and the first answers ask for ten minutes without requests. */
  const backOff = async (more: { readonly retryAfter?: string } = {}) => {
    let clockMs = Date.now();
    const start = () =>
      world.start({
        now: () => new Date(clockMs),
        probeIntervalMs: 1_000,
        timeoutMs: 30_000,
        leaseMs: 60_000,
      });
    const receiver = await testReceiver();
    const fail = (response: ServerResponse): void => {
      response.writeHead(503, more.retryAfter ? { 'retry-after': more.retryAfter } : {}).end();
    };
    receiver.answer = fail;
    const subscription = await world.subscribe(receiver.url);
    const first = await start();
    await world.deliver(subscription, 5);
    await expect.poll(async () => (await world.attempts(subscription)).length).toBe(5);
    const queue = async () => (await world.queue(subscription))!;
    await expect.poll(async () => (await queue()).consecutive_failures).toBe(5);
    return {
      subscription,
      receiver,
      fail,
      start,
      drain: first.drain,
      queue,
      waitMs: async () => (await queue()).next_due_utc!.getTime() - clockMs,
      pass: (ms: number) => {
        clockMs += ms;
      },
      rests: async () => {
        const before = receiver.received.length;
        // Time for dispatchers to look many times.
        await sleep(500);
        expect(receiver.received).toHaveLength(before);
      },
      ask: (more: Partial<TestDelivery> = {}) =>
        world.bus.nc.request(
          testDeliverySubject,
          JSON.stringify({
            companyId: subscription.company_id,
            subscriptionId: subscription.subscription_id,
            eventId: 1,
            eventType: 'client.created',
            body: '{"metadata":{"test":true}}',
            ...more,
          }),
          { timeout: 60_000 },
        ),
    };
  };

  test('and honours Retry-After; what comes meanwhile waits with its attempts, and is delivered by the next probe', async () => {
    const { subscription, receiver, queue, waitMs, pass, rests, drain } = await backOff({
      retryAfter: '600',
    });
    expect(await waitMs()).toBe(600_000);
    // New events do not make the probe come earlier, on their way through either the message or the outbox.
    await world.deliver(subscription, 20);
    await expect.poll(() => states(subscription)).toEqual({ waiting: 25 });
    await world.deliver(subscription, 5, { by: 'queue' });
    expect(await waitMs()).toBe(600_000);
    pass(599_999);
    await rests();
    pass(1);
    await expect.poll(() => receiver.received.length).toBe(6);
    await expect.poll(async () => (await queue()).consecutive_failures).toBe(6);
    expect(await waitMs()).toBe(600_000);
    receiver.answer = undefined;
    pass(600_000);
    await expect.poll(() => states(subscription)).toEqual({ succeeded: 30 });
    expect(await queue()).toMatchObject({ consecutive_failures: 0 });
    const attempts = (await world.deliveries(subscription)).map((one) => one.attempts);
    expect(attempts.reduce((sum, count) => sum + count)).toBe(6 + 30);
    await drain();
  });

  test('also over a restart and several dispatchers, with one probe after each wait', async () => {
    const { subscription, receiver, start, queue, waitMs, pass, rests, drain } = await backOff();
    await drain();
    const dispatchers = [await start(), await start()];
    await world.deliver(subscription, 10);
    await expect.poll(() => states(subscription)).toEqual({ waiting: 15 });
    await rests();
    const waits: number[] = [];
    for (let failures = 6; failures <= 20; failures++) {
      const wait = await waitMs();
      waits.push(wait);
      pass(wait - 1);
      if (failures % 5 === 0) await rests();
      pass(1);
      await expect.poll(async () => (await queue()).consecutive_failures).toBe(failures);
      expect(receiver.received).toHaveLength(failures);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, ...Array(9).fill(60)].map((seconds) => seconds * 1_000));
    expect(await world.subscription(subscription)).toMatchObject({ enabled: 0 });
    for (const { drain } of dispatchers) await drain();
  });

  test('until a test delivery succeeds: then it is probed at once, and the test counts as nothing', async () => {
    const { receiver, subscription, fail, queue, waitMs, rests, ask, drain } = await backOff({
      retryAfter: '3600',
    });
    await world.deliver(subscription, 10);
    await expect.poll(() => states(subscription)).toEqual({ waiting: 15 });
    await ask();
    await rests();
    expect(await waitMs()).toBe(3_600_000);
    // The receiver accepts tests and nothing else.
    receiver.answer = (response, { body }) =>
      String(body).includes('test') ? response.end() : fail(response);
    await ask();
    await expect.poll(async () => (await queue()).consecutive_failures).toBe(6);
    expect(await waitMs()).toBe(3_600_000);
    await rests();
    receiver.answer = undefined;
    await ask();
    // The others were attempted, and wait for their retries.
    await expect.poll(() => states(subscription)).toEqual({ succeeded: 9, waiting: 6 });
    expect(await queue()).toMatchObject({ consecutive_failures: 0 });
    await drain();
  });

  test('and a test delivery starts no second attempt beside a probe', async () => {
    const { receiver, subscription, queue, start, pass, rests, ask, drain } = await backOff();
    const other = await start();
    await world.deliver(subscription, 10);
    await expect.poll(() => states(subscription)).toEqual({ waiting: 15 });
    const probes: ServerResponse[] = [];
    receiver.answer = (response, { body }) =>
      String(body).includes('test') ? response.end() : void probes.push(response);
    pass(1_000);
    await expect.poll(() => probes.length).toBe(1);
    for (let asked = 0; asked < 5; asked++) await ask();
    await rests();
    expect(probes).toHaveLength(1);
    receiver.answer = undefined;
    probes[0]!.end();
    await expect.poll(async () => (await queue()).consecutive_failures).toBe(0);
    await drain();
    await other.drain();
  });
});

describe('probes alternate', () => {
  const types = { event_types: '["client.created","lead.created","payment.failed"]' };

  test('between the oldest, the newest, and a type that has not failed, over two dispatchers and restarts', async () => {
    const options = { probeIntervalMs: 20, scheduleMs: Array(10).fill(600_000) };
    const receiver = await testReceiver();
    receiver.answer = (response) => response.writeHead(500).end();
    const subscription = await world.subscribe(receiver.url, types);
    const make = async (type: EventType, count: number) =>
      (await world.deliver(subscription, count, { by: 'queue', type })).map(({ event_id }) => event_id);
    const old = await make('payment.failed', 3);
    const [other] = await make('lead.created', 1);
    const middle = await make('payment.failed', 3);
    const [third] = await make('client.created', 1);
    const late = await make('payment.failed', 3);
    await world.database.query(
      'UPDATE delivery_queues SET consecutive_failures = 5, failed_types = ? WHERE company_id = ? AND subscription_id = ?',
      ['["payment.failed"]', subscription.company_id, subscription.subscription_id],
    );
    let dispatchers = [await world.start(options), await world.start(options)];
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(4);
    for (const { drain } of dispatchers) await drain();
    dispatchers = [await world.start(options), await world.start(options)];
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(9);
    for (const { drain } of dispatchers) await drain();
    expect(receiver.received.slice(0, 9).map(({ id }) => Number(id))).toEqual([
      ...[old[0], late[2], other],
      ...[old[1], late[1], third],
      // All types have failed: that whose failure is longest ago.
      ...[old[2], late[0], middle[0]],
    ]);
  });

  test('so 30 events of a type that always fails stop no other type, and disable nothing', async () => {
    const { drain } = await world.start({ probeIntervalMs: 20, scheduleMs: Array(10).fill(500) });
    const receiver = await testReceiver();
    receiver.answer = (response, { headers }) =>
      response.writeHead(headers['x-webhook-event'] === 'payment.failed' ? 500 : 200).end();
    const subscription = await world.subscribe(receiver.url, types);
    await world.deliver(subscription, 30, { type: 'payment.failed' });
    await expect.poll(async () => (await world.queue(subscription))!.consecutive_failures).toBeGreaterThan(4);
    const arrived = () =>
      receiver.received.filter(({ headers }) => headers['x-webhook-event'] === 'lead.created').length;
    for (let good = 1; good <= 10; good++) {
      await world.deliver(subscription, 1, { type: 'lead.created' });
      await expect.poll(arrived).toBe(good);
    }
    expect(await world.subscription(subscription)).toMatchObject({ enabled: 1 });
    await drain();
  });
});

test('a receiver’s restart under full traffic disables nothing, and everything arrives', async () => {
  const { drain } = await world.start({ scheduleMs: Array(10).fill(400) });
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  let sending = true;
  let sent = 0;
  const traffic = (async () => {
    for (; sending; sent += 5) {
      await world.deliver(subscription, 5);
      await sleep(20);
    }
  })();
  // Traffic before the receiver goes down.
  await sleep(400);
  await receiver.down();
  await expect.poll(async () => (await world.queue(subscription))!.consecutive_failures).toBeGreaterThan(7);
  await receiver.up();
  // Traffic after the receiver is back.
  await sleep(400);
  sending = false;
  await traffic;
  await expect.poll(() => states(subscription)).toEqual({ succeeded: sent });
  expect(await world.subscription(subscription)).toEqual({ enabled: 1, disabled_reason: null });
  expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 0 });
  await drain();
});

test('deliveries of a deleted subscription are dropped, and its queue is removed', async () => {
  const { drain } = await world.start();
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  await world.database.query('DELETE FROM subscriptions WHERE subscription_id = ?', [
    subscription.subscription_id,
  ]);
  await world.deliver(subscription, 1_500, { by: 'queue' });
  await world.deliver(subscription, 3);
  // Deliveries that were only announced get no rows.
  await expect.poll(() => states(subscription)).toEqual({ dropped: 1_500 });
  await expect.poll(() => world.queue(subscription)).toBeUndefined();
  expect(receiver.received).toEqual([]);
  await drain();
});

describe('a replay', () => {
  const makeReplay = async ({ company_id, subscription_id }: Subscription): Promise<number> => {
    await world.database.query(
      `INSERT INTO replays (company_id, subscription_id, kind, filter, total, created_utc)
       VALUES (?, ?, 'filter', '{}', 2, NOW(3))`,
      [company_id, subscription_id],
    );
    const [row] = await world.database.query<{ id: number }>('SELECT MAX(replay_id) AS id FROM replays');
    return row!.id;
  };
  const counts = async (replayId: number) =>
    (await world.database.query('SELECT succeeded, failed FROM replays WHERE replay_id = ?', [replayId]))[0];

  test('is marked as a replay, counts for its replay, and does not count as a consecutive failure', async () => {
    const { drain } = await world.start({ scheduleMs: [50] });
    const receiver = await testReceiver();
    const subscription = await world.subscribe(receiver.url);
    await world.database.query(
      'UPDATE delivery_queues SET consecutive_failures = 3 WHERE subscription_id = ?',
      [subscription.subscription_id],
    );
    const replayId = await makeReplay(subscription);
    await world.deliver(subscription, 1, { by: 'queue', replayId });
    await expect.poll(() => counts(replayId)).toEqual({ succeeded: 1, failed: 0 });
    receiver.answer = (response) => response.writeHead(500).end();
    await world.deliver(subscription, 1, { by: 'queue', replayId });
    await expect.poll(() => counts(replayId)).toEqual({ succeeded: 1, failed: 1 });
    expect(receiver.received.map(({ headers }) => headers['x-webhook-replay'])).toEqual(
      Array(3).fill(`${replayId}`),
    );
    expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 3 });
    await drain();
  });
});

test('a secret that cannot be decrypted causes no request, and its delivery stays', async () => {
  const { drain } = await world.start();
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url, { secret: Buffer.from('garbage') });
  await world.deliver(subscription, 1);
  await expect.poll(() => world.deliveries(subscription)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  expect(await world.queue(subscription)).toMatchObject({ consecutive_failures: 0 });
  expect(receiver.received).toEqual([]);
  await drain();
});
