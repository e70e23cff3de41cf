import { testReceiver } from '@causeway/runtime/testing';
import { beforeAll, expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { openWorld, type Subscription, type World } from '../testing/boot.ts';
import { endIncidents } from './incidents.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});

const fast = { scheduleMs: Array(30).fill(50), probeIntervalMs: 10 };

const kindsOf = async ({ subscription_id }: Subscription): Promise<string[]> => {
  const rows = await world.database.query<{ kind: string }>(
    'SELECT kind FROM notices WHERE subject_id = ? ORDER BY notice_id',
    [subscription_id],
  );
  return rows.map(({ kind }) => kind);
};

interface Incident {
  readonly since_utc: Date;
  readonly first_status: number | null;
  readonly first_error: string;
  readonly recovered_utc: Date | null;
  readonly until_utc: Date | null;
}

const incidentsOf = ({ subscription_id }: Subscription): Promise<Incident[]> =>
  world.database.query<Incident>('SELECT * FROM incidents WHERE subscription_id = ? ORDER BY incident_id', [
    subscription_id,
  ]);

const end = (now = () => new Date()): Promise<number> =>
  endIncidents({ db: world.database.connect<Tables>({ tenantTables, poolSize: 1 }), now });

test('a receiver that breaks and is switched off is one incident with one message', async () => {
  const dispatchers = [await world.start(fast), await world.start(fast)];
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(500).end();
  const subscription = await world.subscribe(receiver.url, { name: 'Billing' });
  const beganUtc = new Date();
  await world.deliver(subscription, 8);
  await expect.poll(() => world.subscription(subscription)).toMatchObject({ enabled: 0 });
  expect(await kindsOf(subscription)).toEqual(['subscription_failing']);
  const [incident, ...others] = await incidentsOf(subscription);
  expect(others).toEqual([]);
  expect(incident).toMatchObject({ first_status: 500, first_error: 'status', until_utc: null });
  expect(incident!.since_utc.getTime()).toBeGreaterThanOrEqual(beganUtc.getTime() - 1_000);
  // It is off, and its deliveries are held.
  await end();
  expect(await incidentsOf(subscription)).toEqual([incident]);
  for (const { drain } of dispatchers) await drain();
});

test('an incident ends once, by any number of replicas, when everything has arrived', async () => {
  const { drain } = await world.start(fast);
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  for (let round = 1; round <= 2; round++) {
    receiver.answer = (response) => response.writeHead(500).end();
    await world.deliver(subscription, 6);
    await expect.poll(async () => (await world.queue(subscription))?.consecutive_failures).toBeGreaterThan(4);
    expect(await incidentsOf(subscription)).toHaveLength(round);
    await end();
    expect((await incidentsOf(subscription)).at(-1)!.until_utc).toBeNull();
    receiver.answer = (response) => response.end();
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 6 * round });
    await expect
      .poll(async () => {
        await Promise.all([end(), end(), end()]);
        return (await incidentsOf(subscription)).at(-1)!.until_utc;
      })
      .not.toBeNull();
  }
  const told = ['subscription_failing', 'subscription_recovered'];
  expect(await kindsOf(subscription)).toEqual([...told, ...told]);
  const [row] = await world.database.query<{ subject_name: string }>(
    'SELECT subject_name FROM notices WHERE subject_id = ? LIMIT 1',
    [subscription.subscription_id],
  );
  // The path of a URL may be a secret.
  expect(row!.subject_name).toBe(new URL(receiver.url).host);
  await drain();
});

test('a 410 opens an incident; switching off by a person ends it without a message; it is kept 90 days', async () => {
  const { drain } = await world.start(fast);
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(410).end();
  const subscription = await world.subscribe(receiver.url);
  await world.deliver(subscription, 1);
  await expect.poll(() => incidentsOf(subscription)).toMatchObject([{ first_status: 410, until_utc: null }]);
  await world.database.query('UPDATE subscriptions SET auto_disabled = 0 WHERE subscription_id = ?', [
    subscription.subscription_id,
  ]);
  await end();
  expect((await incidentsOf(subscription))[0]!.until_utc).not.toBeNull();
  expect(await kindsOf(subscription)).toEqual(['subscription_failing']);
  const days = (count: number) => () => new Date(Date.now() + count * 86_400_000);
  await end(days(89));
  expect(await incidentsOf(subscription)).toHaveLength(1);
  await end(days(91));
  expect(await incidentsOf(subscription)).toEqual([]);
  await drain();
});

test('an incident ends though the receiver was enabled and caught up within the minute in which it broke', async () => {
  const { drain } = await world.start(fast);
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(410).end();
  const subscription = await world.subscribe(receiver.url);
  const ofIt = 'WHERE subscription_id = ?';
  const sql = (text: string) => world.database.query(text, [subscription.subscription_id]);
  await world.deliver(subscription, 1);
  await expect.poll(() => world.states(subscription)).toEqual({ held: 1 });
  receiver.answer = (response) => response.end();
  await sql(`UPDATE subscriptions SET enabled = 1 ${ofIt}`);
  await sql(`UPDATE delivery_queues SET consecutive_failures = 0, held_deliveries = 0 ${ofIt}`);
  await sql(`DELETE FROM deliveries ${ofIt}`);
  await end();
  expect((await incidentsOf(subscription))[0]!.until_utc).toBeNull();
  await world.deliver(subscription, 1);
  await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 1 });
  await sql(`UPDATE incidents SET broken_utc = (
    SELECT MAX(updated_utc) - INTERVAL 1000 MICROSECOND FROM deliveries ${ofIt})`);
  await end();
  expect((await incidentsOf(subscription))[0]!.until_utc).not.toBeNull();
  await drain();
});
