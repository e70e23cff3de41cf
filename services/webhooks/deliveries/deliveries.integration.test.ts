import { randomBytes } from 'node:crypto';
import type { DeliveryKey, DeliveryRow } from '@causeway/deliveries';
import { encodeEnvelope, masked, type StoredEvent } from '@causeway/proto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Asked } from '../testing/boot.ts';
import { makeSubscription } from '../testing/events.ts';
import { makeDelivery, makeEvents, makeAttempt as storeAttempt } from '../testing/make.ts';
import { type BootedPortal, bootPortal } from '../testing/portal.ts';

let webhooks: BootedPortal;
let company = 7000;
let subscription: number;
beforeAll(async () => {
  webhooks = await bootPortal();
});
beforeEach(async () => {
  company++;
  subscription = await makeSubscription(webhooks.db, company, { name: 'Billing' });
});

const at = new Date('2026-01-15T09:30:00.000Z');

const makeOne = async (fields: Partial<DeliveryRow> = {}): Promise<StoredEvent> => {
  const type = fields.event_type ?? 'client.created';
  const [event] = await makeEvents(webhooks.db, company, [
    {
      type,
      created_utc: fields.created_utc ?? at,
      payload: { client_id: 1042, first_name: 'Käthe "K" \\ 李' },
    },
  ]);
  await makeDelivery(webhooks.db, {
    company_id: company,
    subscription_id: subscription,
    event_id: event!.event_id,
    created_utc: event!.created_utc,
    event_type: type,
    state: 'failed',
    due_utc: null,
    updated_utc: at,
    ...fields,
  });
  return event!;
};

const key = (event: StoredEvent, replayId = 0): DeliveryKey => ({
  company_id: company,
  event_id: event.event_id,
  subscription_id: subscription,
  replay_id: replayId,
  created_utc: event.created_utc,
});
const paramsOf = (event: StoredEvent, ...rest: readonly number[]) => [
  event.event_id,
  subscription,
  ...(rest.length > 0 ? rest : [0]),
];

const makeAttempt = (
  event: StoredEvent,
  fields: Partial<Parameters<typeof storeAttempt>[1]> = {},
): Promise<void> =>
  storeAttempt(webhooks.db, {
    ...key(event),
    started_utc: at,
    next_attempt_utc: new Date(at.getTime() + 5_000),
    ...fields,
  });

const list = async (query: Record<string, string> = {}): Promise<Asked> =>
  webhooks.portal('listDeliveries', company, { query });
const listed = async (query: Record<string, string> = {}): Promise<string[]> =>
  (await list(query)).body.deliveries.map(({ id }: { id: string }) => id);

