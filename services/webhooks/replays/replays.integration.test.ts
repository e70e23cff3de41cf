import type { DeliveryRow } from '@causeway/deliveries';
import type { StoredEvent } from '@causeway/proto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeSubscription } from '../testing/events.ts';
import { makeDeliveries, makeDelivery, makeEvents } from '../testing/make.ts';
import { type BootedPortal, bootPortal } from '../testing/portal.ts';

let webhooks: BootedPortal;
let subscription: number;
/** Each test has its own, and the one above it belongs to strangers. */
let company = 6000;
const started = Date.now();
const minutesAgo = (minutes: number) => new Date(started - minutes * 60_000);

beforeAll(async () => {
  webhooks = await bootPortal();
});
beforeEach(async () => {
  company += 2;
  subscription = await makeSubscription(webhooks.db, company);
});

const delivered = async (
  count: number,
  fields: Partial<DeliveryRow> = {},
  at = minutesAgo(30),
): Promise<readonly StoredEvent[]> => {
  const type = fields.event_type ?? 'client.created';
  const events = await makeEvents(
    webhooks.db,
    company,
    Array.from({ length: count }, () => ({ created_utc: at, type })),
  );
  const delivery = {
    company_id: company,
    subscription_id: subscription,
    event_type: type,
    state: 'failed',
    attempts: 11,
    due_utc: null,
    last_status: 500,
    updated_utc: at,
    ...fields,
  } as const;
  await makeDeliveries(
    webhooks.db,
    events.map(({ event_id, created_utc }) => ({ ...delivery, event_id, created_utc })),
  );
  return events;
};

const deliveriesOf = (replayId: number) =>
  webhooks.database.query<DeliveryRow>(
    'SELECT * FROM deliveries WHERE company_id = ? AND replay_id = ? ORDER BY event_id, subscription_id',
    [company, replayId],
  );
const replayOf = async (id: number) => (await webhooks.portal('getReplay', company, { params: [id] })).body;
const setEnabled = (enabled: boolean) =>
  webhooks.database.query('UPDATE subscriptions SET enabled = ? WHERE company_id = ?', [enabled, company]);
const ids = (rows: readonly { event_id: number }[]) => rows.map(({ event_id }) => event_id);
const ask = (kind: string, more: object = {}) => ({
  body: { subscriptionId: subscription, kind, since: minutesAgo(60), ...more },
});
const preview = async (kind: string, more: object = {}): Promise<number> => {
  const { status, body } = await webhooks.portal('previewReplay', company, ask(kind, more));
  expect(status).toBe(200);
  return body.count;
};
const create = async (kind: string, more: object = {}): Promise<number> => {
  const { status, body } = await webhooks.portal('createReplay', company, ask(kind, more));
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
};
const finish = async (id: number): Promise<void> => {
  await expect
    .poll(
      async () => {
        for (const one of await deliveriesOf(id))
          if (one.state === 'waiting') await webhooks.end(one, 'succeeded');
        return (await replayOf(id)).state === 'done';
      },
      { message: 'a replay that is done' },
    )
    .toBe(true);
};

