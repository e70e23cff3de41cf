import {
  type IngestAnswer,
  ingestSubject,
  type OperationId,
  operationById,
  type Role,
  repeatOf,
  testDeliverySubject,
} from '@causeway/proto';
import { type LaneCall, randomHex } from '@causeway/runtime';
import { rowsOf, testLane } from '@causeway/runtime/testing';
import type { Msg } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { bootWebhooks } from './testing/boot.ts';
import { makeSubscription } from './testing/events.ts';
import { makeDelivery, makeEvents } from './testing/make.ts';

// Calls that are sent again, and requests with an Idempotency-Key, on two replicas.

const webhooks = await bootWebhooks({ services: 2 });
const lane = testLane(webhooks.bus, 'webhooks');
const ingested = new Map<string, number>();
let tests = 0;
// In place of crm.
webhooks.bus.nc.subscribe(ingestSubject, { callback: (_, message) => void ingest(message) });

const ingest = async (message: Msg): Promise<void> => {
  const { companyId, type, payload, dedupeKey } = message.json<Ingested>();
  const known = ingested.get(`${companyId}:${dedupeKey}`);
  const [event] = known === undefined ? await makeEvents(webhooks.db, companyId, [{ type, payload }]) : [];
  const id = known ?? event!.event_id;
  ingested.set(`${companyId}:${dedupeKey}`, id);
  message.respond(JSON.stringify({ id, duplicate: known !== undefined } satisfies IngestAnswer));
};

interface Ingested {
  readonly companyId: number;
  readonly type: 'client.created';
  readonly payload: object;
  readonly dedupeKey?: string;
}

let company = 9000;
const newCompany = () => ++company;
const newCallId = () => Date.now().toString(16).padStart(12, '0') + randomHex(10);

type Sent = Partial<LaneCall> & { readonly json?: unknown; readonly role?: Role };

const send = async (operation: OperationId, companyId: number, { json = {}, role, ...more }: Sent) => {
  const user = { id: 1, sessionId: 1, email: 'ada@example.com', name: 'Ada', role: role ?? 'admin' } as const;
  const caller = role
    ? {
        actor: {
          user,
          address: '203.0.113.7',
          userAgent: 'test',
          proof: webhooks.callers.session(companyId, user),
        },
      }
    : { key: await webhooks.callers.key(companyId) };
  const answer = await lane({
    operation,
    tenant: companyId,
    caller: 1,
    body: Buffer.from(JSON.stringify(json)),
    callId: newCallId(),
    ...caller,
    ...more,
  });
  const isReplayed = answer.headers?.['Idempotent-Replayed'] === 'true';
  return { status: answer.status, text: String(answer.body), isReplayed };
};

const stateOf = async (companyId: number) => {
  const { db } = webhooks;
  return {
    audit: await rowsOf(db, 'audit_log', companyId),
    subscriptions: await rowsOf(db, 'subscriptions', companyId),
    // What they replay is found meanwhile.
    replays: (await rowsOf(db, 'replays', companyId)).map(({ replay_id, kind }) => ({ replay_id, kind })),
    shares: await rowsOf(db, 'delivery_shares', companyId),
    events: await rowsOf(db, 'events', companyId),
  };
};

const url = 'https://hooks.example.com/causeway';
const wanted = { url, eventTypes: ['client.created'] };
const subscription = async (companyId: number): Promise<number> => {
  const { text } = await send('createSubscription', companyId, { json: wanted });
  return JSON.parse(text).id;
};
const on = (id: number, json: unknown = {}): Sent => ({ params: [String(id)], json });
const withHeld = async (companyId: number) => {
  const id = await subscription(companyId);
  const key = { company_id: companyId, subscription_id: id };
  await makeDelivery(webhooks.db, { ...key, state: 'held', due_utc: null }, 3);
  return id;
};
const withMissed = async (companyId: number) => {
  const id = await makeSubscription(webhooks.db, companyId);
  const [event] = await makeEvents(webhooks.db, companyId, [{}]);
  const row = { company_id: companyId, subscription_id: id, event_id: event!.event_id };
  await makeDelivery(webhooks.db, {
    ...row,
    created_utc: event!.created_utc,
    state: 'failed',
    due_utc: null,
    attempts: 11,
  });
  return { id, event: event! };
};

