import { describe, expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { makeDelivery } from '../testing/make.ts';
import { bootPortal } from '../testing/portal.ts';

const webhooks = await bootPortal({ services: 2 });
const { ask, database, db, dispatchers } = webhooks;
let company = 0;

const subscribe = async (waiting = 0) => {
  company++;
  const id = await makeSubscription(db, company);
  if (waiting > 0) await makeDelivery(db, { company_id: company, subscription_id: id }, waiting);
  const call = (operation: string, body?: unknown) => ask(operation, company, { params: [id], body });
  return {
    id,
    switchTo: (enabled: boolean) => call('updateSubscription', { enabled }),
    release: () => call('releaseHeldDeliveries'),
    discard: () => call('discardHeldDeliveries'),
    held: async (): Promise<number> => (await call('getSubscription')).body.heldDeliveries,
    states: async () => {
      const rows = await database.query<{ state: string; count: number }>(
        'SELECT state, COUNT(*) AS count FROM deliveries WHERE subscription_id = ? GROUP BY state',
        [id],
      );
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },
  };
};

describe('heldDeliveries', () => {
  test('counts the deliveries held by disabling, in the record and in the list', async () => {
    const one = await subscribe(7);
    expect(await one.held()).toBe(0);
    expect((await one.switchTo(false)).body.heldDeliveries).toBe(7);
    expect(await one.held()).toBe(7);
    const { subscriptions } = (await ask('listSubscriptions', company)).body;
    expect(subscriptions[0].heldDeliveries).toBe(7);
    await one.switchTo(true);
    expect(await one.held()).toBe(7);
  });

  test('is corrected when attempts that were under way have ended', async () => {
    const one = await subscribe(5);
    await one.switchTo(false);
    await database.query("UPDATE deliveries SET state = 'succeeded' WHERE subscription_id = ? LIMIT 2", [
      one.id,
    ]);
    await database.query('UPDATE delivery_queues SET count_held_utc = NOW(3) WHERE subscription_id = ?', [
      one.id,
    ]);
    await expect
      .poll(
        async () => {
          await dispatchers[0]!.correctHeld();
          return (await one.held()) === 3;
        },
        { message: 'the correction' },
      )
      .toBe(true);
    const [queue] = await database.query<{ count_held_utc: Date | null }>(
      'SELECT count_held_utc FROM delivery_queues WHERE subscription_id = ?',
      [one.id],
    );
    expect(queue!.count_held_utc).toBeNull();
  });
});

test('A disabling that no dispatcher has applied holds what waited then, even after enabling', async () => {
  const alone = await bootPortal({ commands: false });
  const company = 901;
  const id = await makeSubscription(alone.db, company, { consecutive_failures: 4 });
  const call = (operation: string, body?: unknown) => alone.ask(operation, company, { params: [id], body });
  const deliveries = async () =>
    (
      await alone.database.query<{ state: string; count: number }>(
        'SELECT state, COUNT(*) AS count FROM deliveries GROUP BY state ORDER BY state',
      )
    ).map(({ state, count }) => [state, count]);
  await makeDelivery(alone.db, { company_id: company, subscription_id: id }, 1_003);
  expect((await call('updateSubscription', { enabled: false })).body.enabled).toBe(false);
  // Created after the disabling.
  const later = new Date(Date.now() + 60_000);
  await makeDelivery(alone.db, { company_id: company, subscription_id: id, created_utc: later }, 2);
  const enabled = await call('updateSubscription', { enabled: true });
  expect(enabled.body).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  // The count includes the deliveries that are still to be held.
  expect((await call('releaseHeldDeliveries')).body).toEqual({ count: 1_003 });
  expect(await deliveries()).toEqual([['waiting', 1_005]]);
  const [replay] = await alone.database.query<{ replay_id: number }>('SELECT replay_id FROM replays');
  await alone.portal('cancelReplay', company, { params: [replay!.replay_id] });
  await bootPortal({ database: alone.database });
  await expect
    .poll(async () => String(await deliveries()) === 'waiting,2,held,1003', { message: 'all are held' })
    .toBe(true);
  expect((await call('getSubscription')).body).toMatchObject({
    heldDeliveries: 1_003,
    consecutiveFailures: 0,
  });
  const [queue] = await alone.database.query<object>('SELECT * FROM delivery_queues');
  expect(queue).toMatchObject({ consecutive_failures: 0, next_due_utc: expect.any(Date) });
});

test('Enabling what is enabled ends the pause before the next attempt for a member, and not for a key', async () => {
  const alone = await bootPortal({ commands: false });
  const params = [await makeSubscription(alone.db, 902, { consecutive_failures: 6 })];
  const changes = () => alone.database.query('SELECT * FROM subscription_changes');
  await alone.ask('updateSubscription', 902, { params, body: { enabled: true } });
  expect(await changes()).toEqual([]);
  await alone.portal('updatePortalSubscription', 902, { params, body: { enabled: true } });
  expect(await changes()).toMatchObject([{ resets_failures: 0, hold_utc: null }]);
});

test('Disabling that is interrupted anywhere goes on there: everything is held and counted once', async () => {
  const one = await subscribe(3_500);
  await one.switchTo(false);
  const left = () => database.query('SELECT * FROM subscription_changes WHERE subscription_id = ?', [one.id]);
  await Promise.all(
    dispatchers.map(async ({ interruptChange }) => {
      for (let at = 0; at < 20; at++) await interruptChange(company, one.id);
    }),
  );
  await expect.poll(() => left()).toHaveLength(0);
  expect(await one.states()).toEqual({ held: 3_500 });
  expect(await one.held()).toBe(3_500);
});

test('Disabling, enabling, releasing and discarding at once leave a true count and nothing undone', async () => {
  const one = await subscribe(400);
  const calls = Array.from({ length: 60 }, (_, at) => {
    if (at % 6 === 4) return one.release();
    if (at % 6 === 5) return one.discard();
    return one.switchTo(at % 2 === 0);
  });
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => ![200, 202, 409].includes(status))).toEqual([]);
  await one.switchTo(false);
  await expect
    .poll(
      async () => {
        const [left] = await database.query<{ count: number }>(
          `SELECT (SELECT COUNT(*) FROM subscription_changes WHERE subscription_id = ?)
         + (SELECT COUNT(*) FROM replays WHERE subscription_id = ? AND kind = 'drop' AND state = 'running') AS count`,
          [one.id, one.id],
        );
        return left!.count === 0;
      },
      { message: 'everything is applied' },
    )
    .toBe(true);
  const { held = 0, dropped = 0, waiting = 0 } = await one.states();
  expect(held + dropped + waiting).toBe(400);
  expect(await one.held()).toBe(held);
});

describe('Held deliveries', () => {
  test('are not released and discarded at once: the second request learns what is in progress', async () => {
    const one = await subscribe(250);
    await one.switchTo(false);
    await one.switchTo(true);
    expect((await one.release()).status).toBe(202);
    const second = await one.discard();
    expect([second.status, second.body]).toEqual([
      409,
      {
        error: expect.stringMatching(
          /^held deliveries are being released for this subscription \(\d+\); wait for it, or cancel it in the portal$/,
        ),
      },
    ]);
  });
});
