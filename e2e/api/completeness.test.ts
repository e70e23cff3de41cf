import { randomUUID } from 'node:crypto';
import { contract, type Scope } from '@causeway/proto';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld } from './support/world.ts';

// Checks what "Deliveries" of the contract says about the deliveries, replays and missing events of a subscription, as
// the owner of a receiver uses them.

const world = await openWorld();
const receiver = await startPublishedReceiver(world);
const person = { first_name: 'Mary', last_name: 'Jackson', email: 'mary@example.com' };

const subscribed = async (behaviour = '') => {
  const { company, ask } = await openCaller(world);
  const path = `/${company.id}`;
  const url = `${receiver.url}${path}${behaviour && `?${behaviour}`}`;
  const made = await ask('POST', '/webhooks/subscriptions', { url, eventTypes: ['lead.created'] });
  expect(made.status).toBe(201);
  const own = `/webhooks/subscriptions/${made.json.id}`;
  return {
    company,
    ask,
    own,
    id: made.json.id as number,
    /** Ids of the events that arrived. */
    arrived: () => receiver.received.filter((one) => one.path === path).map(({ id }) => Number(id)),
    received: () => receiver.received.filter((one) => one.path === path),
    createLeads: (count: number) =>
      Promise.all(Array.from({ length: count }, () => ask('POST', '/integrations/leads', person))),
    enable: (enabled: boolean) => ask('PATCH', own, { enabled }),
    /** Before a dispatcher has seen an event, it does not count as missed. */
    seen: () =>
      until('all events seen', async () => {
        const left = await world.sql('SELECT 1 FROM event_outbox WHERE company_id = ?', [company.id]);
        return left.length === 0;
      }),
    missing: async (query = ''): Promise<Json> => {
      const { status, json } = await ask('GET', `${own}/missing?${query}`);
      expect([status, json]).toEqual([200, contract.listMissingEvents.answers[200].schema.parse(json)]);
      return json;
    },
    deliveries: async (query = ''): Promise<Json> => {
      const { status, json } = await ask('GET', `${own}/deliveries?${query}`);
      expect([status, json]).toEqual([
        200,
        contract.listSubscriptionDeliveries.answers[200].schema.parse(json),
      ]);
      return json;
    },
  };
};

test('What a receiver lacks is listed, replayed, and then proven to be complete', async () => {
  const { ask, own, id, createLeads, enable, seen, missing, received, arrived } = await subscribed();
  const since = new Date(Date.now() - 60_000).toISOString();
  await createLeads(3);
  await until('three deliveries', () => arrived().length === 3);
  // A test event is of another type, and counts in the log.
  await ask('POST', '/events/test', { type: 'client.created' });
  await until('all recorded', async () => (await missing()).missing.length === 0);
  expect(await missing()).toEqual({ missing: [], throughSequence: 4, nextCursor: null, hasMore: false });

  await enable(false);
  await createLeads(5);
  await enable(true);
  const { missing: lacking, throughSequence } = await missing();
  expect(lacking.map(({ sequence, state, attempts }: Json) => [sequence, state, attempts])).toEqual(
    [5, 6, 7, 8, 9].map((sequence) => [sequence, null, 0]),
  );
  expect(throughSequence).toBe(9);

  await seen();
  const body = { kind: 'missed', since };
  const idempotent = { 'Idempotency-Key': randomUUID() };
  const [started, repeated] = [
    await ask('POST', `${own}/replays`, body, idempotent),
    await ask('POST', `${own}/replays`, body, idempotent),
  ];
  expect([started.status, started.json]).toEqual([
    201,
    contract.createSubscriptionReplay.answers[201].schema.parse(started.json),
  ]);
  expect(started.json).toMatchObject({ subscriptionId: id, kind: 'missed', state: 'running', total: 5 });
  expect(repeated.text).toBe(started.text);
  const replay = async (): Promise<Json> => (await ask('GET', `/webhooks/replays/${started.json.id}`)).json;
  await until('the replay', async () => (await replay()).state === 'done');
  expect(await replay()).toMatchObject({ made: 5, succeeded: 5, failed: 0, finishedUtc: expect.any(String) });
  expect(await missing()).toMatchObject({ missing: [], throughSequence: 9 });
  const replayed = received().slice(3);
  expect(replayed.map(({ headers }) => headers['x-webhook-replay'])).toEqual(
    Array(5).fill(`${started.json.id}`),
  );
  expect(new Set(replayed.map(({ headers }) => headers['x-webhook-sequence']))).toEqual(
    new Set(['5', '6', '7', '8', '9']),
  );
  const again = await ask('POST', `${own}/replays`, body);
  expect([again.status, again.json]).toEqual([409, { error: 'there is nothing to replay' }]);
});

