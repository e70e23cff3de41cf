import { describe, expect, test } from 'vitest';
import { bootCrm } from '../testing/boot.ts';
import { indexAll } from '../testing/index-all.ts';
import { makeClient } from '../testing/make.ts';
import { markForSearch } from '../testing/mark-for-search.ts';

const crm = await bootCrm({ replicas: 2 });

const search = async (companyId: number, q: string, limit?: number) => {
  const { status, body } = await crm.ask('searchClients', companyId, {
    q,
    ...(limit && { limit: String(limit) }),
  });
  expect(status).toBe(200);
  expect(body.count).toBe(body.clients.length);
  return body.clients as { id: number; name: string }[];
};
const idsOf = async (companyId: number, q: string) => (await search(companyId, q)).map(({ id }) => id);

/** Each of the following tests must pass for a client in either state. */
const placements = [
  ['that waits to be indexed', async () => {}],
  ['that has been indexed', () => indexAll(crm.db)],
] as const;

describe.each(placements)('of a client %s', (_, settle) => {
  let nextCompanyId = settle === placements[0][1] ? 100 : 200;
  const one = async (fields: Parameters<typeof makeClient>[2] = {}) => {
    const companyId = nextCompanyId++;
    const id = await makeClient(crm.db, companyId, fields);
    await settle();
    return { companyId, id };
  };

  test('a numeric q finds exactly the id, of any length', async () => {
    const { companyId, id } = await one({ first_name: 'Agent 47', phone: '555 0047', external_id: '4711' });
    expect(await idsOf(companyId, String(id))).toEqual([id]);
    expect(await idsOf(companyId, '9'.repeat(40))).toEqual([]);
    for (const other of ['47', '0047', '4711'])
      if (Number(other) !== id) expect(await idsOf(companyId, other)).toEqual([]);
  });

  test.each([
    [
      'by any part of the name, over the space between first and last name',
      { first_name: 'Katherine', last_name: 'Johnson', email: 'x@y.example' },
      ['katherine johnson', 'KATHERINE', 'ne jo', 'johnson', 'son', 'ka', 'hn', 'on'],
      ['johnson katherine', 'katherinejohnson', 'kathe-rine', 'zz', 'johnsonx'],
    ],
    [
      'by any part of the email',
      { email: 'Kat.Johnson+crm@Mail.Example' },
      ['kat.johnson', '+crm@', 'mail.example', 'le', '@m', 'KAT.JOHNSON+CRM@MAIL.EXAMPLE'],
      ['lee kat'],
    ],
    [
      'by the last digits of the phone before its extension, and without its (0)',
      { phone: '+44 (0)20 7946-0018 ext. 12' },
      ['7946-0018', '+44 20 7946 0018', '(0)20 7946 0018', '0018 x12', '7946 0018 ext. 12'],
      ['0018 x13', '46-00'],
    ],
    [
      'by the last digits of the phone, however they are written',
      { phone: '+1 (555) 010-4477' },
      ['-477', '-4477', '010-4477', '0.104.477', '+15550104477', '(555) 010 4477'],
      ['+7', '-77', '555-', '010-447', '44-77x9', 'tel 4477', '+25550104477', '--', '()'],
    ],
    [
      'by the beginning of the external_id',
      { external_id: 'HubSpot-991' },
      ['Hu', 'HubSpot', 'HubSpot-991'],
      ['Spot', '-991', 'HubSpot-9911'],
    ],
    [
      'by pattern characters only literally',
      { first_name: '100%', last_name: "O'B_r\\n", email: 'a_b%c@example.com', external_id: '50%_\\x' },
      ['0%', '100% o', "o'b_r\\n", 'b_r', '\\n', 'a_b%c', '50%_\\', '50%'],
      ['%%', '__', '1%0', 'a%c', 'oxb', '50__', "' or 1=1 -- ", '\\\\'],
    ],
    [
      'in any case, accents and compatibility forms',
      { first_name: 'Łukasz', last_name: 'Müller-Ångström 田中 한글' },
      ['lukasz', 'ŁUKASZ', 'muller', 'MÜLLER', 'mu\u0308ller', 'angstrom', 'ｍｕｌｌｅｒ', '田中', '한글'],
      ['中田'],
    ],
    [
      'with outer and repeated white space',
      { first_name: 'Mary  Ann', last_name: 'Lee' },
      ['  lee ', 'mary ann', 'Ann   Lee'],
      [],
    ],
  ])('it is found %s', async (_, fields, queries, others) => {
    const { companyId, id } = await one(fields);
    for (const q of queries) expect(await idsOf(companyId, q), q).toEqual([id]);
    for (const q of others) expect(await idsOf(companyId, q), q).toEqual([]);
  });

  test('a new name is found and the old one no longer', async () => {
    const { companyId, id } = await one({ first_name: 'Before', last_name: 'Wedding' });
    await crm.db
      .updateTable('clients')
      .set({ last_name: 'Vows' })
      .where('company_id', '=', companyId)
      .where('client_id', '=', id)
      .execute();
    await markForSearch(crm.db, companyId, id);
    for (let times = 0; times < 2; times++) {
      expect(await idsOf(companyId, 'vows')).toEqual([id]);
      expect(await idsOf(companyId, 'before')).toEqual([id]);
      expect(await idsOf(companyId, 'wedding')).toEqual([]);
      await settle();
    }
  });
});

test('a label is the full name, a separator and the email', async () => {
  const id = await makeClient(crm.db, 300, { first_name: 'Zoë', last_name: 'O"Hara', phone: '555 0100' });
  expect(await search(300, 'hara')).toEqual([{ id, name: 'Zoë O"Hara · ann@example.com' }]);
});

test('an empty or missing q finds nothing', async () => {
  await makeClient(crm.db, 301);
  for (const query of ['', 'q=', 'q=%20%20', 'limit=3'])
    expect(await crm.ask('searchClients', 301, query)).toEqual({
      status: 200,
      body: { clients: [], count: 0 },
    });
});

test('no more than the limit is returned, each client once, newest first', async () => {
  const ids: number[] = [];
  for (let at = 0; at < 30; at++) ids.push(await makeClient(crm.db, 304, { external_id: `ann-${at}` }));
  expect(await idsOf(304, 'lee')).toEqual(ids.toReversed().slice(0, 25));
  expect(await search(304, 'lee', 3)).toHaveLength(3);
  expect(new Set(await idsOf(304, 'ann')).size).toBe(25);
});