describe('a replay of failed deliveries', () => {
  test('creates as many as the preview counts, due at once, and counts them as they arrive', async () => {
    const events = await delivered(12);
    await delivered(3, { state: 'succeeded' });
    await delivered(2, { state: 'dropped' });
    await delivered(4, {}, minutesAgo(90));
    expect(await preview('failed')).toBe(12);
    const id = await create('failed');
    await expect.poll(() => deliveriesOf(id)).toHaveLength(12);
    const made = await deliveriesOf(id);
    expect(ids(made)).toEqual(ids(events));
    for (const one of made) {
      expect(one).toMatchObject({ state: 'waiting', attempts: 0, event_type: 'client.created' });
      expect(one.created_utc).toEqual(events[0]!.created_utc);
      expect(one.due_utc!.getTime()).toBeLessThanOrEqual(Date.now());
    }
    const [queue] = await webhooks.database.query<{ next_due_utc: Date }>(
      'SELECT * FROM delivery_queues WHERE company_id = ?',
      [company],
    );
    expect(queue!.next_due_utc.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await replayOf(id)).toMatchObject({
      state: 'running',
      total: 12,
      made: 12,
      succeeded: 0,
      failed: 0,
    });
    await finish(id);
    expect(await replayOf(id)).toMatchObject({
      total: 12,
      made: 12,
      succeeded: 12,
      finishedUtc: expect.any(String),
    });
    expect(await preview('failed')).toBe(0);
    expect(await webhooks.portal('createReplay', company, ask('failed'))).toMatchObject({
      status: 409,
      body: { error: 'there is nothing to replay', reason: 'conflict' },
    });
  });

  test('uses the last outcome of deliveries that were replayed before', async () => {
    const [again, arrived, underWay, given] = await delivered(4);
    const later = async (event: StoredEvent, state: DeliveryRow['state']) =>
      makeDelivery(webhooks.db, {
        company_id: company,
        subscription_id: subscription,
        event_id: event.event_id,
        created_utc: event.created_utc,
        replay_id: 77,
        state,
        due_utc: state === 'waiting' ? new Date() : null,
        updated_utc: minutesAgo(10),
      });
    await later(again!, 'failed');
    await later(arrived!, 'succeeded');
    await later(underWay!, 'waiting');
    await later(given!, 'dropped');
    const id = await create('failed');
    expect((await replayOf(id)).total).toBe(2);
    await expect.poll(() => deliveriesOf(id)).toHaveLength(2);
    expect(ids(await deliveriesOf(id))).toEqual([again!.event_id, given!.event_id]);
  });

  test('is limited to its company and subscription, and to the requested types and times', async () => {
    await delivered(3);
    await delivered(2, { event_type: 'lead.created' });
    await delivered(5, { subscription_id: await makeSubscription(webhooks.db, company) });
    await delivered(1, {}, minutesAgo(5));
    expect(await preview('failed')).toBe(6);
    expect(await preview('failed', { types: ['lead.created'] })).toBe(2);
    expect(await preview('failed', { until: minutesAgo(10) })).toBe(5);
    expect(await preview('failed', { since: minutesAgo(10) })).toBe(1);
    const foreign = await webhooks.portal('previewReplay', company + 1, ask('failed'));
    expect(foreign).toMatchObject({ status: 404, body: { error: 'subscription not found' } });
  });
});

describe('a replay of missed events', () => {
  test('has the events without a delivery, or with one that was dropped before an attempt, and no held ones', async () => {
    const at = minutesAgo(30);
    const nothing = await makeEvents(webhooks.db, company, [{ created_utc: at }, { created_utc: at }]);
    await makeEvents(webhooks.db, company, [{ created_utc: at, type: 'payment.failed' }]);
    await delivered(2, { state: 'held', attempts: 0 });
    const dropped = await delivered(1, { state: 'dropped', attempts: 0 });
    await delivered(1, { state: 'held', attempts: 1 });
    await delivered(1, { state: 'succeeded', attempts: 1 });
    await delivered(1, { state: 'waiting', attempts: 0, due_utc: new Date() });
    expect(await preview('missed')).toBe(3);
    const id = await create('missed');
    await expect.poll(() => deliveriesOf(id)).toHaveLength(3);
    expect(ids(await deliveriesOf(id))).toEqual(ids([...nothing, ...dropped]));
    const { body } = await webhooks.portal('getPortalSubscription', company, { params: [subscription] });
    expect(body.health.held).toBe(3);
    await finish(id);
    expect(await preview('missed')).toBe(0);
  });

  test('leaves out events that still wait for fan-out', async () => {
    const events = await makeEvents(webhooks.db, company, [{ created_utc: minutesAgo(1) }]);
    await webhooks.database.query('INSERT INTO event_outbox VALUES (?, ?, 1, ?, NOW(3))', [
      company,
      events[0]!.event_id,
      // In the future, so that the sweeper ignores it.
      new Date(Date.now() + 3_600_000),
    ]);
    expect(await preview('missed')).toBe(0);
  });
});

