import { randomUUID } from 'node:crypto';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { readDocument } from './support/documented.ts';
import { startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld, type Reply } from './support/world.ts';

const world = await openWorld();
const document = (await world.ask('/openapi.json')).json;
const problemOf = readDocument(document);
const { company, key } = await openCaller(world);

const post = async (kind: string, body: unknown, headers = {}, as = key): Promise<Reply> => {
  const path = `/integrations/${kind}/batch`;
  const reply = await world.ask(path, { method: 'POST', key: as, headers, body });
  expect(problemOf(document.paths[`/api/v1${path}`].post, reply)).toBeUndefined();
  return reply;
};
const personOf = (at: number | string, more: object = {}) => ({
  first_name: 'Person',
  last_name: `Number ${at}`,
  email: `person${at}@example.com`,
  external_id: `batch-${at}`,
  ...more,
});
const people = (count: number) => Array.from({ length: count }, (_, at) => personOf(at));
const statusesOf = ({ json }: Reply): readonly number[] => json.results.map((one: Json) => one.status);

test('An import: 100 leads, of which one is wrong, one comes twice and one has a wrong telephone number', async () => {
  const receiver = await startPublishedReceiver(world, { counting: true });
  const subscribed = await world.ask('/webhooks/subscriptions', {
    method: 'POST',
    key,
    body: { url: `${receiver.url}/batch`, eventTypes: ['lead.created'] },
  });
  expect(subscribed.status).toBe(201);
  const items: object[] = people(100);
  items[7] = personOf(7, { email: 'none' });
  items[8] = personOf(3);
  items[9] = personOf(9, { phone: 'none' });
  const batch = { mode: 'create', invalid: 'drop_optional', items };
  const name = { 'Idempotency-Key': randomUUID() };
  const first = await post('leads', batch, name);
  expect(first.status).toBe(200);
  const expected = Array(100).fill(201);
  expected[7] = 400;
  expected[8] = 409;
  expect(statusesOf(first)).toEqual(expected);
  const { results } = first.json;
  expect(results[7].body.details).toMatchObject([{ field: 'email', code: 'email_invalid' }]);
  expect(results[8].body).toEqual({
    error: 'item 3 of the batch names the same record',
    reason: 'duplicate_item',
  });
  expect(results[9].dropped).toMatchObject([{ field: 'phone', code: 'phone_invalid' }]);

  // From whichever gateway and replica.
  for (let time = 0; time < 4; time++) {
    const again = await post('leads', batch, name);
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  }
  const other = await post('leads', { ...batch, items: people(5) }, name);
  expect([other.status, other.json.reason]).toEqual([422, 'idempotency_key_reused']);

  const wanted = results.flatMap(({ body }: Json) => body.client_id ?? []);
  expect(wanted).toHaveLength(98);
  const events = await world.ask('/events?order=asc&limit=100&type=lead.created', { key });
  expect(events.json.events.map(({ payload }: Json) => payload.client_id)).toEqual(wanted);
  await until('every event is delivered', () => receiver.arrivals.get('/batch')?.size === 98);

  // Sent again with the ids that the answer gave: nothing changes.
  const ids = people(5).map((person, at) => ({ ...person, client_id: results[at].body.client_id }));
  const same = await post('leads', { mode: 'update', items: ids });
  expect(statusesOf(same)).toEqual(Array(5).fill(200));
  const upserted = await post('leads', {
    mode: 'upsert',
    items: [{ client_id: wanted[0], city: 'Graz' }, personOf(1, { city: 'Graz' }), personOf('new')],
  });
  expect(statusesOf(upserted)).toEqual([200, 200, 201]);
  const notes = wanted.slice(0, 3).map((client_id: number) => ({ client_id, text: 'Imported' }));
  const noted = await post('clients/notes', { mode: 'create', items: notes });
  expect(statusesOf(noted)).toEqual([201, 201, 201]);
  const affiliates = await post('affiliates', { mode: 'create', items: people(3) });
  expect(statusesOf(affiliates)).toEqual([201, 201, 201]);
  const clients = await post('clients', { mode: 'upsert', items: [personOf(2)] });
  expect(clients.json.results[0].body).toMatchObject({ client_id: wanted[2], status: 'Client - Active' });
});

test('A batch is one request of the bucket write, and reaches no other company', async () => {
  const own = await world.company({ write: 2 });
  const stranger = (await own.key(['integrations:write'])).value;
  const [person] = await world.sql<{ client_id: number }>(
    'SELECT client_id FROM clients WHERE company_id = ? LIMIT 1',
    [company.id],
  );
  const items = [{ ...person, city: 'Graz' }, ...Array(99).fill({ client_id: 1 })];
  const reply = await post('leads', { mode: 'update', items }, {}, stranger);
  expect([reply.status, reply.headers['x-ratelimit-remaining']]).toEqual([200, '1']);
  expect(reply.json.results[0]).toMatchObject({ status: 404, body: { error: 'lead not found' } });
  const reader = (await own.key(['integrations:read'])).value;
  expect((await post('leads', { mode: 'create', items: people(1) }, {}, reader)).status).toBe(403);
});

test('What is no batch is refused whole', async () => {
  expect((await post('clients', { mode: 'merge', items: [personOf(0)] })).status).toBe(400);
  const large = await post('clients', {
    mode: 'create',
    items: [personOf(0, { city: 'x'.repeat(2 ** 20) })],
  });
  expect(large.status).toBe(413);
  // The longest answer: many names that no field has, in every item.
  const names = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}-${'ß'.repeat(20)}`, 1]));
  for (const invalid of ['refuse', 'drop_optional']) {
    const items = Array.from({ length: 100 }, (_, at) => ({ ...personOf(`long-${at}`), ...names }));
    const reply = await post('clients', { mode: 'create', invalid, items });
    expect(reply.status).toBe(200);
    expect(new Set(statusesOf(reply))).toEqual(new Set([400]));
    expect(reply.json.results[0].body.details).toHaveLength(20);
  }
});

test('A company has two batches under way at each gateway; another company gets its answers meanwhile', async () => {
  const [greedy, modest] = await Promise.all(
    [0, 1].map(async () => (await (await world.company({ write: 1_000_000 })).key()).value),
  );
  const batch = { mode: 'create', items: people(100) };
  const flood = Array.from({ length: 120 }, () => post('clients', batch, {}, greedy));
  for (let at = 0; at < 5; at++) {
    const reply = await post('clients', { mode: 'create', items: people(5) }, {}, modest);
    expect(reply.status).toBe(200);
  }
  const replies = await Promise.all(flood);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const refused = replies.find(({ status }) => status === 429)!;
  expect(refused.json).toMatchObject({ policy: 'batch:2/company', retryAfter: 1, currentUsage: 3 });
  expect([refused.headers['retry-after'], refused.headers['x-ratelimit-limit']]).toEqual(['1', '1000000']);
  expect((await post('clients', batch, {}, greedy)).status).toBe(200);
});
