import { type TestDelivery, type TestDeliveryAnswer, testDeliverySubject } from '@causeway/proto';
import { sealSecret } from '@causeway/runtime';
import { testReceiver } from '@causeway/runtime/testing';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type Subscription, type World } from '../testing/boot.ts';

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
