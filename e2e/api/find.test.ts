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
