import { samplePayload } from '@causeway/proto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, openWorld, type Reply } from './support/world.ts';

// How request bodies are read (contract, "Requests and errors" and "Fields").

const world = await openWorld();
const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
let key = '';

beforeAll(async () => {
  const company = await world.company({ read: 1_000_000, write: 1_000_000, admin: 1_000_000 });
  key = (await company.key()).value;
});

const send = (method: string, path: string, body?: unknown): Promise<Reply> =>
  world.ask(path, {
    method,
    key,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
const problems = (reply: Reply): Json => {
  expect(reply.status).toBe(400);
  return reply.json.details.map(({ field }: { field: string }) => field);
};

describe('nothing in an event’s payload is altered silently', () => {
  test.each([
    ['a number beyond all doubles', '{"a":[1e400]}', 'payload.a[0]'],
    ['a number that would become 0', '{"a":1e-400}', 'payload.a'],
    ['an integer of 20 digits', '{"a":{"b":12345678901234567890}}', 'payload.a.b'],
    ['2^53 + 1', '{"a":9007199254740993}', 'payload.a'],
    ['2^60 - 1', '{"a":1152921504606846975}', 'payload.a'],
    ['a key __proto__', '{"a":{"__proto__":{"b":1}}}', 'payload.a.__proto__'],
    ['a key twice', '{"a":{"b":1,"b":2}}', 'payload.a.b'],
  ])('%s: 400 with its path', async (_, payload, field) => {
    const reply = await send('POST', '/events/test', `{"type":"lead.created","payload":${payload}}`);
    expect(problems(reply)).toEqual([field]);
  });

  test('a number that a double holds is stored as sent', async () => {
    const payload =
      '{"a":[9007199254740992,1152921504606846976,1152921504606847000],"b":0.1,"c":-0.5,"d":1e-7,"e":"1e400","f":"\\u2028😀"}';
    const reply = await send('POST', '/events/test', `{"type":"lead.created","payload":${payload}}`);
    expect(reply.status).toBe(202);
    expect(reply.json.payload).toEqual(JSON.parse(payload));
  });
});

test('problems of every kind are reported at once, each field once', async () => {
  const body = { foo: 1, first_name: 7, affiliate_id: 987_654, zip: '9'.repeat(17), phone: 'x' };
  const reply = await send('POST', '/integrations/leads?bar=1', body);
  expect(problems(reply)).toEqual([
    'bar',
    'foo',
    'first_name',
    'last_name',
    'email',
    'phone',
    'zip',
    'affiliate_id',
  ]);
});

test('concurrent notes with one external_id on two clients: one 201, all others 200 with its id', async () => {
  const ids = await Promise.all(
    [1, 2].map(async () => (await send('POST', '/integrations/clients', person)).json.client_id),
  );
  const replies = await Promise.all(
    Array.from({ length: 32 }, (_, at) =>
      send('POST', `/integrations/clients/${ids[at % 2]}/notes`, { text: `${at}`, external_id: 'shared' }),
    ),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array(31).fill(200), 201]);
  expect(new Set(replies.map(({ json }) => json.client_note_id)).size).toBe(1);
});

test('blank optional texts, and null beside an alternative, count as absent', async () => {
  const blank = { phone: '', status: ' ', city: '', external_id: '', employee_id: null };
  const { status, json } = await send('POST', '/integrations/clients', { ...person, ...blank });
  expect([status, json.status]).toEqual([201, 'Client - Active']);
  const path = `/integrations/clients/${json.client_id}`;
  const note = { text: 'x', note_type: '', visibility: '' };
  expect((await send('POST', `${path}/notes`, note)).status).toBe(201);
  for (const body of [
    { new_status: 'Client - Paused', new_status_id: null },
    { new_status: null, new_status_id: 20 },
    { new_status: '', new_status_id: 21 },
  ])
    expect((await send('PATCH', `${path}/status`, body)).status).toBe(200);
  expect((await send('PATCH', path, { phone: ' ' })).status).toBe(200);
  const found = await send(
    'GET',
    `/integrations/clients/find?client_id=${json.client_id}&email=&phone=&external_id=`,
  );
  expect(found.json.clients).toMatchObject([{ client_id: json.client_id, phone: null }]);
  expect((await send('GET', '/events?cursor=&type=&order=&limit=')).status).toBe(200);
});

test('input that an answer repeats is truncated between characters, and always valid Unicode', async () => {
  const name = `${'x'.repeat(99)}😀${'y'.repeat(50)}`;
  for (const reply of [
    await send('POST', '/integrations/leads', { ...person, [name]: 1 }),
    await send('GET', `/events?${encodeURIComponent(name)}=1`),
    await send('POST', '/events/test', { type: name }),
    await send('POST', '/integrations/leads', `{"${'x'.repeat(99)}😀":1,"a\\ud800":{"b":"\\ud800"}}`),
  ]) {
    expect(reply.status).toBe(400);
    expect(reply.text).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.stringify(reply.json)).not.toMatch(/\\ud[89a-f]/i);
  }
});