test('deliveries are chosen by state, type, status code, class of error and time', async () => {
  await delivered(2, { last_status: 500 });
  await delivered(3, { last_status: 404, last_error: 'status' });
  await delivered(4, { state: 'succeeded', last_status: 200, event_type: 'lead.created' });
  await delivered(1, { state: 'dropped', last_status: null, last_error: 'timeout' });
  const count = (more: object) => preview('filter', { since: undefined, ...more });
  expect(await count({ states: ['failed', 'succeeded', 'dropped'] })).toBe(10);
  expect(await count({ states: ['failed'] })).toBe(5);
  expect(await count({ states: ['failed'], statusCodes: [404] })).toBe(3);
  expect(await count({ states: ['failed', 'succeeded'], types: ['lead.created'] })).toBe(4);
  expect(await count({ states: ['failed'], until: minutesAgo(40) })).toBe(0);
  expect(await count({ states: ['failed', 'dropped'], errorClasses: ['timeout'] })).toBe(1);
  expect(await count({ states: ['failed'], errorClasses: ['status'], statusCodes: [404] })).toBe(3);
  expect(await count({ states: ['failed'], errorClasses: ['status'], statusCodes: [500] })).toBe(0);
  const id = await create('filter', {
    since: undefined,
    states: ['failed', 'succeeded'],
    statusCodes: [404, 200],
  });
  expect(await replayOf(id)).toMatchObject({
    kind: 'filter',
    total: 7,
    filter: { states: ['failed', 'succeeded'], statusCodes: [404, 200], until: expect.any(String) },
  });
  await expect.poll(() => deliveriesOf(id)).toHaveLength(7);
  for (const states of [['waiting'], ['held'], []])
    expect((await webhooks.portal('previewReplay', company, ask('filter', { states }))).status).toBe(400);
});

