import {
  failuresUntilProbing,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { acrossTenants, sealSecret, transaction } from '@causeway/runtime';
import { testReceiver } from '@causeway/runtime/testing';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { openWorld, type Subscription, type World } from '../testing/boot.ts';
import { noteHealth } from './notices.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const kindsOf = async ({ subscription_id }: Subscription): Promise<string[]> => {
  const rows = await world.database.query<{ kind: string }>(
    'SELECT kind FROM notices WHERE subject_id = ? ORDER BY notice_id',
    [subscription_id],
  );
  return rows.map(({ kind }) => kind);
};

describe('members are told', () => {
  test('once when a subscription fails, is about to be switched off, and is switched off', async () => {
    const dispatchers = [
      await world.start({ scheduleMs: Array(30).fill(50), probeIntervalMs: 10 }),
      await world.start({ scheduleMs: Array(30).fill(50), probeIntervalMs: 10 }),
    ];
    const receiver = await testReceiver();
    receiver.answer = (response) => response.writeHead(500).end();
    const subscription = await world.subscribe(receiver.url, { name: 'Billing' });
    await world.deliver(subscription, 8);
    await expect.poll(() => world.subscription(subscription)).toMatchObject({ enabled: 0 });
    expect(await kindsOf(subscription)).toEqual([
      'subscription_failing',
      'subscription_ending',
      'subscription_disabled',
    ]);
    for (const { drain } of dispatchers) await drain();
  });

  test('when it recovers, and at most once an hour while it flaps', async () => {
    const { drain } = await world.start({ scheduleMs: Array(30).fill(50), probeIntervalMs: 10 });
    const receiver = await testReceiver();
    const subscription = await world.subscribe(receiver.url);
    // Of one hour, unless it ends meanwhile.
    const hour = new Date().getUTCHours();
    for (let round = 1; round <= 3; round++) {
      receiver.answer = (response) => response.writeHead(500).end();
      await world.deliver(subscription, 6);
      await expect
        .poll(async () => (await world.queue(subscription))?.consecutive_failures)
        .toBeGreaterThan(5);
      receiver.answer = (response) => response.end();
      await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 6 * round });
    }
    const kinds = (await kindsOf(subscription)).filter((kind) => kind !== 'subscription_ending');
    if (hour === new Date().getUTCHours())
      expect(kinds).toEqual(['subscription_failing', 'subscription_recovered']);
    const [row] = await world.database.query<{ subject_name: string }>(
      'SELECT subject_name FROM notices WHERE subject_id = ? LIMIT 1',
      [subscription.subscription_id],
    );
    // The path of a URL may be a secret.
    expect(row!.subject_name).toBe(new URL(receiver.url).host);
    await drain();
  });

  test('not again before an hour has passed, also in the next hour of the clock', async () => {
    const subscription = await world.subscribe('https://a.test/hook');
    const db = world.database.connect<Tables>({ tenantTables, poolSize: 1 });
    const told: number[] = [];
    for (const time of ['10:59', '11:01', '11:59', '12:30', '13:00']) {
      const change = { ...subscription, before: 0, failures: failuresUntilProbing, disabledReason: null };
      await transaction(db, (trx) =>
        noteHealth(acrossTenants(trx, 'the test'), [change], [], new Date(`2031-05-06T${time}:30Z`)),
      );
      told.push((await kindsOf(subscription)).length);
    }
    expect(told).toEqual([1, 1, 2, 2, 3]);
  });

  test('of the first delivery of a day that is given up, and of no success', async () => {
    const { drain } = await world.start({ scheduleMs: [20] });
    const receiver = await testReceiver();
    const subscription = await world.subscribe(receiver.url);
    await world.deliver(subscription, 3);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 3 });
    expect(await kindsOf(subscription)).toEqual([]);
    receiver.answer = (response) => response.writeHead(500).end();
    const [first] = await world.deliver(subscription, 1);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 3, failed: 1 });
    await world.deliver(subscription, 1);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 3, failed: 2 });
    expect(await kindsOf(subscription)).toEqual(['delivery_given_up']);
    const [row] = await world.database.query<{ detail: string }>(
      'SELECT detail FROM notices WHERE subject_id = ?',
      [subscription.subscription_id],
    );
    expect(JSON.parse(row!.detail)).toMatchObject({ eventId: first!.event_id, attempts: 2, statusCode: 500 });
    await drain();
  });
});

describe('a notice is posted', () => {
  const post = async (channel: 'webhook' | 'slack', companyId: number): Promise<TestDeliveryAnswer> => {
    const body = JSON.stringify({ id: 7, type: 'operational.test' });
    const test: TestDelivery = {
      ...{ companyId, channel, body },
      subscriptionId: 0,
      eventId: 7,
      eventType: 'operational.test',
    };
    const answer = await world.bus.nc.request(testDeliverySubject, JSON.stringify(test), { timeout: 60_000 });
    return answer.json<TestDeliveryAnswer>();
  };
  const channel = (companyId: number, name: string, url: string, secret: Buffer | null) =>
    world.database.query('INSERT INTO notice_channels SET ?', [
      { company_id: companyId, channel: name, url, kinds: '', secret, updated_utc: new Date() },
    ]);

  test('signed to the operational webhook, unsigned to Slack, and its result is kept', async () => {
    const { drain } = await world.start();
    const receiver = await testReceiver();
    await channel(901, 'webhook', receiver.url, sealSecret(world.keyRing, 901, world.secret));
    await channel(901, 'slack', `${receiver.url}/slack`, null);
    expect(await post('webhook', 901)).toMatchObject({ attempt: { status_code: 200 } });
    const [signed] = receiver.received;
    expect(signed!.headers).toMatchObject({
      'x-webhook-id': '7',
      'x-webhook-event': 'operational.test',
      'x-webhook-subscription': '0',
    });
    const headers = signed!.headers as Record<string, string>;
    expect(new Webhook(world.secret).verify(String(signed!.body), headers)).toMatchObject({ id: 7 });
    receiver.answer = (response) => response.writeHead(404).end();
    expect(await post('slack', 901)).toMatchObject({ attempt: { status_code: 404, error_class: 'status' } });
    expect(receiver.received[1]!.headers).not.toHaveProperty('x-webhook-signature');
    const rows = await world.database.query(
      'SELECT channel, last_status FROM notice_channels WHERE company_id = 901 ORDER BY last_status',
    );
    expect(rows).toEqual([
      { channel: 'webhook', last_status: 200 },
      { channel: 'slack', last_status: 404 },
    ]);
    expect(await post('slack', 902)).toEqual({ error: 'the channel does not exist' });
    await drain();
  });

  test('to no private address', async () => {
    const { drain } = await world.start({ allowPrivate: false });
    const receiver = await testReceiver();
    await channel(903, 'slack', receiver.url, null);
    expect(await post('slack', 903)).toMatchObject({ attempt: { status_code: null } });
    expect(receiver.received).toEqual([]);
    await drain();
  });
});