test('lengths count code points, and international addresses are accepted', async () => {
  const lead = { ...person, first_name: '😀'.repeat(100), email: 'ada@mu\u0308nchen.example' };
  expect((await send('POST', '/integrations/leads', lead)).status).toBe(201);
  expect(
    problems(await send('POST', '/integrations/leads', { ...lead, first_name: '😀'.repeat(101) })),
  ).toEqual(['first_name']);
  const url = `https://hooks.example.com/${'😀'.repeat(474)}`;
  const subscription = { url, eventTypes: ['lead.created'], enabled: false };
  expect((await send('POST', '/webhooks/subscriptions', subscription)).status).toBe(201);
});

describe('Reading requests', () => {
  test('a duplicate key is a 400 with its path', async () => {
    const body = '{"first_name":"A","last_name":"B","email":"a@b.example","\\u0065mail":"c@d.example"}';
    expect(problems(await send('POST', '/integrations/leads', body))).toEqual(['email']);
  });

  test('a name needs a visible character', async () => {
    for (const first_name of ['\u200b', '\u200b \u2060', '\u3164'])
      expect(problems(await send('POST', '/integrations/leads', { ...person, first_name }))).toEqual([
        'first_name',
      ]);
  });

  test('a status_note with an unchanged status is stored as a note, without an event', async () => {
    const { json } = await send('POST', '/integrations/clients', person);
    const body = { new_status: 'Client - Active', status_note: 'Called back.' };
    expect((await send('PATCH', `/integrations/clients/${json.client_id}/status`, body)).status).toBe(200);
    const notes = await world.sql('SELECT text, note_type FROM client_notes WHERE client_id = ?', [
      json.client_id,
    ]);
    expect(notes).toEqual([{ text: 'Called back.', note_type: 'status' }]);
  });

  test('a letter with its accent is one character, and two digits do not match the end of a phone number', async () => {
    const search = (q: string) => send('GET', `/integrations/lookups/clients?${new URLSearchParams({ q })}`);
    expect(problems(await search('e\u0301'))).toEqual(['q']);
    await send('POST', '/integrations/leads', { ...person, phone: '+1 555 010 9821' });
    expect((await search('-21')).json.count).toBe(0);
    expect((await search('-821')).json.count).toBe(1);
  });
});

test('a record that was read can be edited and sent back whole', async () => {
  const { json } = await send('POST', '/integrations/clients', { ...person, external_id: 'whole-1' });
  const path = `/integrations/clients/${json.client_id}`;
  const [record] = (await send('GET', '/integrations/clients/find?external_id=whole-1')).json.clients;
  expect((await send('PATCH', path, { ...record, last_name: 'Goble' })).status).toBe(200);
  expect(problems(await send('PATCH', path, { ...record, is_lead: true }))).toEqual(['is_lead']);
  expect(problems(await send('PATCH', path, { ...record, client_id: 1 }))).toEqual(['client_id']);

  const made = await send('POST', '/webhooks/subscriptions', {
    url: 'https://hooks.example.com/whole',
    eventTypes: ['lead.created'],
  });
  const one = `/webhooks/subscriptions/${made.json.id}`;
  const read = (await send('GET', one)).json;
  expect((await send('PATCH', one, { ...read, name: 'Edited' })).json.name).toBe('Edited');
  expect(problems(await send('PATCH', one, { ...read, id: 1 }))).toEqual(['id']);
  const now = (await send('GET', one)).json;
  expect(problems(await send('PATCH', one, { ...now, createdUtc: '2020-01-01T00:00:00Z' }))).toEqual([
    'createdUtc',
  ]);
});

test('a body with very many keys, levels or problems gets a bounded error', async () => {
  const keys = `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":1`).join(',')}}`;
  expect(problems(await send('POST', '/integrations/leads', keys))).toEqual(['body']);
  const deep = `{"type":"lead.created","payload":{"a":${'['.repeat(200_000)}`;
  expect(problems(await send('POST', '/events/test', deep))).toEqual(['payload']);
  const faults = `{"type":"lead.created","payload":{"a":[${'1e999,'.repeat(50_000)}1]}}`;
  expect(problems(await send('POST', '/events/test', faults))).toHaveLength(100);
  const types = Array.from({ length: 50_000 }, () => 'x');
  const body = { url: 'https://hooks.example.com/x', eventTypes: types };
  expect(problems(await send('POST', '/webhooks/subscriptions', body)).length).toBeLessThanOrEqual(100);
});

test('an external_id is case-sensitive, an affiliate_code is not', async () => {
  for (const external_id of ['Case-1', 'case-1'])
    expect((await send('POST', '/integrations/leads', { ...person, external_id })).status).toBe(201);
  const affiliate = (affiliate_code: string) =>
    send('POST', '/integrations/affiliates', { ...person, affiliate_code });
  expect((await affiliate('Spring')).status).toBe(201);
  expect(problems(await affiliate('SPRING'))).toEqual(['affiliate_code']);
});

test('the sample of every type passes the checks of ingest', async () => {
  const payload = samplePayload('invoice.created', new Date());
  expect((await send('POST', '/events/test', { type: 'invoice.created', payload })).status).toBe(202);
});