describe('a replay', () => {
  test('creates deliveries no faster than they are taken', async () => {
    const events = await delivered(260);
    const id = await create('failed');
    await expect.poll(() => deliveriesOf(id)).toHaveLength(100);
    // Longer than the pause between two steps of a full replay: no step may make more.
    await new Promise((done) => setTimeout(done, 1_500));
    const made = await deliveriesOf(id);
    expect(made).toHaveLength(100);
    for (const one of made.slice(0, 40)) await webhooks.end(one, 'succeeded');
    await expect.poll(() => deliveriesOf(id)).toHaveLength(140);
    // Deliveries that a dispatcher has leased are not due: the lease is in the future.
    await webhooks.database.query(
      "UPDATE deliveries SET due_utc = ? WHERE company_id = ? AND state = 'waiting'",
      [new Date(Date.now() + 30_000), company],
    );
    await expect.poll(() => deliveriesOf(id)).toHaveLength(240);
    await finish(id);
    expect(ids(await deliveriesOf(id))).toEqual(ids(events));
  });

  test('that is interrupted anywhere continues there: nothing is skipped and nothing is created twice', async () => {
    const events = await delivered(250);
    const id = await create('failed');
    // Steps that end in a rollback instead of their commit, as if their process were killed, mixed with those of the
    // dispatcher itself.
    let broken = 0;
    await expect
      .poll(
        async () => {
          await webhooks.dispatchers[0]!.interruptPage(company, id);
          broken++;
          for (const one of await deliveriesOf(id))
            if (one.state === 'waiting') await webhooks.end(one, 'succeeded');
          return (await replayOf(id)).state === 'done';
        },
        { message: 'a replay that is done' },
      )
      .toBe(true);
    expect(broken).toBeGreaterThan(3);
    expect(ids(await deliveriesOf(id))).toEqual(ids(events));
    expect(await replayOf(id)).toMatchObject({ made: 250, succeeded: 250 });
  });

  test('that is cancelled creates no more, and its waiting deliveries are dropped', async () => {
    await delivered(150);
    const id = await create('failed');
    await expect.poll(() => deliveriesOf(id)).toHaveLength(100);
    for (const one of (await deliveriesOf(id)).slice(0, 10)) await webhooks.end(one, 'succeeded');
    const cancelled = await webhooks.portal('cancelReplay', company, { params: [id] });
    expect(cancelled).toMatchObject({
      status: 200,
      body: { state: 'cancelled', finishedUtc: expect.any(String) },
    });
    // Longer than the pause between two pages: no further page may come.
    await new Promise((done) => setTimeout(done, 800));
    const states = Map.groupBy(await deliveriesOf(id), (one) => one.state);
    expect(states.get('succeeded')).toHaveLength(10);
    expect(states.get('waiting')).toBeUndefined();
    expect((await webhooks.portal('cancelReplay', company, { params: [id] })).status).toBe(409);
    // Deliveries that it did not make can still be replayed.
    expect(await preview('failed')).toBe(140);
  });

  test('waits while its subscription is disabled, and ends when that is deleted', async () => {
    await delivered(150);
    const id = await create('failed');
    await expect.poll(() => deliveriesOf(id)).toHaveLength(100);
    await setEnabled(false);
    await webhooks.database.query(
      "UPDATE deliveries SET state = 'held', due_utc = NULL WHERE company_id = ? AND state = 'waiting'",
      [company],
    );
    // Long enough for several pages, had the replay continued.
    await new Promise((done) => setTimeout(done, 1_200));
    expect(await deliveriesOf(id)).toHaveLength(100);
    expect((await replayOf(id)).state).toBe('running');
    await webhooks.database.query('DELETE FROM subscriptions WHERE company_id = ?', [company]);
    await expect.poll(async () => (await replayOf(id)).state).toBe('cancelled');
  });

  test('is refused for a disabled subscription, and while another of the same deliveries is in progress', async () => {
    await delivered(150);
    const id = await create('failed');
    for (const again of [ask('failed'), ask('filter', { states: ['succeeded', 'failed'] })])
      expect(await webhooks.portal('createReplay', company, again)).toMatchObject({
        status: 409,
        body: {
          error: `a replay is running for this subscription (${id}); wait for it, or cancel it in the portal`,
        },
      });
    const missed = await makeEvents(webhooks.db, company, [{ created_utc: minutesAgo(3) }]);
    await delivered(2, { state: 'held', attempts: 0 });
    const { status } = await webhooks.portal('releaseHeld', company, { params: [subscription] });
    expect(status).toBe(201);
    const beside = await create('missed');
    await finish(id);
    await finish(beside);
    expect(ids(await deliveriesOf(beside))).toEqual(ids(missed));
    expect(await deliveriesOf(id)).toHaveLength(150);
    expect((await deliveriesOf(0)).filter(({ state }) => state === 'waiting')).toHaveLength(2);
    await makeEvents(webhooks.db, company, [{ created_utc: minutesAgo(3) }]);
    await setEnabled(false);
    expect(await webhooks.portal('createReplay', company, ask('missed'))).toMatchObject({
      status: 409,
      body: { error: 'the subscription is disabled; enable it first' },
    });
  });

  test('is in the audit log under its member’s name, and unknown to other companies', async () => {
    await delivered(3);
    const id = await create('failed');
    for (const operation of ['getReplay', 'cancelReplay'] as const)
      expect(await webhooks.portal(operation, company + 1, { params: [id] })).toMatchObject({
        status: 404,
        body: { error: 'replay not found' },
      });
    const audit = await webhooks.database.query('SELECT * FROM audit_log WHERE company_id = ?', [company]);
    expect(audit).toMatchObject([
      {
        company_id: company,
        action: 'replay.created',
        target_kind: 'replay',
        target_id: String(id),
        actor_name: 'The developer',
      },
    ]);
  });

  test('is listed, newest first', async () => {
    const made: number[] = [];
    for (let at = 0; at < 3; at++) {
      await delivered(1);
      const id = await create('failed');
      await finish(id);
      made.unshift(id);
    }
    const listed = async (query: Readonly<Record<string, string>>, asker = company): Promise<number[]> =>
      (await webhooks.portal('listReplays', asker, { query })).body.replays.map(
        ({ id }: { id: number }) => id,
      );
    expect(await listed({ subscriptionId: String(subscription) })).toEqual(made);
    expect(await listed({ limit: '2' })).toEqual(made.slice(0, 2));
    expect(await listed({ subscriptionId: String(subscription + 1) })).toEqual([]);
    expect(await listed({}, company + 1)).toEqual([]);
  });

  test('without a start, or of an unknown kind, is refused', async () => {
    expect((await webhooks.portal('createReplay', company, ask('failed', { since: undefined }))).status).toBe(
      400,
    );
    const answer = await webhooks.portal('createReplay', company, ask('everything'));
    expect(answer.status).toBe(400);
  });
});

