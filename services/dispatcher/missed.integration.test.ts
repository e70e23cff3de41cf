import { setTimeout as sleep } from 'node:timers/promises';
import { outboxLeaseMs } from '@causeway/proto';
import { createLog, noMetrics } from '@causeway/runtime';
import { testReceiver } from '@causeway/runtime/testing';
import { beforeEach, expect, test } from 'vitest';
import type { LeasedDelivery, TakenEvent } from './delivery.ts';
import { createHealth } from './health.ts';
import { createRecorder } from './record/recorder.ts';
import { type Tables, tenantTables } from './tables.ts';
import { openWorld, type Subscription, type World } from './testing/boot.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});

const missedBy = async ({ subscription_id }: Subscription): Promise<number> => {
  const [row] = await world.database.query<{ missed: number }>(
    'SELECT missed FROM missed_events WHERE subscription_id = ?',
    [subscription_id],
  );
  return row?.missed ?? 0;
};
const inOutbox = async (): Promise<number> =>
  (await world.database.query('SELECT event_id FROM event_outbox')).length;
/** As if the dispatcher that has the events had been too slow to extend their leases. */
const endLeases = () =>
  world.database.query('UPDATE event_outbox SET leased_until = NOW(3) - INTERVAL 1 SECOND');

test('An event that was swept at the quota while it was attempted is not missed', async () => {
  await world.start({ waitingQuota: 0, scheduleMs: [600_000], timeoutMs: 120_000, leaseMs: 300_000 });
  const receiver = await testReceiver();
  const waiting: (() => void)[] = [];
  let answers = false;
  receiver.answer = (response) => {
    const answer = () => response.writeHead(500).end();
    if (answers) answer();
    else waiting.push(answer);
  };
  const subscription = await world.subscribe(receiver.url);
  // On a starved machine the lease of an event may end before its attempt begins.
  let sent = 0;
  for (; waiting.length === 0; sent++) {
    await world.deliver(subscription, 1);
    // An attempt normally begins within this time.
    await sleep(1_000);
  }
  await expect
    .poll(async () => {
      await endLeases();
      return missedBy(subscription);
    })
    .toBe(sent);
  expect(await inOutbox()).toBe(0);
  // The dispatcher has to know that its leases have ended.
  await sleep(outboxLeaseMs);
  answers = true;
  for (const answer of waiting) answer();
  const attempted = () => receiver.received.length;
  await expect.poll(async () => (await missedBy(subscription)) + attempted()).toBe(sent);
  expect(attempted()).toBeGreaterThan(0);
  expect(await world.deliveries(subscription)).toMatchObject(
    receiver.received.map(() => ({ state: 'failed', attempts: 1 })),
  );
});

test('A delivery that has arrived is not missed when its event is swept at the quota', async () => {
  const subscription = await world.subscribe('http://127.0.0.1:9/');
  const [{ company_id, event_id, subscription_id, created_utc }] = (await world.deliver(subscription, 1, {
    by: 'outbox',
  })) as [LeasedDelivery];
  await world.database.query('INSERT INTO deliveries SET ?', [
    {
      ...{ company_id, event_id, subscription_id, created_utc, event_type: 'client.created' },
      ...{ state: 'succeeded', attempts: 1, updated_utc: created_utc },
    },
  ]);
  await world.start({ waitingQuota: 0 });
  await endLeases();
  await expect.poll(inOutbox).toBe(0);
  expect(await missedBy(subscription)).toBe(0);
});

const giveBack = async (waitingQuota: number) => {
  const first = await world.subscribe('http://127.0.0.1:9/');
  const second = await world.subscribe('http://127.0.0.1:9/', { company_id: first.company_id });
  const [{ company_id, event_id, created_utc }] = (await world.deliver(first, 1, { by: 'outbox' })) as [
    LeasedDelivery,
  ];
  const [{ leased_until }] = (await world.database.query(
    'SELECT leased_until FROM event_outbox WHERE event_id = ?',
    [event_id],
  )) as unknown as [{ leased_until: Date }];
  const open = new Map<number, LeasedDelivery>();
  const event: TakenEvent = {
    company_id,
    event_id,
    created_utc,
    leaseMs: leased_until.getTime(),
    open,
    missed: [],
  };
  for (const { subscription_id } of [first, second])
    open.set(subscription_id, {
      ...{
        company_id,
        event_id,
        subscription_id,
        replay_id: 0,
        created_utc,
        event_type: 'client.created',
        event,
      },
      leaseMs: created_utc.getTime() + 30_000,
    });
  const { log } = createLog({ name: 'dispatcher', instance: 'test', level: 'silent' });
  const db = world.database.connect<Tables>({ tenantTables });
  const recorder = createRecorder({
    db,
    bus: world.bus,
    health: createHealth(),
    sharedHealth: { changed: () => {} },
    holderId: () => 1,
    openEvents: new Set(),
    probeIntervalMs: 1_000,
    waitingQuota,
    onMissed: () => {},
    maxUnrecorded: 100,
    now: () => new Date(),
    log,
    metrics: noMetrics,
  });
  recorder.take(event);
  return { first, second, deliveries: [...open.values()] as [LeasedDelivery, LeasedDelivery], recorder };
};

test('A delivery without room counts once, whether its event is finished or swept', async () => {
  const finished = await giveBack(0);
  for (const one of finished.deliveries) finished.recorder.giveBack([one]);
  await finished.recorder.drain();
  expect([await missedBy(finished.first), await missedBy(finished.second)]).toEqual([1, 1]);
  expect(await inOutbox()).toBe(0);

  const swept = await giveBack(0);
  swept.recorder.giveBack([swept.deliveries[0]]);
  await swept.recorder.drain();
  expect(await missedBy(swept.first)).toBe(0);
  await world.start({ waitingQuota: 0 });
  await endLeases();
  await expect.poll(inOutbox).toBe(0);
  expect([await missedBy(swept.first), await missedBy(swept.second)]).toEqual([1, 1]);
});

test('Deliveries of an event that was swept meanwhile are left to the dispatcher that swept it', async () => {
  const { first, second, deliveries, recorder } = await giveBack(100);
  await world.database.query('DELETE FROM event_outbox');
  recorder.giveBack(deliveries);
  await recorder.drain();
  for (const one of [first, second]) {
    expect(await world.deliveries(one)).toEqual([]);
    expect(await missedBy(one)).toBe(0);
  }
});
