import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openCaller } from './support/caller.ts';
import { type Member, openTeam } from './support/portal.ts';
import { openWorld, type Reply } from './support/world.ts';

const world = await openWorld();
const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
const { company, key } = await openCaller(world);

const post = (path: string, body: unknown, idempotencyKey: string, as = key): Promise<Reply> =>
  world.ask(path, {
    method: 'POST',
    key: as,
    headers: { 'Idempotency-Key': idempotencyKey },
    body,
  });
const leadsOf = async (id: number): Promise<number> => {
  const [row] = await world.sql<{ count: number }>(
    'SELECT COUNT(*) AS count FROM clients WHERE company_id = ?',
    [id],
  );
  return row!.count;
};

test('A request that is sent again gets the first answer, from any gateway and with any key of the company', async () => {
  const other = (await company.key()).value;
  const name = randomUUID();
  const first = await post('/integrations/leads', person, name);
  expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, undefined]);
  for (const again of [
    await post('/integrations/leads', person, name),
    await post('/integrations/leads', person, `"${name}"`),
    await post('/integrations/leads', person, name, other),
  ]) {
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    // A replay counts.
    expect(again.headers['x-ratelimit-limit']).toBe('1000000');
  }
  expect(await leadsOf(company.id)).toBe(1);

  const different = await post('/integrations/leads', { ...person, city: 'Graz' }, name);
  expect([different.status, different.json.reason]).toEqual([422, 'idempotency_key_reused']);
  const elsewhere = await world.company();
  expect((await post('/integrations/leads', person, name, (await elsewhere.key()).value)).status).toBe(201);
  expect(await leadsOf(company.id)).toBe(1);
});

test('A malformed key is a 400 that names the header, and a read ignores it', async () => {
  for (const malformed of ['a b', 'a,b', '"open', 'x'.repeat(256), '""']) {
    const refused = await post('/integrations/leads', person, malformed);
    expect([refused.status, refused.json.details[0].field]).toEqual([400, 'Idempotency-Key']);
    expect(refused.headers['x-ratelimit-limit']).toBe('1000000');
  }
  const read = await world.ask('/integrations/lookups/employees', {
    key,
    headers: { 'Idempotency-Key': 'a b' },
  });
  expect(read.status).toBe(200);
});

test('Members send it as well: a key belongs to one of them, and a replay shows the secret again', async () => {
  const team = await openTeam(world);
  const colleague = await team.join('admin');
  const create = ({ browser }: Member, name: string, key: string) =>
    browser.ask(
      'POST',
      '/keys',
      { name, scopes: ['events:read'] },
      {
        ...{ 'sec-fetch-site': 'same-origin', 'idempotency-key': key },
      },
    );
  const made = await create(team.owner, 'Website', 'form-1');
  expect(made.status, made.text).toBe(201);
  const again = await create(team.owner, 'Website', '"form-1"');
  expect([again.status, again.text]).toEqual([201, made.text]);
  const other = await create(team.owner, 'Another', 'form-1');
  expect([other.status, other.json.reason]).toEqual([422, 'idempotency_key_reused']);
  const theirs = await create(colleague, 'Website', 'form-1');
  expect([theirs.status, theirs.json.value === made.json.value]).toEqual([201, false]);
  expect((await create(team.owner, 'Website', 'two keys')).status).toBe(400);
  const { keys } = (await team.owner.browser.ask('GET', '/keys?state=active')).json;
  expect(keys).toHaveLength(2);
  const stored = await world.sql<{ answer: Buffer }>(
    'SELECT answer FROM idempotency_keys WHERE company_id = ?',
    [team.companyId],
  );
  for (const { answer } of stored) expect(answer.includes(made.json.value)).toBe(false);
});