describe('deliveries are listed', () => {
  test('those of the newest events first, each with the current state of its subscription', async () => {
    const first = await makeOne({
      state: 'waiting',
      attempts: 1,
      due_utc: at,
      last_status: 503,
      last_error: 'status',
    });
    const second = await makeOne({ state: 'succeeded', attempts: 1, last_status: 200 });
    const { body } = await list();
    expect(body.deliveries[1]).toEqual({
      subject: { kind: 'client', id: 1042, name: 'Käthe "K" \\ 李' },
      summary: '',
      id: `${first.event_id}-${subscription}-0`,
      eventId: first.event_id,
      subscriptionId: subscription,
      replayId: 0,
      eventType: 'client.created',
      eventCreatedUtc: at.toISOString(),
      state: 'waiting',
      attempts: 1,
      dueUtc: at.toISOString(),
      lastStatusCode: 503,
      lastErrorClass: 'status',
      updatedUtc: at.toISOString(),
      subscription: {
        name: 'Billing',
        url: 'https://hooks.example.com/causeway',
        enabled: true,
        nextProbeUtc: null,
      },
    });
    expect(body.deliveries[0].eventId).toBe(second.event_id);
    expect(body).toMatchObject({ nextCursor: null, hasMore: false });
    await webhooks.database.query('DELETE FROM subscriptions WHERE subscription_id = ?', [subscription]);
    expect((await list()).body.deliveries[0].subscription).toBeNull();
  });

  test('with the next probe of their subscription while it is failing', async () => {
    await makeOne();
    const probeUtc = '2026-01-15T10:30:00.000Z';
    for (const failures of [4, 5]) {
      await webhooks.database.query(
        'UPDATE delivery_queues SET probe_due_utc = ?, consecutive_failures = ? WHERE subscription_id = ?',
        [new Date(probeUtc), failures, subscription],
      );
      const expected = failures === 5 ? probeUtc : null;
      expect((await list()).body.deliveries[0].subscription.nextProbeUtc).toBe(expected);
    }
  });

  test('with the reason why one waits', async () => {
    const due = (ms: number) => new Date(Date.now() + ms);
    const first = await makeOne({ state: 'waiting', due_utc: due(-5_000) });
    const second = await makeOne({ state: 'waiting', due_utc: due(-4_000) });
    const retry = await makeOne({ state: 'waiting', attempts: 2, due_utc: due(60_000) });
    const wait = async (event: StoredEvent) =>
      (await webhooks.portal('getDelivery', company, { params: paramsOf(event), role: 'viewer' })).body.wait;
    const set = (columns: object, table = 'subscriptions') =>
      webhooks.database.query(`UPDATE ${table} SET ? WHERE subscription_id = ?`, [columns, subscription]);
    expect(await wait(first)).toMatchObject({ reason: 'turn', place: 1, nextUtc: null });
    expect(await wait(second)).toMatchObject({ reason: 'turn', place: 2 });
    expect(await wait(retry)).toMatchObject({ reason: 'retry', place: null });
    await set({ pace_limit: 1, pace_seconds: 60 });
    const paced = await wait(second);
    expect(paced).toMatchObject({ reason: 'paced', place: 2 });
    expect(Date.parse(paced.nextUtc) - Date.now()).toBeGreaterThan(30_000);
    const probe = due(90_000);
    await set({ consecutive_failures: 5, probe_due_utc: probe }, 'delivery_queues');
    expect(await wait(second)).toMatchObject({ reason: 'failing', nextUtc: probe.toISOString() });
    await set({ paused_utc: at });
    expect(await wait(second)).toMatchObject({ reason: 'paused', sinceUtc: at.toISOString(), nextUtc: null });
    expect(await wait(await makeOne({ state: 'held' }))).toBeNull();
  });

  test('by whether they have arrived, with counts beside the other filters', async () => {
    const other = await makeSubscription(webhooks.db, company);
    const states = ['waiting', 'held', 'succeeded', 'failed', 'dropped'] as const;
    const undelivered: string[] = [];
    for (const state of states)
      for (const attempts of [0, 2]) {
        const due_utc = state === 'waiting' ? at : null;
        const { event_id } = await makeOne({ state, attempts, due_utc, last_status: attempts ? 503 : null });
        if (state !== 'succeeded' && state !== 'dropped')
          undelivered.unshift(`${event_id}-${subscription}-0`);
      }
    await makeOne({ subscription_id: other, state: 'succeeded', attempts: 1, last_status: 200 });
    expect(await listed({ state: 'undelivered' })).toEqual(undelivered);
    expect(await listed({ state: 'undelivered', subscriptionId: String(other) })).toEqual([]);
    const counts = async (query: Readonly<Record<string, string>> = {}, asker = company) => {
      const { body } = await webhooks.portal('countDeliveries', asker, { query, role: 'viewer' });
      const { all, succeeded, undelivered, held } = body;
      expect([all, succeeded, undelivered, held].some(({ isMore }) => isMore)).toBe(false);
      return [all.count, succeeded.count, undelivered.count, held.count];
    };
    expect(await counts()).toEqual([11, 3, 6, 2]);
    expect(await counts({ subscriptionId: String(other) })).toEqual([1, 1, 0, 0]);
    expect(await counts({ statusCode: '503' })).toEqual([5, 1, 3, 1]);
    expect(await counts({ clientId: '1042' })).toEqual([11, 3, 6, 2]);
    expect(await counts({ clientId: '1' })).toEqual([0, 0, 0, 0]);
    expect(await counts({ until: at.toISOString() })).toEqual([0, 0, 0, 0]);
    expect(await counts({}, company + 1)).toEqual([0, 0, 0, 0]);
  });

  test('counted to a bound: undelivered ones are found below many that arrived', async () => {
    const subscription_id = subscription;
    const rows = (count: number, fields: Partial<DeliveryRow>) =>
      makeDelivery(
        webhooks.db,
        { company_id: company, subscription_id, created_utc: at, due_utc: null, ...fields },
        count,
      );
    await rows(7, { state: 'failed', attempts: 11 });
    await rows(3, { state: 'held', attempts: 0 });
    await rows(20_100, { state: 'succeeded', attempts: 1 });
    for (const query of [{}, { subscriptionId: String(subscription) }]) {
      const { body } = await webhooks.portal('countDeliveries', company, { query });
      expect(body).toEqual({
        all: { count: 10_000, isMore: true },
        succeeded: { count: 10_000, isMore: true },
        undelivered: { count: 10, isMore: false, oldestUtc: at.toISOString(), missed: 0 },
        held: { count: 3, isMore: false },
      });
    }
  });

  test('by their filters, and never those of another company', async () => {
    const other = await makeSubscription(webhooks.db, company);
    const a = await makeOne({ last_status: 500, last_error: 'status' });
    const b = await makeOne({ state: 'succeeded', last_status: 200, event_type: 'lead.created' });
    const c = await makeOne({
      subscription_id: other,
      last_error: 'timeout',
      created_utc: new Date(at.getTime() + 60_000),
    });
    const d = await makeOne({ replay_id: 12, state: 'dropped' });
    const id = (event: StoredEvent, of = subscription, replay = 0) => `${event.event_id}-${of}-${replay}`;
    expect(await listed()).toEqual([id(d, subscription, 12), id(c, other), id(b), id(a)]);
    expect(await listed({ subscriptionId: String(other) })).toEqual([id(c, other)]);
    expect(await listed({ eventId: String(b.event_id) })).toEqual([id(b)]);
    expect(await listed({ type: 'lead.created' })).toEqual([id(b)]);
    expect(await listed({ state: 'failed' })).toEqual([id(c, other), id(a)]);
    expect(await listed({ state: 'failed', subscriptionId: String(subscription) })).toEqual([id(a)]);
    expect(await listed({ statusCode: '500' })).toEqual([id(a)]);
    expect(await listed({ errorClass: 'timeout' })).toEqual([id(c, other)]);
    expect(await listed({ replayId: '12' })).toEqual([id(d, subscription, 12)]);
    expect(await listed({ replayId: '0', state: 'succeeded' })).toEqual([id(b)]);
    expect(await listed({ since: new Date(at.getTime() + 1).toISOString() })).toEqual([id(c, other)]);
    expect(await listed({ until: at.toISOString() })).toEqual([]);
    company++;
    expect(await listed()).toEqual([]);
    company--;
  });

  test.each([{}, { state: 'failed' }, { type: 'client.created' }, { state: 'failed', ofSubscription: true }])(
    'page by page without a gap or a repetition, filtered by %o',
    async ({ ofSubscription, ...filter }: { ofSubscription?: boolean; state?: string; type?: string }) => {
      const others = [
        await makeSubscription(webhooks.db, company),
        await makeSubscription(webhooks.db, company),
      ];
      const expected: string[] = [];
      for (let at = 0; at < 7; at++) {
        const event = await makeOne();
        for (const subscription_id of others)
          await makeDelivery(webhooks.db, { ...key(event), subscription_id, state: 'failed', due_utc: null });
        await makeDelivery(webhooks.db, { ...key(event, 5), state: 'failed', due_utc: null });
        const of = [
          ...others.toReversed().map((one) => `${one}-0`),
          `${subscription}-5`,
          `${subscription}-0`,
        ];
        expected.unshift(
          ...of
            .filter((one) => !ofSubscription || one.startsWith(`${subscription}-`))
            .map((one) => `${event.event_id}-${one}`),
        );
      }
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body }: Asked = await list({
          ...filter,
          ...(ofSubscription && { subscriptionId: String(subscription) }),
          limit: '3',
          ...(cursor && { cursor }),
        });
        seen.push(...body.deliveries.map(({ id }: { id: string }) => id));
        expect(body.hasMore).toBe(body.nextCursor !== null);
        cursor = body.nextCursor;
      }
      expect(seen).toEqual(expected);
    },
  );

  test('and a rare one is found after many others', async () => {
    const [event] = await makeEvents(webhooks.db, company, [{ created_utc: at }]);
    await webhooks.database.query('SET SESSION cte_max_recursion_depth = 100000');
    await webhooks.database.query(
      `INSERT INTO deliveries (company_id, event_id, subscription_id, created_utc, event_type, state, last_status, updated_utc)
       WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
       SELECT ?, ? + i, ?, ?, 'client.created', 'succeeded', IF(i = 3, 418, 200), ? FROM n`,
      [company, event!.event_id, subscription, at, at],
    );
    // A page ends early when its time is up, so the search follows the cursors.
    const found = async (statusCode: string, cursor?: string): Promise<string[]> => {
      const { body } = await list({ statusCode, ...(cursor && { cursor }) });
      const ids = body.deliveries.map(({ id }: { id: string }) => id);
      return body.nextCursor === null ? ids : [...ids, ...(await found(statusCode, body.nextCursor))];
    };
    expect(await found('418')).toEqual([`${event!.event_id + 3}-${subscription}-0`]);
    expect(await found('419')).toEqual([]);
  });

  test('and an invalid cursor, state or parameter is refused', async () => {
    expect((await list({ cursor: 'abc' })).body.error).toBe('invalid cursor');
    expect((await list({ state: 'lost' })).status).toBe(400);
    expect((await list({ statusCode: '42' })).status).toBe(400);
    expect((await list({ foo: '1' })).body.error).toBe('unknown query parameter: foo');
  });
});

