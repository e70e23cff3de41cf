import type { ServerResponse } from 'node:http';
import {
  challengeType,
  type TestDelivery,
  type TestDeliveryAnswer,
  testDeliverySubject,
} from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { openWorld, type Subscription } from '../testing/boot.ts';

test.each([1, 2])(
  'with %i dispatchers, tests of one company to a receiver that hangs leave places to the tests, challenges and notices of others',
  async (dispatchers) => {
    const world = await openWorld();
    for (let count = 0; count < dispatchers; count++)
      await world.start({ timeoutMs: 60_000, leaseMs: 120_000 });
    const [hanging, quick] = [await testReceiver(), await testReceiver()];
    const open: ServerResponse[] = [];
    hanging.answer = (response) => void open.push(response);
    const [hostile, other] = [await world.subscribe(hanging.url), await world.subscribe(quick.url)];
    const now = new Date();
    await world.database.query('INSERT INTO notice_channels SET ?', [
      { company_id: other.company_id, channel: 'slack', url: quick.url, kinds: '', updated_utc: now },
    ]);
    const ask = async (
      { company_id, subscription_id }: Subscription,
      more: Partial<TestDelivery> = {},
    ): Promise<TestDeliveryAnswer> => {
      const asked: TestDelivery = {
        companyId: company_id,
        subscriptionId: subscription_id,
        eventId: 9_007_199_254_740_991,
        eventType: 'client.created',
        body: '{"id":9007199254740991}',
        ...more,
      };
      const answer = await world.bus.nc.request(testDeliverySubject, JSON.stringify(asked), {
        timeout: 60_000,
      });
      return answer.json();
    };
    const attacks = Array.from({ length: 100 }, () => ask(hostile));
    // Half of the 32 places of each dispatcher.
    await expect.poll(() => open.length).toBe(16 * dispatchers);
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all([
        ask(other),
        ask(other, { eventType: challengeType }),
        ask(other, { channel: 'slack', subscriptionId: 0, eventType: 'operational.test' }),
      ]);
      expect(answers).toMatchObject(Array(3).fill({ attempt: { status_code: 200 } }));
    }
    hanging.answer = (response) => response.end();
    for (const response of open) response.end();
    const answers = await Promise.all(attacks);
    const refused = answers.filter((answer) => !('attempt' in answer));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused).toMatchObject(Array(refused.length).fill({ underWay: 16 }));
  },
);
