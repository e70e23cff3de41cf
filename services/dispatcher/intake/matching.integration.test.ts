import { setTimeout as sleep } from 'node:timers/promises';
import { raiseSubscriptionsVersion } from '@causeway/deliveries';
import { encodeEnvelope, eventSubject, outboxLeaseMs, sequenceHeader, versionHeader } from '@causeway/proto';
import { acrossTenants, type Database, parseMysqlUrl, transaction } from '@causeway/runtime';
import { startProxy, testReceiver } from '@causeway/runtime/testing';
import { headers as natsHeaders } from '@nats-io/transport-node';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { countOf, openWorld, type Subscription, type World } from '../testing/boot.ts';
import { databaseBehind } from '../testing/database-behind.ts';

let world: World;
let db: Database<Tables>;
beforeEach(async () => {
  world = await openWorld();
  db = world.database.connect<Tables>({ tenantTables, poolSize: 8 });
});

const succeeded = async (subscription: Subscription): Promise<number> =>
  (await world.states(subscription)).succeeded ?? 0;
const outbox = async (): Promise<number> =>
  (await world.database.query('SELECT event_id FROM event_outbox')).length;

describe('An event', () => {
  test('goes to each enabled subscription of its type in its company, and to no other', async () => {
    const receiver = await testReceiver();
    const one = await world.subscribe(`${receiver.url}/one`);
    const company_id = one.company_id;
    const both = await world.subscribe(`${receiver.url}/both`, {
      company_id,
      event_types: '["client.created","lead.created"]',
    });
    const others = [
      await world.subscribe(`${receiver.url}/type`, { company_id, event_types: '["payment.failed"]' }),
      await world.subscribe(`${receiver.url}/disabled`, { company_id, enabled: 0 }),
      await world.subscribe(`${receiver.url}/neighbour`),
    ];
    await world.start();
    const [client] = await world.deliver(one, 1);
    const [lead] = await world.deliver(one, 1, { type: 'lead.created' });
    await world.deliver(one, 1, { type: 'invoice.created' });
    await expect.poll(outbox).toBe(0);
    await expect
      .poll(() => world.deliveries(both))
      .toMatchObject([
        { event_id: client!.event_id, state: 'succeeded' },
        { event_id: lead!.event_id, state: 'succeeded' },
      ]);
    expect(await world.deliveries(one)).toMatchObject([{ event_id: client!.event_id, state: 'succeeded' }]);
    for (const other of others) expect(await world.deliveries(other)).toEqual([]);
    expect(receiver.received).toHaveLength(3);
  });

  test('goes to no subscription that has expired, also one in memory or with a backlog', async () => {
    const receiver = await testReceiver();
    let nowMs = Date.now();
    const subscription = await world.subscribe(receiver.url, { expires_utc: new Date(nowMs + 3_600_000) });
    await world.start({ now: () => new Date(nowMs) });
    await world.deliver(subscription, 1);
    await expect.poll(() => succeeded(subscription)).toBe(1);
    nowMs += 3_600_000;
    // With the version that is in memory, by the sweeper, and as a retry.
    await publishCommitted(subscription.company_id, 1_000);
    await world.deliver(subscription, 1, { by: 'outbox' });
    await world.deliver(subscription, 1, { by: 'queue' });
    await expect.poll(outbox).toBe(0);
    await expect.poll(() => world.states(subscription)).toEqual({ succeeded: 1, held: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  test('of a company in memory is attempted without a statement', async () => {
    let away = false;
    const proxy = await startProxy(parseMysqlUrl(world.database.url), () => (away ? 'drop' : 'pass'));
    const proxied = databaseBehind(proxy, { url: world.database.url, poolSize: 5 });
    const receiver = await testReceiver();
    const subscription = await world.subscribe(receiver.url);
    await world.start({ db: proxied });
    await world.deliver(subscription, 1);
    await expect.poll(() => succeeded(subscription)).toBe(1);
    away = true;
    // With the version that is in memory.
    await publishCommitted(subscription.company_id, 1_000);
    await expect.poll(() => receiver.received.length).toBe(2);
    expect(await succeeded(subscription)).toBe(1);
    away = false;
    await expect.poll(() => succeeded(subscription)).toBe(2);
  });

  test('that was never published, or whose message is malformed, is delivered', async () => {
    const receiver = await testReceiver();
    const subscription = await world.subscribe(receiver.url);
    const { metrics } = await world.start();
    await world.deliver(subscription, 3, { by: 'outbox' });
    await expect.poll(() => succeeded(subscription)).toBe(3);
    expect(await countOf(metrics, 'dispatcher_events_swept_total')).toBe(3);
    for (const without of [versionHeader, sequenceHeader] as const)
      await world.deliver(subscription, 3, { without });
    await expect.poll(() => succeeded(subscription)).toBe(9);
    await expect.poll(outbox).toBe(0);
    expect(receiver.received).toHaveLength(9);
  });

  test('with very many subscribers reaches them all, while another company is served', async () => {
    const receiver = await testReceiver();
    receiver.answer = (response) => void setTimeout(() => response.end(), 20);
    const quick = await testReceiver();
    const { metrics } = await world.start();
    const large = await Promise.all([1, 2, 3].map(() => world.subscribe(receiver.url)));
    for (const { company_id } of large) await addSubscriptions(company_id, 399);
    const small = await world.subscribe(quick.url);
    for (const one of large) await world.deliver(one, 1);
    await expect.poll(() => countOf(metrics, 'dispatcher_events_written_total')).toBe(3);
    await world.deliver(small, 1);
    await expect.poll(() => quick.received.length).toBe(1);
    expect(receiver.received.length).toBeLessThan(1_200);
    await expect.poll(() => receiver.received.length).toBe(1_200);
    await expect.poll(outbox).toBe(0);
  });

  const addSubscriptions = async (companyId: number, count: number): Promise<void> => {
    await world.database.query(
      `INSERT INTO subscriptions (company_id, url, event_types, secret, created_utc, updated_utc)
       SELECT s.company_id, s.url, s.event_types, s.secret, s.created_utc, s.updated_utc
       FROM subscriptions AS s JOIN JSON_TABLE(?, '$[*]' COLUMNS (n INT PATH '$')) AS k WHERE s.company_id = ?`,
      [JSON.stringify(Array.from({ length: count }, (_, at) => at)), companyId],
    );
    await world.database.query(
      `INSERT IGNORE INTO delivery_queues (company_id, subscription_id)
       SELECT company_id, subscription_id FROM subscriptions`,
    );
  };

  test('does not overtake the backlog of its subscription', async () => {
    const receiver = await testReceiver();
    receiver.answer = (response) => void setTimeout(() => response.end(), 100);
    const subscription = await world.subscribe(receiver.url);
    await world.start();
    await world.deliver(subscription, 300, { by: 'queue' });
    await expect.poll(() => receiver.received.length).toBeGreaterThan(8);
    const [event] = await world.deliver(subscription, 1);
    await expect.poll(() => succeeded(subscription)).toBe(301);
    const at = receiver.received.findIndex(({ id }) => Number(id) === event!.event_id);
    expect(at).toBeGreaterThan(100);
  });
});

/** As crm does, under the lock of the company's counter. */
const publishCommitted = async (companyId: number, eventId: number): Promise<void> => {
  const event = {
    company_id: companyId,
    event_id: eventId,
    created_utc: new Date(),
    type: 'client.created' as const,
    payload: Buffer.from('{}'),
  };
  const numbers = await transaction(db, async (given) => {
    const trx = acrossTenants(given, 'a test writes as crm does');
    await sql`UPDATE event_sequences SET last_sequence = last_sequence + 1
      WHERE company_id = ${companyId}`.execute(trx);
    const { rows } = await sql<{ version: number; sequence: number }>`
      SELECT subscriptions_version AS version, last_sequence AS sequence FROM event_sequences
      WHERE company_id = ${companyId}`.execute(trx);
    const [{ version, sequence }] = rows as [{ version: number; sequence: number }];
    await sql`INSERT INTO events (company_id, sequence, created_utc, event_id, type, payload)
      VALUES (${companyId}, ${sequence}, ${event.created_utc}, ${eventId}, ${event.type}, ${event.payload})`.execute(
      trx,
    );
    await sql`INSERT INTO event_outbox (company_id, event_id, sequence, created_utc, leased_until)
      VALUES (${companyId}, ${eventId}, ${sequence}, ${event.created_utc},
        ${new Date(event.created_utc.getTime() + outboxLeaseMs)})`.execute(trx);
    return { version, sequence };
  });
  const headers = natsHeaders();
  headers.set(versionHeader, String(numbers.version));
  headers.set(sequenceHeader, String(numbers.sequence));
  world.bus.nc.publish(eventSubject(companyId, event.type), encodeEnvelope(event), { headers });
};

test('a change of a subscription applies to every event that is committed after it, on every dispatcher', async () => {
  const receiver = await testReceiver();
  await Promise.all([1, 2, 3, 4].map(() => world.start()));
  const subscriptions = await Promise.all(Array.from({ length: 20 }, () => world.subscribe(receiver.url)));
  // Their rows of versions, which the first event of a company makes otherwise.
  await raiseSubscriptionsVersion(
    db,
    subscriptions.map(({ company_id }) => company_id),
  );
  const rowsOf = async (companyId: number): Promise<number> =>
    (await world.database.query('SELECT 1 FROM event_outbox WHERE company_id = ?', [companyId])).length;
  let eventId = 0;
  const wanted = new Set<number>();
  const toggle = async ({ company_id, subscription_id }: Subscription): Promise<void> => {
    for (let round = 0; round < 12; round++) {
      const enabled = round % 2;
      await transaction(db, async (trx) => {
        await trx
          .updateTable('subscriptions')
          .set({ enabled })
          .where('company_id', '=', company_id)
          .where('subscription_id', '=', subscription_id)
          .execute();
        await raiseSubscriptionsVersion(trx, [company_id]);
      });
      const id = ++eventId;
      if (enabled) wanted.add(id);
      await publishCommitted(company_id, id);
      // The next change may apply to it as long as it is not matched.
      while ((await rowsOf(company_id)) > 0) await sleep(25);
    }
  };
  await Promise.all(subscriptions.map(toggle));
  await expect.poll(outbox).toBe(0);
  const made = await world.database.query<{ event_id: number }>('SELECT event_id FROM deliveries');
  const ids = made.map(({ event_id }) => event_id).sort((a, b) => a - b);
  expect(ids).toEqual([...wanted].sort((a, b) => a - b));
  expect(eventId).toBe(240);
});

test('a success on one dispatcher ends the failures that another has counted', async () => {
  const receiver = await testReceiver();
  const subscription = await world.subscribe(receiver.url);
  const taken = (await Promise.all([1, 2].map(() => world.start({ scheduleMs: [600_000] })))).map(
    ({ metrics }) =>
      () =>
        countOf(metrics, 'dispatcher_first_taken_total'),
  );
  await raiseSubscriptionsVersion(db, [subscription.company_id]);
  const failures = async () => (await world.queue(subscription))!.consecutive_failures;
  let eventId = 0;
  let crossed = 0;
  const next = async (status: number, failed: number): Promise<number> => {
    const before = await Promise.all(taken.map((read) => read()));
    receiver.answer = (response) => response.writeHead(status).end();
    await publishCommitted(subscription.company_id, ++eventId);
    await expect.poll(failures).toBe(failed);
    await expect.poll(async () => (await world.deliveries(subscription)).length).toBe(eventId);
    const after = await Promise.all(taken.map((read) => read()));
    return after.findIndex((count, at) => count > before[at]!);
  };
  for (let round = 0; round < 60 && crossed < 3; round++) {
    const [failedAt, succeededAt] = [await next(500, 1), await next(200, 0)];
    if (failedAt !== succeededAt) crossed++;
  }
  expect(crossed).toBe(3);
});

test('A copy whose version a failover of the database has lost is read again, and kept', async () => {
  const [lost, present] = [await testReceiver(), await testReceiver()];
  const subscription = await world.subscribe(lost.url);
  const { metrics } = await world.start();
  for (let version = 1; version <= 5; version++) await world.deliver(subscription, 1);
  await expect.poll(() => succeeded(subscription)).toBe(5);
  const ids = [subscription.company_id];
  await world.database.query(
    'UPDATE event_sequences SET subscriptions_version = 1 WHERE company_id = ?',
    ids,
  );
  await world.database.query('UPDATE subscriptions SET url = ? WHERE company_id = ?', [present.url, ...ids]);
  // Events of before have ended by then.
  await sleep(outboxLeaseMs + 100);
  await world.deliver(subscription, 1);
  await expect.poll(() => present.received.length).toBe(1);
  await world.deliver(subscription, 1);
  await expect.poll(() => succeeded(subscription)).toBe(7);
  expect(lost.received).toHaveLength(5);
  expect(await countOf(metrics, 'dispatcher_first_taken_total')).toBe(7);
});
