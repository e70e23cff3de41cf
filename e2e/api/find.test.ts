import { until } from '@causeway/runtime/testing/until';
import { beforeAll, describe, expect, test } from 'vitest';
import { addPerson, clientActive, leadNew } from './support/people.ts';
import { type Company, openWorld } from './support/world.ts';

const world = await openWorld();

let company: Company;
let key = '';
let client = 0;
let lead = 0;
let theirs = 0;

beforeAll(async () => {
  company = await world.company({ read: 1_000_000_000 });
  key = (await company.key(['integrations:read'])).value;
  const shared = {
    company_id: company.id,
    first_name: 'Katherine',
    last_name: 'Johnson',
    email: 'Katherine@Example.com',
    phone: '+1 (555) 010-4477',
  };
  client = await addPerson(world, { ...shared, external_id: 'Crm-88', status_id: clientActive });
  lead = await addPerson(world, { ...shared, external_id: 'Lead-89', status_id: leadNew });
  const other = await world.company();
  theirs = await addPerson(world, { ...shared, company_id: other.id, external_id: 'Crm-88' });
});

const find = async (kind: 'clients' | 'leads', query: Readonly<Record<string, string>>) => {
  const reply = await world.ask(`/integrations/${kind}/find?${new URLSearchParams(query)}`, { key });
  expect(reply.status).toBe(200);
  return reply.json;
};

describe.each([
  ['clients', () => client, 'Crm-88'],
  ['leads', () => lead, 'Lead-89'],
] as const)('GET /%s/find', (kind, id, external_id) => {
  test.each([
    ['email', { email: ' kATHERINE@eXAMPLE.COM ' }],
    ['phone', { phone: '1.555.010.4477' }],
    ['external_id', { external_id }],
    ['all of them', { email: 'katherine@example.com', phone: '15550104477', external_id }],
  ])('finds by %s, within its own kind and company', async (_, query) => {
    const { clients, count } = await find(kind, query);
    expect([count, clients[0].client_id]).toEqual([1, id()]);
  });

  test('finds by client_id only its own kind', async () => {
    expect((await find(kind, { client_id: String(id()) })).count).toBe(1);
    const otherKind = kind === 'clients' ? lead : client;
    for (const other of [otherKind, theirs])
      expect(await find(kind, { client_id: String(other) })).toEqual({
        clients: [],
        count: 0,
        hasMore: false,
      });
  });
});

test('At most 25 are returned, newest first, and the answer says whether there are others', async () => {
  const email = 'family@example.com';
  const ids: number[] = [];
  const add = async () => ids.push(await addPerson(world, { company_id: company.id, email }));
  while (ids.length < 25) await add();
  expect(await find('clients', { email })).toMatchObject({ count: 25, hasMore: false });
  await add();
  const { clients, count, hasMore } = await find('clients', { email });
  expect([count, hasMore]).toEqual([25, true]);
  expect(clients.map(({ client_id }: { client_id: number }) => client_id)).toEqual(
    ids.toReversed().slice(0, 25),
  );
});

test('A client in a status of its company is found with that status; missing fields are null', async () => {
  const status_id = await world.insert('statuses', { company_id: company.id, status_name: 'Client - Found' });
  // Vitess copies the status to the company's shard a moment later.
  const add = () => addPerson(world, { company_id: company.id, status_id });
  const id = await until('the status can be used', () => add().catch(() => undefined));
  expect((await find('clients', { client_id: String(id) })).clients).toMatchObject([
    { client_id: id, status: 'Client - Found', is_lead: false, phone: null, external_id: null },
  ]);
});

describe('The lookups', () => {
  const unlimited = { read: 1_000_000_000 };
  const inCompany = async () => {
    const company = await world.company(unlimited);
    return { company, key: (await company.key(['integrations:read'])).value };
  };

  test('All employees of a large company are listed', async () => {
    const { company, key } = await inCompany();
    const rows = Array.from({ length: 300 }, (_, at) => [
      company.id,
      2,
      `E${at}`,
      'Many',
      `many${at}@example.com`,
    ]);
    await world.sql('INSERT INTO employees (company_id, role_id, first_name, last_name, email) VALUES ?', [
      rows,
    ]);
    const { json } = await world.ask('/integrations/lookups/employees', { key });
    expect(json.count).toBe(300);
    expect(json.employees).toHaveLength(300);
  });

  /** The indexer takes clients in batches, oldest first; fewer clients wait, and a search finds them anyway. */
  const indexedFrom = 64;

  describe.each([
    ['while they wait for the index', 0],
    ['once they are in the index', indexedFrom],
  ])('GET /lookups/clients, %s', (_, others) => {
    test('finds leads and clients by each of their fields, and none of another company', async () => {
      const { company, key } = await inCompany();
      const theirs = await inCompany();
      const person = {
        first_name: 'Ada',
        last_name: 'Lovelace',
        email: 'countess@engine.example',
        phone: '+1 (555) 010-4477',
        external_id: 'EXT-100',
      };
      const client = await addPerson(world, { company_id: company.id, ...person, status_id: clientActive });
      const lead = await addPerson(world, {
        company_id: company.id,
        last_name: 'Loveday',
        status_id: leadNew,
      });
      await addPerson(world, { company_id: theirs.company.id, ...person });
      for (let at = 0; at < others; at++) await addPerson(world, { company_id: company.id });
      if (others > 0)
        await until('the index has taken clients up', async () => {
          const waiting = await world.sql('SELECT 1 FROM client_search_pending WHERE company_id = ?', [
            company.id,
          ]);
          return waiting.length < indexedFrom;
        });
      const search = async (q: string, as = key) =>
        (await world.ask(`/integrations/lookups/clients?${new URLSearchParams({ q })}`, { key: as })).json;
      for (const q of [`${client}`, 'da Lovel', 'ess@engine', '010-4477', 'EXT-1'])
        expect(await search(q), q).toEqual({
          clients: [{ id: client, name: 'Ada Lovelace · countess@engine.example' }],
          count: 1,
        });
      expect((await search('love')).clients.map(({ id }: { id: number }) => id)).toEqual([lead, client]);
      expect(await search(`${client}`, theirs.key)).toEqual({ clients: [], count: 0 });
    });
  });
});