describe('held deliveries', () => {
  const held = async (count: number) => delivered(count, { state: 'held', attempts: 2 });
  const counted = async () =>
    (await webhooks.portal('getPortalSubscription', company, { params: [subscription] })).body.health.held;

  test('are released page by page, at the pace at which they are taken', async () => {
    await held(230);
    expect(await counted()).toBe(230);
    const { status, body } = await webhooks.portal('releaseHeld', company, { params: [subscription] });
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'release', total: 230, made: 0 });
    await expect.poll(counted).toBe(130);
    // Longer than the pause between two steps of a full replay: no step may release more.
    await new Promise((done) => setTimeout(done, 1_200));
    expect(await counted()).toBe(130);
    expect(await replayOf(body.id)).toMatchObject({ state: 'running', made: 100 });
    await expect
      .poll(
        async () => {
          // Checked first: a last page created after the query for deliveries would be left waiting.
          const done = (await replayOf(body.id)).state === 'done';
          for (const one of await deliveriesOf(0))
            if (one.state === 'waiting') await webhooks.end(one, 'succeeded');
          return done;
        },
        { message: 'the rest' },
      )
      .toBe(true);
    expect(await counted()).toBe(0);
    const rows = await deliveriesOf(0);
    expect(rows.every((one) => one.state === 'succeeded' && one.attempts === 3)).toBe(true);
    expect((await webhooks.portal('releaseHeld', company, { params: [subscription] })).status).toBe(409);
  });

  test('are all discarded, even if the subscription is disabled, and counted by their replays', async () => {
    await held(1_200);
    const [event] = await delivered(1);
    await webhooks.database.query(
      `INSERT INTO replays (replay_id, company_id, subscription_id, kind, filter, total, made, position, next_page_utc, created_utc)
       VALUES (900, ?, ?, 'resend', '{}', 1, 1, 9007199254740991, ?, ?)`,
      [company, subscription, new Date(), new Date()],
    );
    await makeDelivery(webhooks.db, {
      company_id: company,
      subscription_id: subscription,
      event_id: event!.event_id,
      created_utc: event!.created_utc,
      replay_id: 900,
      state: 'held',
      due_utc: null,
    });
    await setEnabled(false);
    expect((await webhooks.portal('releaseHeld', company, { params: [subscription] })).status).toBe(409);
    const { status, body } = await webhooks.portal('discardHeld', company, { params: [subscription] });
    expect(status).toBe(201);
    await expect.poll(async () => (await replayOf(body.id)).state).toBe('done');
    expect(await replayOf(body.id)).toMatchObject({ kind: 'drop', total: 1201, made: 1201 });
    expect(await counted()).toBe(0);
    expect(await replayOf(900)).toMatchObject({ failed: 1 });
    await setEnabled(true);
    await expect.poll(async () => (await replayOf(900)).state).toBe('done');
    const audit = await webhooks.database.query<{ action: string }>(
      'SELECT action FROM audit_log WHERE company_id = ?',
      [company],
    );
    expect(audit.map(({ action }) => action)).toEqual(['held.dropped']);
  });
});

test('A replay whose time ends before it begins is refused', async () => {
  await delivered(1);
  for (const operation of ['createReplay', 'previewReplay'] as const) {
    const error = async (more: object) =>
      (await webhooks.portal(operation, company, ask('failed', more))).body.error;
    expect(await error({ until: minutesAgo(61) })).toBe('until must be after since');
    expect(await error({ since: new Date(Date.now() + 60_000) })).toBe('since must not be in the future');
  }
});
