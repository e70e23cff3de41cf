import { scopes } from '@causeway/proto';
import { expect, test } from 'vitest';
import { inOneMinute } from './support/clock.ts';
import { readDocument } from './support/documented.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const document = (await world.ask('/openapi.json')).json;
const problemOf = readDocument(document);
const { get: described } = document.paths['/api/v1/integrations/me'];

const me = async (key: string) => {
  const reply = await world.ask('/integrations/me', { key });
  expect([reply.status, problemOf(described, reply)]).toEqual([200, undefined]);
  return reply;
};

test('A key of any scope learns whose it is and what it may do', async () => {
  const company = await world.company({ read: 7 });
  for (const scope of scopes) {
    const { id, value } = await company.key([scope]);
    const { json, headers } = await me(value);
    expect(json).toMatchObject({
      key: { id, name: 'test' },
      company: { id: company.id, name: expect.stringMatching(/^Test /) },
      scopes: [scope],
      limits: { read: { limit: 7, used: 0 }, write: { limit: 100 }, admin: { limit: 200 } },
    });
    expect(json.limits).not.toHaveProperty('lookup');
    expect(headers).not.toHaveProperty('x-ratelimit-limit');
    expect(headers['cache-control']).toBe('no-store');
  }
});

test(
  'What it has used is exact over all gateways, refused requests included, and asking counts nothing',
  inOneMinute(async () => {
    const company = await world.company({ read: 5 });
    const [{ value: key }, { value: other }] = [await company.key(), await company.key()];
    const asked = ['/events', '/integrations/lookups/employees', '/webhooks/subscriptions'];
    const use = { read: 0, write: 0 };
    for (let at = 0; at < 24; at++) {
      if (at % 3 === 0) {
        await world.ask('/integrations/leads', { key, method: 'POST', body: '{}' });
        use.write++;
      } else {
        await world.ask(asked[at % 3]!, { key });
        use.read++;
      }
      const { limits } = (await me(key)).json;
      const resetUtc = new Date(Math.ceil(Date.now() / 60_000) * 60_000).toISOString();
      expect(limits).toEqual({
        read: { limit: 5, used: use.read, resetUtc },
        write: { limit: 100, used: use.write, resetUtc },
        admin: { limit: 200, used: 0, resetUtc },
      });
    }
    expect((await me(other)).json.limits.read.used).toBe(0);
    // None of the requests above was taken from the company's ceiling or the key's limit.
    const left = await world.ask('/events', { key: other });
    expect(left.headers['x-ratelimit-remaining']).toBe('4');
  }),
);

test('Limits of an import are announced until they end', async () => {
  const company = await world.company();
  const { value: key } = await company.key(['integrations:write']);
  const soon = new Date(Date.now() + 600_000).toISOString();
  const { temporary } = await world.operator.ask('setLimits', {
    company_id: company.id,
    write: 2000,
    until: soon,
  });
  const { json } = await me(key);
  expect(json.limits.write).toMatchObject({ limit: 2000, untilUtc: temporary!.until });
  expect(json.limits.read).not.toHaveProperty('untilUtc');
  const write = async () => {
    const body = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
    const { headers } = await world.ask('/integrations/leads', { method: 'POST', key, body });
    return [headers['x-ratelimit-limit'], headers['x-ratelimit-until']];
  };
  expect(await write()).toEqual(['2000', temporary!.until]);
  await world.operator.ask('setLimits', { company_id: company.id, until: null });
  expect(await write()).toEqual(['100', undefined]);
});

test('Lookups are shown where they have a limit of their own', async () => {
  const company = await world.company();
  await world.operator.ask('setLimits', { company_id: company.id, lookup: 9 });
  const { value } = await company.key(['integrations:read']);
  await world.ask('/integrations/lookups/employees', { key: value });
  expect((await me(value)).json.limits).toMatchObject({ lookup: { limit: 9, used: 1 }, read: { used: 0 } });
});

test('A company that asks in a flood gets 429 at once, while another company gets its answers', async () => {
  const [greedy, modest] = await Promise.all(
    [0, 1].map(async () => (await (await world.company()).key()).value),
  );
  const flood = Array.from({ length: 400 }, () => world.ask('/integrations/me', { key: greedy! }));
  for (let at = 0; at < 5; at++) await me(modest!);
  const replies = await Promise.all(flood);
  const refused = replies.filter(({ status }) => status === 429);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  for (const reply of refused) expect(problemOf(described, reply)).toBeUndefined();
  expect(refused[0]!.json).toMatchObject({ policy: 'me:4/company', retryAfter: 1, currentUsage: 5 });
  expect(refused[0]!.headers['retry-after']).toBe('1');
  await me(greedy!);
});
