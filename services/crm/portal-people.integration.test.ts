import type { Role } from '@causeway/proto';
import { testLane } from '@causeway/runtime/testing';
import { beforeAll, expect, test } from 'vitest';
import { bootCrm } from './testing/boot.ts';

const crm = await bootCrm({ tables: 'all' });
const send = testLane(crm.bus, 'crm');
const companyId = 8800;
const ids: number[] = [];
beforeAll(async () => {
  for (const fields of [
    { first_name: 'Łukasz', last_name: 'Hopper', email: 'Lukasz@Example.com', external_id: 'ORD-10040' },
    { first_name: 'عمر', last_name: '🧾', email: 'omar@example.com', external_id: '77' },
    { first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.com' },
  ])
    ids.push((await crm.act('createClient', companyId, fields)).body.client_id);
});

const ask = async (
  operation: string,
  tenant: number,
  role: Role,
  parts: { readonly query: string; readonly params: readonly string[] },
) => {
  const user = { id: 1, sessionId: 1, email: 'm@example.com', name: 'M', role };
  const proof = crm.callers.session(tenant, user);
  const actor = { user, address: '203.0.113.7', userAgent: 'test', proof };
  const answer = await send({ operation, tenant, caller: 1, body: new Uint8Array(), actor, ...parts });
  expect(answer.status).toBe(200);
  return JSON.parse(String(answer.body));
};

const find = async (
  query: Readonly<Record<string, string>>,
  role: Role = 'developer',
  tenant = companyId,
): Promise<readonly { id: number; name: string | null; email: string | null }[]> => {
  const asked = { query: new URLSearchParams(query).toString(), params: [] };
  return (await ask('listPortalPeople', tenant, role, asked)).people;
};
const found = async (...args: Parameters<typeof find>) => (await find(...args)).map(({ id }) => id);

const read = async (id: number, role: Role = 'developer', tenant = companyId) =>
  ask('getPortalPerson', tenant, role, { params: [String(id)], query: '' });

test('A record has its versions, its status history and who changed it, and keeps personal data from viewers', async () => {
  const [lukasz] = ids as [number];
  await crm.act(
    'updateClientStatus',
    companyId,
    { new_status: 'Client - Paused', status_note: 'Signed' },
    lukasz,
  );
  const developer = await read(lukasz);
  expect(developer).toMatchObject({
    person: {
      id: lukasz,
      email: 'Lukasz@Example.com',
      version: 2,
      status: 'Client - Paused',
      origin: 'key:1',
    },
    erasedUtc: null,
  });
  const viewer = await read(lukasz, 'viewer');
  expect(viewer).toMatchObject({
    person: { id: lukasz, name: null, email: null, phone: null, externalId: 'ORD-10040' },
  });
  const nobody = { person: null, erasedUtc: null };
  expect(await read(lukasz, 'owner', companyId + 1)).toEqual(nobody);
  const { body } = await crm.act('createClient', companyId, {
    first_name: 'Ann',
    last_name: 'Lee',
    email: 'ann@x.org',
  });
  expect((await crm.call('erasePerson', companyId, { params: [String(body.client_id)] })).status).toBe(204);
  expect(await read(body.client_id)).toEqual({ ...nobody, erasedUtc: expect.any(String) });
});

test('People are found by number, external id, email without case, and a part of the name', async () => {
  const [lukasz, omar, grace] = ids;
  expect(await found({ q: String(lukasz) })).toEqual([lukasz]);
  expect(await found({ q: 'ORD-10040' })).toEqual([lukasz]);
  expect(await found({ q: '77' })).toEqual([omar]);
  expect(await found({ q: 'lukasz@example.COM' })).toEqual([lukasz]);
  expect((await found({ q: 'hopper' })).toSorted()).toEqual([lukasz, grace].toSorted());
  expect(await found({ q: 'عمر' })).toEqual([omar]);
  expect(await found({ q: '9'.repeat(30) })).toEqual([]);
  expect(await found({ q: 'ORD-10040' }, 'owner', companyId + 1)).toEqual([]);
  expect(await find({ ids: `${grace},${lukasz},999999999` })).toMatchObject([
    { id: grace, name: 'Grace Hopper', email: 'grace@example.com' },
    { id: lukasz, name: 'Łukasz Hopper', email: 'Lukasz@Example.com' },
  ]);
});

test('Viewers find whom they can name exactly, and learn neither names nor addresses', async () => {
  const [lukasz] = ids;
  for (const q of ['lukasz@example.com', 'ORD-10040', String(lukasz)])
    expect(await find({ q }, 'viewer')).toMatchObject([{ id: lukasz, name: null, email: null }]);
  for (const q of ['lukasz@', 'Łukasz', 'hopper', 'ORD-1004', '@example.com'])
    expect(await find({ q }, 'viewer'), q).toEqual([]);
});