test('While deliveries fail and are retried, an event is not listed only if it has arrived', async () => {
  // Refuses each event once.
  const { createLeads, missing, arrived, ask } = await subscribed('fail=1');
  const attempts = (eventId: number): number => arrived().filter((id) => id === eventId).length;
  const proven = new Map<number, number>();
  const writing = Array.from({ length: 4 }, () => createLeads(3));
  for (let complete = 0; complete < 12; ) {
    const { missing: lacking, throughSequence } = await missing();
    const lacks = new Set(lacking.map(({ sequence }: Json) => sequence));
    const { entries } = (await ask('GET', '/events?order=asc&include=meta&limit=100')).json;
    for (const { event, sequence } of entries as Json[])
      if (sequence <= throughSequence && !lacks.has(sequence) && !proven.has(sequence))
        proven.set(sequence, attempts(event.id));
    complete = proven.size;
  }
  await Promise.all(writing);
  expect([...proven.keys()].toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 12 }, (_, at) => at + 1),
  );
  // The second attempt was answered 200 before the list left the event out.
  expect(Math.min(...proven.values())).toBeGreaterThanOrEqual(2);
});

test('Deliveries are listed newest first, page by page, and by state', async () => {
  const { id, createLeads, deliveries, missing } = await subscribed();
  await createLeads(5);
  await until('all recorded', async () => (await missing()).missing.length === 0);
  const all = (await deliveries()).deliveries;
  expect(all).toHaveLength(5);
  expect(all[0]).toMatchObject({ subscriptionId: id, state: 'succeeded', attempts: 1, lastStatusCode: 200 });
  const first = await deliveries('limit=2&state=succeeded');
  expect(first.hasMore).toBe(true);
  const second = await deliveries(`limit=3&state=succeeded&cursor=${first.nextCursor}`);
  expect([...first.deliveries, ...second.deliveries]).toEqual(all);
  expect((await deliveries('state=failed')).deliveries).toEqual([]);
});

test('Missing events are read page by page; a cursor is refused with another time', async () => {
  const { createLeads, enable, missing, ask, own } = await subscribed();
  await enable(false);
  await createLeads(5);
  const since = new Date(Date.now() - 60_000).toISOString();
  const sequences: number[] = [];
  for (let query = `since=${since}&limit=2`; ; ) {
    const page = await missing(query);
    sequences.push(...page.missing.map(({ sequence }: Json) => sequence));
    if (!page.hasMore) break;
    expect(page.throughSequence).toBe(sequences.at(-1));
    query = `since=${since}&limit=2&cursor=${page.nextCursor}`;
  }
  expect(sequences).toEqual([1, 2, 3, 4, 5]);
  const { nextCursor } = await missing(`since=${since}&limit=2`);
  const other = await ask('GET', `${own}/missing?limit=2&cursor=${nextCursor}`);
  expect([other.status, other.json.error]).toEqual([400, 'invalid cursor: it belongs to another since']);
  expect((await missing(`since=${new Date(Date.now() + 60_000).toISOString()}`)).missing).toEqual([]);
});

describe('A replay', () => {
  test('of a disabled subscription is a 409', async () => {
    const { ask, own, createLeads, enable, seen } = await subscribed();
    await enable(false);
    await createLeads(1);
    await seen();
    const { status, json } = await ask('POST', `${own}/replays`, { kind: 'missed', since: new Date(0) });
    expect([status, json]).toEqual([409, { error: 'the subscription is disabled; enable it first' }]);
  });
});

test('Another company’s subscription, deliveries and replays are 404, and a key needs the scope', async () => {
  const [mine, theirs] = await Promise.all([subscribed(), subscribed()]);
  await theirs.enable(false);
  await theirs.createLeads(1);
  await theirs.seen();
  await theirs.enable(true);
  const body = { kind: 'missed', since: new Date(0) };
  const replay = await theirs.ask('POST', `${theirs.own}/replays`, body);
  expect(replay.status).toBe(201);
  const foreign = [
    ['GET', `${theirs.own}/deliveries`],
    ['GET', `${theirs.own}/missing`],
    ['GET', `/webhooks/replays/${replay.json.id}`],
    ['POST', `${theirs.own}/replays`, body],
  ] as const;
  for (const [method, path, sent] of foreign) {
    const { status, json } = await mine.ask(method, path, sent);
    expect([path, status, json.error]).toEqual([
      path,
      404,
      expect.stringMatching(/^(subscription|replay) not found$/),
    ]);
  }
  const { value: reader } = await mine.company.key(['integrations:read', 'events:read', 'admin'] as Scope[]);
  for (const [method, path, sent] of foreign)
    expect((await world.ask(path, { method, key: reader, ...(sent && { body: sent }) })).status).toBe(403);
});