describe('one delivery', () => {
  test('has its attempts in their order, and the event’s other deliveries to the subscription', async () => {
    const event = await makeOne({ state: 'waiting', attempts: 2, due_utc: at });
    await makeAttempt(event, {
      attempt: 2,
      error_class: 'timeout',
      status_code: null,
      error: 'no answer in time',
    });
    await makeAttempt(event);
    await makeDelivery(webhooks.db, { ...key(event, 9), state: 'succeeded', due_utc: null });
    const { body } = await webhooks.portal('getDelivery', company, { params: paramsOf(event) });
    expect(body).toMatchObject({ state: 'waiting', attempts: 2, dueUtc: at.toISOString() });
    expect(body.history).toMatchObject([
      {
        attempt: 1,
        statusCode: 503,
        errorClass: 'status',
        elapsedMs: 84,
        nextAttemptUtc: '2026-01-15T09:30:05.000Z',
      },
      { attempt: 2, statusCode: null, errorClass: 'timeout', error: 'no answer in time' },
    ]);
    expect(body.others).toMatchObject([{ replayId: 9, state: 'succeeded' }]);
    const resent = await webhooks.portal('getDelivery', company, { params: paramsOf(event, 9) });
    expect(resent.body).toMatchObject({ replayId: 9, history: [], others: [{ replayId: 0 }] });
  });

  test.each([[['x', 1, 0]], [[1, 0, 0]], [[1, 1, -1]], [[1, 1, '00']], [[99_999_999, 1, 0]]])(
    'with the id %o is not found',
    async (params) => {
      const answer = await webhooks.portal('getDelivery', company, { params });
      expect(answer).toMatchObject({ status: 404, body: { error: 'delivery not found' } });
    },
  );

  test('of another company is not found', async () => {
    const event = await makeOne();
    await makeAttempt(event);
    const actions = ['resendDelivery', 'retryDelivery', 'cancelDelivery', 'releaseDelivery'] as const;
    for (const operation of ['getDelivery', ...actions] as const)
      expect((await webhooks.portal(operation, company + 1, { params: paramsOf(event) })).status).toBe(404);
    const attempt = await webhooks.portal('getAttempt', company + 1, { params: paramsOf(event, 0, 1) });
    expect(attempt).toMatchObject({ status: 404, body: { error: 'attempt not found' } });
  });
});

