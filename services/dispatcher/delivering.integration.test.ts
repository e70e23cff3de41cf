import { setTimeout as sleep } from 'node:timers/promises';
import { type DeliveryAttemptRow, requestHeadersOf, responseOf } from '@causeway/deliveries';
import { deliveryTailSubject, sequenceHeader } from '@causeway/proto';
import { testReceiver } from '@causeway/runtime/testing';
import { Webhook } from 'standardwebhooks';
import { beforeAll, expect, test } from 'vitest';
import { openWorld, origin, type World } from './testing/boot.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

test('an announced delivery arrives signed, with the envelope as its body, and is recorded', async () => {
  await world.start();
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  const told = world.bus.nc.subscribe(deliveryTailSubject(subscription.company_id), { max: 1 });
  await world.bus.nc.flush();
  const [key] = await world.deliver(subscription, 1);
  await expect.poll(() => world.deliveries(subscription)).toMatchObject([{ state: 'succeeded' }]);
  for await (const message of told)
    expect(message.json()).toMatchObject([
      { eventId: key!.event_id, attempt: 1, state: 'succeeded', statusCode: 200, nextAttemptUtc: null },
    ]);
  const [received] = receiver.received;
  expect(String(received!.body)).toBe(
    `{"id":${key!.event_id},"type":"client.created","createdUtc":"${key!.created_utc.toISOString()}",` +
      `"companyId":${key!.company_id},"payload":{"first_name":"Zoë"}}`,
  );
  const { headers } = received!;
  expect(new Webhook(world.secret).verify(received!.body, headers)).toMatchObject({ id: key!.event_id });
  expect(await world.deliveries(subscription)).toEqual([
    {
      event_id: key!.event_id,
      state: 'succeeded',
      attempts: 1,
      due_utc: null,
      last_status: 200,
      last_error: null,
    },
  ]);
  const [attempt, ...more] = await world.attempts(subscription);
  expect(more).toEqual([]);
  expect(attempt).toMatchObject({
    attempt: 1,
    status_code: 200,
    error_class: null,
    error: null,
    url: receiver.url,
    address: '127.0.0.1',
    response_truncated: 0,
    next_attempt_utc: null,
  });
  expect(String(responseOf(attempt as DeliveryAttemptRow)?.body)).toBe('thank you');
  const shown = requestHeadersOf(attempt as DeliveryAttemptRow);
  expect(Object.fromEntries(shown.map(([name, value]) => [name.toLowerCase(), value]))).toEqual(headers);
});

test('every delivery says who caused its event, and which number of which subscription it is', async () => {
  await world.start({ scheduleMs: [50] });
  const receiver = await testReceiver();
  receiver.answer = (response, { attempt }) => response.writeHead(attempt === 1 ? 500 : 200).end();
  const subscription = await world.subscribe(receiver.url);
  const keys = [
    ...(await world.deliver(subscription, 1)),
    ...(await world.deliver(subscription, 1, { by: 'outbox' })),
    ...(await world.deliver(subscription, 1, { by: 'queue', replayId: 7 })),
    ...(await world.deliver(subscription, 1, { without: sequenceHeader })),
  ];
  await expect.poll(() => receiver.received.length).toBe(2 * keys.length);
  for (const { event_id } of keys)
    for (const { headers } of receiver.received.filter(({ id }) => Number(id) === event_id))
      expect(headers).toMatchObject({
        'x-webhook-origin': origin,
        // The world numbers events as it names them.
        'x-webhook-sequence': `${event_id}`,
        'x-webhook-subscription': `${subscription.subscription_id}`,
      });
});

test('a thousand deliveries arrive once each, by either path', async () => {
  await world.start();
  const receiver = await testReceiver();
  const [woken, queued] = [await world.subscribe(receiver.url), await world.subscribe(receiver.url)];
  const keys = [...(await world.deliver(woken, 600)), ...(await world.deliver(queued, 400, { by: 'queue' }))];
  await expect.poll(() => receiver.received.length).toBe(keys.length);
  // Time for a duplicate to arrive.
  await sleep(300);
  expect(receiver.received.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
    keys.map((key) => key.event_id),
  );
  for (const subscription of [woken, queued])
    await expect
      .poll(async () => new Set((await world.deliveries(subscription)).map(({ state }) => state)))
      .toEqual(new Set(['succeeded']));
});
