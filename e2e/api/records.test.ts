import { expect, test } from 'vitest';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const company = await world.company({ read: 1_000_000_000, write: 1_000_000_000 });
const { value: key } = await company.key(['integrations:read', 'integrations:write']);

const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const create = (external_id: string, headers = {}) =>
  world.ask('/integrations/leads', {
    key,
    method: 'POST',
    body: { ...person, external_id },
    headers,
  });

test('A record is read, edited and sent back whole, and nobody’s edit is lost', async () => {
  const { json: made } = await create('whole');
  const path = `/integrations/leads/${made.client_id}`;
  const read = await world.ask(path, { key });
  expect([read.status, read.headers.etag]).toEqual([200, '"1"']);
  const edit = (city: string) =>
    world.ask(path, {
      method: 'PATCH',
      key,
      body: { ...read.json, city },
      headers: { 'If-Match': String(read.headers.etag) },
    });
  const [first, second] = [await edit('Graz'), await edit('Linz')];
  expect([first.status, first.headers.etag]).toEqual([200, '"2"']);
  expect([second.status, second.json]).toEqual([
    412,
    { error: 'the record has another version; read it again', reason: 'version_mismatch', version: 2 },
  ]);
  expect((await world.ask(path, { key })).json).toMatchObject({ city: 'Graz', version: 2 });
});

test('A record that has not changed is answered 304, and the request is counted', async () => {
  const { json: made } = await create('unchanged');
  for (const path of [`/integrations/people/${made.client_id}`, `/integrations/leads/${made.client_id}`])
    for (const method of ['GET', 'HEAD'])
      for (const [tag, status] of [
        ['"1"', 304],
        ['"7", W/"1"', 304],
        ['*', 304],
        ['"2"', 200],
        ['nonsense', 200],
      ] as const) {
        const reply = await world.ask(path, { method, key, headers: { 'If-None-Match': tag } });
        expect([tag, reply.status, reply.headers.etag]).toEqual([tag, status, '"1"']);
        expect('x-ratelimit-remaining' in reply.headers).toBe(true);
        expect(reply.text === '').toBe(status === 304 || method === 'HEAD');
      }
});

test('A create with If-None-Match: * makes a record once, and repeats its answer for a repeated request', async () => {
  const only = { 'If-None-Match': '*', 'Idempotency-Key': 'once' };
  const made = await create('only', only);
  expect([made.status, made.headers.etag]).toEqual([201, '"1"']);
  const again = await create('only', only);
  expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([201, made.text, 'true']);
  const other = await create('only', { 'If-None-Match': '*' });
  expect([other.status, other.json]).toEqual([
    412,
    {
      error: 'a record with this external_id exists',
      reason: 'already_exists',
      client_id: made.json.client_id,
    },
  ]);
  expect((await create('only')).status).toBe(200);
});

test('A reconciliation of a hundred at a time finds what is missing and what differs', async () => {
  const external = Array.from({ length: 130 }, (_, at) => `r-${at}`);
  const missing = new Set(['r-7', 'r-99', 'r-120']);
  await Promise.all(external.filter((id) => !missing.has(id)).map((id) => create(id)));
  const [unknown, known]: [string[], string[]] = [[], []];
  for (let at = 0; at < external.length; at += 100) {
    const asked = external.slice(at, at + 100);
    const query = asked.map((id) => `external_id=${encodeURIComponent(id)}`).join('&');
    const { json } = await world.ask(`/integrations/people?${query}`, { key });
    unknown.push(...json.not_found);
    known.push(...json.people.map(({ external_id }: { external_id: string }) => external_id));
  }
  expect(new Set(unknown)).toEqual(missing);
  expect(known).toEqual(external.filter((id) => !missing.has(id)));
});

test('A person is erased by a key with admin alone, and nothing readable tells of them', async () => {
  const { json: made } = await create('erased');
  const { value: admin } = await company.key(['admin']);
  const { value: reader } = await company.key(['events:read']);
  const path = `/integrations/people/${made.client_id}`;
  const erase = (by: string) => world.ask(path, { method: 'DELETE', key: by });
  expect((await erase(key)).status).toBe(403);
  const { value: stranger } = await (await world.company()).key(['admin']);
  expect((await erase(stranger)).status).toBe(404);
  const erased = await erase(admin);
  expect([erased.status, erased.text]).toEqual([204, '']);
  expect((await world.ask(path, { key })).status).toBe(404);
  const payloads = async () => {
    const { json } = await world.ask('/events?type=lead.created&limit=100', { key: reader });
    return json.events.map(({ payload }: { payload: object }) => payload);
  };
  await expect.poll(payloads).toContainEqual({ client_id: made.client_id, erased: true });
});