const calls: Readonly<Record<string, (companyId: number) => Promise<Sent>>> = {
  createSubscription: async () => ({ json: wanted }),
  updateSubscription: async (companyId) => on(await subscription(companyId), { enabled: false }),
  rotateSubscriptionSecret: async (companyId) => on(await subscription(companyId), { overlapHours: 1 }),
  deleteSubscription: async (companyId) => on(await subscription(companyId)),
  releaseHeldDeliveries: async (companyId) => on(await withHeld(companyId)),
  discardHeldDeliveries: async (companyId) => on(await withHeld(companyId)),
  createTestEvent: async () => ({ json: { type: 'client.created' } }),
  createPortalSubscription: async () => ({ json: wanted, role: 'admin' }),
  updatePortalSubscription: async (companyId) => ({
    ...on(await subscription(companyId), { name: 'Billing' }),
    role: 'admin',
  }),
  rotatePortalSubscriptionSecret: async (companyId) => ({
    ...on(await subscription(companyId), { overlapHours: 1 }),
    role: 'admin',
  }),
  deletePortalSubscription: async (companyId) => ({ ...on(await subscription(companyId)), role: 'admin' }),
  releaseHeld: async (companyId) => ({ ...on(await withHeld(companyId)), role: 'admin' }),
  discardHeld: async (companyId) => ({ ...on(await withHeld(companyId)), role: 'admin' }),
  createReplay: async (companyId) => {
    const { id } = await withMissed(companyId);
    const since = new Date(Date.now() - 60_000);
    return { json: { subscriptionId: id, kind: 'failed', since }, role: 'admin' };
  },
  createSubscriptionReplay: async (companyId) => {
    const { json } = (await calls.createReplay!(companyId)) as { json: { subscriptionId: number } };
    const { subscriptionId, ...body } = json;
    return on(subscriptionId, body);
  },
  cancelReplay: async (companyId) => {
    const sent = await calls.createReplay!(companyId);
    const { text } = await send('createReplay', companyId, sent);
    return { ...on(JSON.parse(text).id), role: 'admin' };
  },
  resendDelivery: async (companyId) => {
    const { id, event } = await withMissed(companyId);
    return { params: [String(event.event_id), String(id), '0'], role: 'admin' };
  },
  shareDelivery: async (companyId) => {
    const { id, event } = await withMissed(companyId);
    return { params: [String(event.event_id), String(id), '0'], json: { hours: 1 }, role: 'admin' };
  },
  updateSubscriptionSettings: async () => ({ json: { verifyEndpoints: true }, role: 'admin' }),
};

describe('a call that is sent again', () => {
  test.each(Object.keys(calls))('%s is carried out once', async (operation) => {
    const companyId = newCompany();
    const sent = { ...(await calls[operation]!(companyId)), callId: newCallId() };
    const first = await send(operation as OperationId, companyId, sent);
    expect([first.status < 300, first.text]).toEqual([true, expect.any(String)]);
    const after = await stateOf(companyId);
    const second = await send(operation as OperationId, companyId, { ...sent, again: true });
    expect([second.status, second.isReplayed]).toEqual([first.status, false]);
    expect(await stateOf(companyId)).toEqual(after);
    // A first sending that arrives late, at a replica that was frozen. Nobody hears its answer.
    await send(operation as OperationId, companyId, sent);
    expect(await stateOf(companyId)).toEqual(after);
  });

  test('every operation that is marked `once` is tested, or is a test delivery', () => {
    const once = [...operationById.values()].filter(
      (operation) => operation.service === 'webhooks' && repeatOf(operation) === 'once',
    );
    const names = once.map(({ id }) => id).filter((id) => id !== 'testSubscription');
    expect(Object.keys(calls).toSorted()).toEqual(names.toSorted());
  });

  test('at once, 20 times on two replicas, makes one subscription', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        send('createSubscription', companyId, { json: wanted, callId, again: at > 0 }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await stateOf(companyId)).subscriptions).toHaveLength(1);
  });
});

describe('an Idempotency-Key', () => {
  const keyed = (json: unknown, idempotencyKey = 'order-7'): Sent => ({ json, idempotencyKey });

  test('of a test event makes one event, and of a test delivery sends one', async () => {
    const companyId = newCompany();
    const event = await send('createTestEvent', companyId, keyed({ type: 'client.created' }, 'e'));
    expect(await send('createTestEvent', companyId, keyed({ type: 'client.created' }, 'e'))).toEqual({
      ...event,
      isReplayed: true,
    });
    expect((await stateOf(companyId)).events).toHaveLength(1);

    const id = await subscription(companyId);
    const dispatcher = webhooks.bus.nc.subscribe(testDeliverySubject, {
      callback: (_, message) => {
        tests++;
        const attempt = { error_class: null, status_code: 200, elapsed_ms: tests, url, error: null };
        message.respond(JSON.stringify({ attempt }));
      },
    });
    const sent = { ...keyed({}, 't'), params: [String(id)] };
    const delivery = await send('testSubscription', companyId, sent);
    expect(delivery.status).toBe(200);
    expect(await send('testSubscription', companyId, sent)).toEqual({ ...delivery, isReplayed: true });
    expect(tests).toBe(1);
    dispatcher.unsubscribe();
  });
});