describe('one attempt', () => {
  test('is shown completely: the sent bytes, the signed text, and the response', async () => {
    const event = await makeOne();
    await makeAttempt(event);
    const { body } = await webhooks.portal('getAttempt', company, { params: paramsOf(event, 0, 1) });
    expect(body).toMatchObject({
      attempt: 1,
      success: false,
      statusCode: 503,
      errorClass: 'status',
      elapsedMs: 84,
      timings: { dnsMs: 3, connectMs: 12, tlsMs: null, firstByteMs: 80 },
      address: '203.0.113.9',
      nextAttemptUtc: '2026-01-15T09:30:05.000Z',
      masked: false,
      response: {
        headers: [['Content-Type', 'text/plain']],
        body: 'busy',
        bodyBase64: false,
        truncated: false,
      },
    });
    expect(body.request).toEqual({
      url: 'https://hooks.example.com/causeway',
      headers: expect.arrayContaining([['X-Webhook-Timestamp', '1768469400']]),
      body: encodeEnvelope(event).toString(),
      timestamp: '1768469400',
      signature: `sha256=${'5f'.repeat(32)}`,
    });
  });

  test('shows a viewer no personal data', async () => {
    const event = await makeOne();
    await makeAttempt(event, {
      response: { headers: [], body: Buffer.from('{"id":7,"email":"k@example.com"}') },
    });
    const asked = { params: paramsOf(event, 0, 1), role: 'viewer' } as const;
    const { body, text } = await webhooks.portal('getAttempt', company, asked);
    expect(body.masked).toBe(true);
    expect(JSON.parse(body.request.body)).toMatchObject({
      id: event.event_id,
      payload: { client_id: 1042, first_name: masked },
    });
    expect(JSON.parse(body.response.body)).toEqual({ [masked]: masked, email: masked });
    expect(text).not.toContain('Käthe');
  });

  test('without an answer, or whose event is no longer kept, says so', async () => {
    const event = await makeOne();
    await makeAttempt(event, {
      response: null,
      status_code: null,
      error_class: 'connect',
      address: null,
    });
    await webhooks.database.query('DELETE FROM events WHERE event_id = ?', [event.event_id]);
    const { body } = await webhooks.portal('getAttempt', company, { params: paramsOf(event, 0, 1) });
    expect(body).toMatchObject({ response: null, statusCode: null, request: { body: null } });
  });

  test('shows bytes that are not text as base64, and text truncated within a character as text', async () => {
    const event = await makeOne();
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0]), randomBytes(20)]);
    await makeAttempt(event, { response: { headers: [], body: bytes } });
    await makeAttempt(event, {
      attempt: 2,
      response: { headers: [], body: Buffer.from('häh李').subarray(0, -1) },
      response_truncated: 1,
    });
    const response = async (attempt: number) =>
      (await webhooks.portal('getAttempt', company, { params: paramsOf(event, 0, attempt) })).body.response;
    expect(await response(1)).toMatchObject({ body: bytes.toString('base64'), bodyBase64: true });
    expect(await response(2)).toMatchObject({ body: 'häh', bodyBase64: false, truncated: true });
  });
});

