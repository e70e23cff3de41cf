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
