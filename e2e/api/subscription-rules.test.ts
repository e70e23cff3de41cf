import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { type Json, openWorld } from './support/world.ts';

const world = await openWorld();

test('Conditions choose, own headers go along, and a pause holds and lets go what is due', async () => {
  const company = await world.company({ read: 1000, write: 1000, admin: 1000 });
  const { value: key } = await company.key();
  const ask = async (method: string, path: string, body: object): Promise<Json> => {
    const reply = await world.ask(path, { method, key, body: JSON.stringify(body) });
    expect(reply.status, reply.text).toBeLessThan(300);
    return reply.json;
  };
  const receiver = await testReceiver();
  const { id } = await ask('POST', '/webhooks/subscriptions', {
    url: receiver.url,
    eventTypes: ['lead.created'],
    conditions: [{ field: 'last_name', startsWith: 'Ł' }],
    pace: { limit: 100, per: 'second' },
    headers: { Authorization: 'Bearer abc' },
  });
  const create = (last_name: string) =>
    ask('POST', '/integrations/leads', { first_name: 'Ada', last_name, email: `${last_name}@example.com` });
  const arrived = () =>
    receiver.received.map(({ body, headers }) => [
      JSON.parse(String(body)).payload.last_name,
      headers.authorization,
    ]);
  const path = `/webhooks/subscriptions/${id}`;
  await create('Hopper');
  await create('Łukasz');
  await expect.poll(arrived).toEqual([['Łukasz', 'Bearer abc']]);
  expect(await ask('PATCH', path, { paused: true })).toMatchObject({ paused: true, enabled: true });
  for (const name of ['Łem', 'Byron', 'Łoś']) await create(name);
  const waiting = () =>
    world.sql("SELECT 1 FROM deliveries WHERE company_id = ? AND state = 'waiting'", [company.id]);
  await expect.poll(async () => (await waiting()).length).toBe(2);
  expect(arrived()).toHaveLength(1);
  await ask('PATCH', path, { paused: false, headers: { Authorization: null, 'X-Team': 'billing' } });
  await expect.poll(arrived).toEqual([
    ['Łukasz', 'Bearer abc'],
    ['Łem', undefined],
    ['Łoś', undefined],
  ]);
  expect(receiver.received.at(-1)!.headers['x-team']).toBe('billing');
});