describe('resending', () => {
  const resend = (event: StoredEvent) =>
    webhooks.portal('resendDelivery', company, { params: paramsOf(event) });

  test('creates a delivery that is due at once, marked as a replay of one, and the replay is done when it ends', async () => {
    const event = await makeOne({ state: 'succeeded', attempts: 1 });
    const { status, body } = await resend(event);
    expect(status).toBe(201);
    expect(body.replay).toMatchObject({
      kind: 'resend',
      state: 'running',
      total: 1,
      made: 1,
      filter: { eventId: event.event_id },
      createdBy: 'The developer',
    });
    expect(body.delivery).toMatchObject({
      eventId: event.event_id,
      replayId: body.replay.id,
      state: 'waiting',
      attempts: 0,
    });
    expect(Date.parse(body.delivery.dueUtc)).toBeLessThanOrEqual(Date.now());
    const [queue] = await webhooks.database.query<{ next_due_utc: Date }>(
      'SELECT * FROM delivery_queues WHERE subscription_id = ?',
      [subscription],
    );
    expect(queue!.next_due_utc.getTime()).toBeLessThanOrEqual(Date.now());
    await webhooks.end(key(event, body.replay.id), 'failed');
    await expect
      .poll(
        async () => {
          const replay = await webhooks.portal('getReplay', company, { params: [body.replay.id] });
          return replay.body.state === 'done' && replay.body.failed === 1;
        },
        { message: 'the end' },
      )
      .toBe(true);
    const audit = await webhooks.database.query('SELECT * FROM audit_log WHERE company_id = ?', [company]);
    expect(audit).toMatchObject([
      { action: 'delivery.resent', target_id: String(subscription), actor_id: 1 },
    ]);
  });

  test('is accepted while no dispatcher runs, and only once: one that starts later makes the delivery', async () => {
    const withDispatcher = webhooks;
    webhooks = await bootPortal({ commands: false });
    try {
      subscription = await makeSubscription(webhooks.db, company);
      const event = await makeOne();
      const { status, body } = await resend(event);
      expect([status, body.delivery.state, body.replay.made]).toEqual([201, 'waiting', 0]);
      const again = await resend(event);
      expect([again.status, again.body.error]).toEqual([
        409,
        expect.stringMatching(/^the event is on its way to the subscription already: its first/),
      ]);
      const params = paramsOf(event, body.replay.id);
      expect((await webhooks.portal('getDelivery', company, { params })).status).toBe(404);
      const later = await bootPortal({ database: webhooks.database });
      await expect
        .poll(async () => (await later.portal('getDelivery', company, { params })).status === 200, {
          message: 'its delivery',
        })
        .toBe(true);
    } finally {
      webhooks = withDispatcher;
    }
  });

  test('twice concurrently creates one delivery: the other request learns that the event is on its way', async () => {
    const event = await makeOne();
    const answers = await Promise.all([resend(event), resend(event), resend(event)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body).toEqual({
      error: expect.stringMatching(
        /^the event is on its way to the subscription already: its first attempt is due by 20/,
      ),
      reason: 'conflict',
    });
  });

  test.each([
    [
      'waits for its next attempt',
      async () => makeOne({ state: 'waiting', attempts: 3, due_utc: at }),
      /the next attempt is due by 2026-01-15/,
    ],
    ['is held', async () => makeOne({ state: 'held', attempts: 0 }), /release what is held instead/],
    [
      'is of a subscription that is disabled',
      async () => {
        await webhooks.database.query('UPDATE subscriptions SET enabled = 0 WHERE subscription_id = ?', [
          subscription,
        ]);
        return makeOne();
      },
      /the subscription is disabled; enable it first/,
    ],
    [
      'is of a subscription that was deleted',
      async () => {
        await webhooks.database.query('DELETE FROM subscriptions WHERE subscription_id = ?', [subscription]);
        return makeOne();
      },
      /the subscription was deleted/,
    ],
    [
      'is of an event that is no longer kept',
      async () => {
        const event = await makeOne();
        await webhooks.database.query('DELETE FROM events WHERE event_id = ?', [event.event_id]);
        return event;
      },
      /the event is kept no longer/,
    ],
  ])('a delivery that %s is refused with the reason', async (_, make, reason) => {
    const { status, body } = await resend(await make());
    expect(status).toBe(409);
    expect(body.error).toMatch(reason);
  });
});

describe('statistics', () => {
  const minute = (minutesAgo: number): Date =>
    new Date((Math.floor(Date.now() / 60_000) - minutesAgo) * 60_000);
  const count = (minutesAgo: number, of: number, counts: Record<string, number>) =>
    webhooks.database.query(
      `INSERT INTO delivery_minutes (company_id, minute_utc, subscription_id, ${Object.keys(counts).join()}) VALUES (?)`,
      [[company, minute(minutesAgo), of, ...Object.values(counts)]],
    );
  const stats = async (query: Record<string, string>) =>
    (await webhooks.portal('getDeliveryStats', company, { query, role: 'viewer' })).body;

  test('add up the attempts of all subscriptions by time', async () => {
    await count(0, subscription, { succeeded: 80, upto_10: 80 });
    await count(2, subscription, { succeeded: 10, failed: 10, upto_50: 10, upto_10000: 10 });
    await count(2, 999_998, { failed: 7, above: 7 });
    await count(50, 999_999, { succeeded: 1, upto_25: 1 });
    await count(70, subscription, { succeeded: 1000, upto_10: 1000 });
    const hour = await stats({ range: '1h' });
    expect(hour.total).toMatchObject({ succeeded: 91, failed: 17, p50Ms: 7 });
    expect(hour.points).toHaveLength(60);
    expect(hour.points.at(-1)).toMatchObject({
      utc: minute(0).toISOString(),
      succeeded: 80,
      failed: 0,
      p50Ms: 5,
    });
    expect(hour.points.at(-3)).toMatchObject({ utc: minute(2).toISOString(), succeeded: 10, failed: 17 });
    expect(hour.points.at(-2)).toMatchObject({ succeeded: 0, failed: 0, p50Ms: null });
    const day = await stats({ range: '24h' });
    expect(day.total).toMatchObject({ succeeded: 1091, failed: 17 });
    expect(day.points).toHaveLength(48);
    expect((await stats({ range: '30d' })).points).toHaveLength(60);
    expect((await stats({ range: '7d' })).total.succeeded).toBe(1091);
  });
});

describe('An action on one delivery', () => {
  const act = (operation: 'retryDelivery' | 'cancelDelivery' | 'releaseDelivery', event: StoredEvent) =>
    webhooks.portal(operation, company, { params: paramsOf(event) });
  const audited = async () =>
    (
      await webhooks.database.query<{ action: string }>('SELECT action FROM audit_log WHERE company_id = ?', [
        company,
      ])
    ).map(({ action }) => action);
  const inAnHour = () => new Date(Math.trunc(Date.now() / 1000) * 1000 + 3_600_000);

  test('retries it at once, once, and says so in the audit log', async () => {
    const due = inAnHour();
    const event = await makeOne({ state: 'waiting', attempts: 1, due_utc: due });
    await makeAttempt(event, { next_attempt_utc: due });
    const { status, body } = await act('retryDelivery', event);
    expect([status, body.state]).toEqual([200, 'waiting']);
    expect(Date.parse(body.dueUtc)).toBeLessThanOrEqual(Date.now());
    const [queue] = await webhooks.database.query<{ next_due_utc: Date }>(
      'SELECT * FROM delivery_queues WHERE subscription_id = ?',
      [subscription],
    );
    expect(queue!.next_due_utc.getTime()).toBeLessThanOrEqual(Date.now());
    const again = await act('retryDelivery', event);
    expect([again.status, again.body.error]).toEqual([409, 'an attempt is under way or about to start']);
    expect(await audited()).toEqual(['delivery.retried']);
  });

  test('does not retry it while an attempt is under way', async () => {
    const event = await makeOne({ state: 'waiting', attempts: 1, due_utc: new Date(Date.now() + 30_000) });
    await makeAttempt(event, { next_attempt_utc: new Date(Date.now() - 1000) });
    expect((await act('retryDelivery', event)).status).toBe(409);
    expect(await audited()).toEqual([]);
  });

  test('cancels a pending or held one, and corrects the count of held ones', async () => {
    const waiting = await makeOne({ state: 'waiting', attempts: 1, due_utc: inAnHour() });
    expect((await act('cancelDelivery', waiting)).body).toMatchObject({ state: 'dropped', dueUtc: null });
    expect((await act('cancelDelivery', waiting)).status).toBe(409);
    const held = await makeOne({ state: 'held', due_utc: null });
    const count = async () =>
      (await webhooks.portal('getPortalSubscription', company, { params: [subscription] })).body.health.held;
    const before = await count();
    expect((await act('cancelDelivery', held)).body.state).toBe('dropped');
    expect(await count()).toBe(Math.max(before - 1, 0));
    expect(await audited()).toEqual(['delivery.cancelled', 'delivery.cancelled']);
  });

  test('releases a held one, unless its subscription is disabled', async () => {
    const event = await makeOne({ state: 'held', due_utc: null });
    const set = (enabled: number) =>
      webhooks.database.query('UPDATE subscriptions SET enabled = ? WHERE subscription_id = ?', [
        enabled,
        subscription,
      ]);
    await set(0);
    expect((await act('releaseDelivery', event)).body.error).toBe(
      'the subscription is disabled; enable it first',
    );
    await set(1);
    expect((await act('releaseDelivery', event)).body.state).toBe('waiting');
    expect((await act('releaseDelivery', event)).status).toBe(409);
  });

  test('is answered with 503 while no dispatcher runs, and changes nothing', async () => {
    const withDispatcher = webhooks;
    webhooks = await bootPortal({ commands: false });
    try {
      subscription = await makeSubscription(webhooks.db, company);
      const event = await makeOne({ state: 'waiting', attempts: 1, due_utc: inAnHour() });
      expect((await act('cancelDelivery', event)).status).toBe(503);
      const { body } = await webhooks.portal('getDelivery', company, { params: paramsOf(event) });
      expect(body.state).toBe('waiting');
    } finally {
      webhooks = withDispatcher;
    }
  });
});

describe('Causes of failure', () => {
  const causes = async (role: 'viewer' | 'developer' = 'viewer') =>
    (await webhooks.portal('listFailureCauses', company, { role })).body.causes;

  test('group what has not arrived, with their first and last time', async () => {
    const other = await makeSubscription(webhooks.db, company);
    const [early, late] = [new Date(at.getTime() - 60_000), new Date(at.getTime() + 60_000)];
    const failed = { attempts: 2, last_error: 'status', last_status: 503 } as const;
    await makeOne({ ...failed, created_utc: early });
    await makeOne({ ...failed, state: 'waiting', due_utc: late, updated_utc: late });
    await makeOne({ ...failed, state: 'held', last_status: 500 });
    await makeOne({ attempts: 11, state: 'failed', last_error: 'timeout', subscription_id: other });
    await makeOne({ attempts: 1, state: 'dropped', last_error: 'dns' });
    await makeOne({ attempts: 0, state: 'held' });
    await makeOne({ attempts: 1, state: 'succeeded', last_status: 200 });
    const of = (subscriptionId: number, errorClass: string | null, statusCode: number | null) => ({
      ...{ subscriptionId, errorClass, statusCode, isMore: false },
    });
    const found = await causes();
    expect(found).toHaveLength(4);
    expect(found).toContainEqual(
      expect.objectContaining({ ...of(subscription, null, null), state: 'held', count: 1 }),
    );
    expect(found.find(({ count }: { count: number }) => count === 2)).toEqual({
      state: 'waiting',
      ...of(subscription, 'status', 503),
      ...{ count: 2, firstSeenUtc: early.toISOString(), lastSeenUtc: late.toISOString() },
    });
    expect(found).toContainEqual(expect.objectContaining({ ...of(subscription, 'status', 500), count: 1 }));
    expect(found).toContainEqual(expect.objectContaining({ ...of(other, 'timeout', null), count: 1 }));
  });
});
