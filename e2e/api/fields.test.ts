import { expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { type Json, openWorld, type Reply } from './support/world.ts';

// How request bodies are read (contract, "Requests and errors" and "Fields").

const world = await openWorld();
const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
const { ask: send } = await openCaller(world);
const problems = (reply: Reply): Json => {
  expect(reply.status).toBe(400);
  return reply.json.details.map(({ field }: { field: string }) => field);
};

test('a number of a payload that would be altered is refused with its path, and others are stored as sent', async () => {
  const make = (payload: string) =>
    send('POST', '/events/test', `{"type":"lead.created","payload":{"a":[${payload}]}}`);
  expect(problems(await make('9007199254740993'))).toEqual(['payload.a[0]']);
  expect((await make('9007199254740992,1e-7')).json.payload.a).toEqual([9007199254740992, 1e-7]);
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

test('a body with very many problems gets a bounded error', async () => {
  const faults = `{"type":"lead.created","payload":{"a":[${'1e999,'.repeat(50_000)}1]}}`;
  expect(problems(await send('POST', '/events/test', faults))).toHaveLength(100);
  const types = Array.from({ length: 50_000 }, () => 'x');
  const body = { url: 'https://hooks.example.com/x', eventTypes: types };
  expect(problems(await send('POST', '/webhooks/subscriptions', body)).length).toBeLessThanOrEqual(100);
});
