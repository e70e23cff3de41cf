import { describe, expect, test } from 'vitest';
import { bootCrm } from './testing/boot.ts';
import { makeClient } from './testing/make.ts';

const crm = await bootCrm();

type Query = Readonly<Record<string, string>>;

const idsOf = (body: { clients: { client_id: number }[] }) => body.clients.map(({ client_id }) => client_id);
const findClients = async (companyId: number, query: Query) =>
  idsOf((await crm.ask('findClients', companyId, query)).body);

test('a client is returned with all of its fields', async () => {
  const id = await makeClient(crm.db, 1, {
    first_name: 'Zoë',
    last_name: 'O"Hara',
    email: 'Zoe@Example.com',
    phone: '+1 (555) 010-4477',
    external_id: 'crm-88',
    created_utc: new Date('2026-01-15T09:30:00.123Z'),
  });
  expect(await crm.ask('findClients', 1, { client_id: String(id) })).toEqual({
    status: 200,
    body: {
      clients: [
        {
          client_id: id,
          first_name: 'Zoë',
          last_name: 'O"Hara',
          email: 'Zoe@Example.com',
          phone: '+1 (555) 010-4477',
          status: 'Client - Active',
          is_lead: false,
          external_id: 'crm-88',
          created_utc: '2026-01-15T09:30:00.123Z',
        },
      ],
      count: 1,
      hasMore: false,
    },
  });
});

describe('each parameter by itself', () => {
  test('an extension that only one of two numbers has does not count, nor does a (0)', async () => {
    const make = (phone: string) => makeClient(crm.db, 6, { phone });
    const twelve = await make('+1 555 010 4478 x12');
    const thirteen = await make('+1 (555) 010-4478 ext. 13');
    const none = await make('1-555-010-4478');
    const london = await make('+44 (0)20 7946 0018');
    const desk = await make('tel:+442079460018;ext=5');
    expect(await findClients(6, { phone: '+15550104478' })).toEqual([none, thirteen, twelve]);
    expect(await findClients(6, { phone: '+15550104478#13' })).toEqual([none, thirteen]);
    expect(await findClients(6, { phone: '+1 555 010 4478 int 14' })).toEqual([none]);
    for (const phone of ['+44 20 7946 0018', '+44 (0)20 7946 0018'])
      expect(await findClients(6, { phone })).toEqual([desk, london]);
    expect(await findClients(6, { phone: '+44 (0)20 7946 0018 X5' })).toEqual([desk, london]);
    expect(await findClients(6, { phone: '020 7946 0018' })).toEqual([]);
  });

  test('external_id is compared exactly', async () => {
    const id = await makeClient(crm.db, 5, { external_id: 'a%_\\b' });
    expect(await findClients(5, { external_id: 'a%_\\b' })).toEqual([id]);
    for (const other of ['A%_\\B', 'a%', 'axx\\b'])
      expect(await findClients(5, { external_id: other })).toEqual([]);
  });
});

test('an address finds itself in any case, and none that only looks like it', async () => {
  const spellings = ['Paul1@firma.example', 'paul1@FIRMA.example', 'PAUL1@FIRMA.EXAMPLE'];
  const lookAlikes = [
    'ｐaul1@firma.example',
    'ⓟaul1@firma.example',
    'pa\u200bul1@firma.example',
    'paul¹@firma.example',
  ];
  const same: number[] = [];
  for (const email of spellings) same.unshift(await makeClient(crm.db, 30, { email }));
  for (let round = 0; round < 80; round++)
    for (const email of lookAlikes) await makeClient(crm.db, 30, { email });
  for (const email of spellings) expect(await findClients(30, { email })).toEqual(same);
  const [georgian] = [await makeClient(crm.db, 30, { email: 'გიორგი@firma.example' })];
  expect(await findClients(30, { email: 'ᲒᲘᲝᲠᲒᲘ@firma.example' })).toEqual([georgian]);
  for (const email of ['a b@ex.example', 'a@b.c;d@e.f', 'pa\u200bul1@firma.example']) {
    const { status, body } = await crm.ask('findClients', 30, { email });
    expect([status, body.details[0].code]).toEqual([400, 'email_invalid']);
  }
});
