import { describe, expect, test } from 'vitest';
import { bootCrm } from './testing/boot.ts';
import { makeAffiliate, makeEmployee } from './testing/make.ts';

let behindMs = 0;
/** The clock of the service can be set back, as that of one replica among others may be. */
const crm = await bootCrm({ now: () => new Date(Date.now() - behindMs) });
let lastCompany = 8000;
const newCompany = (): number => ++lastCompany;

const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const createLead = async (companyId: number, more: object = {}): Promise<number> =>
  (await crm.act('createLead', companyId, { ...person, ...more })).body.client_id;

type Query = Readonly<Record<string, string>>;

const idsOf = (people: readonly { readonly client_id: number }[]) => people.map(({ client_id }) => client_id);

/** Reads to the end, as a client does. */
const readAll = async (
  operation: 'listPeople' | 'listAllAffiliates',
  companyId: number,
  query: Query = {},
  between = async () => {},
) => {
  const all: { readonly client_id: number; readonly version: number }[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await crm.ask(operation, companyId, { ...query, ...(cursor && { cursor }) });
    expect([status, body.error]).toEqual([200, undefined]);
    all.push(...(body.people ?? body.affiliates));
    expect(body.hasMore).toBe(body.nextCursor !== null);
    if (!body.hasMore) return all;
    cursor = body.nextCursor;
    await between();
  }
};

describe.each([
  ['people', 'listPeople', 'createLead', 'updateLead', 'client_id'],
  ['affiliates', 'listAllAffiliates', 'createAffiliate', 'updateAffiliate', 'employee_id'],
] as const)('The list of %s', (_, list, create, update, id) => {
  test.each([3_000, 3_600_000])(
    'has a record again that changes while a client pages, by a clock %i ms behind',
    async (ms) => {
      const companyId = newCompany();
      const ids: number[] = [];
      for (let at = 0; at < 6; at++) ids.push((await crm.act(create, companyId, person)).body[id]);
      const changed = [ids[0]!, ids[1]!, ids[1]!];
      const all = await readAll(list, companyId, { limit: '2' }, async () => {
        const next = changed.shift();
        behindMs = ms;
        if (next)
          await crm
            .act(update, companyId, { last_name: `Lee ${changed.length}` }, next)
            .finally(() => (behindMs = 0));
      });
      behindMs = 0;
      const seen = all.map((record) => [record[id as 'client_id'], record.version]);
      expect(seen.slice(0, 6)).toEqual(ids.map((one) => [one, 1]));
      expect(seen.slice(6)).toEqual([
        [ids[0], 2],
        [ids[1], 3],
      ]);
    },
  );
});

describe('The list of people', () => {
  test('has every lead and client of the company, in pages of each size, by time of change', async () => {
    const companyId = newCompany();
    const ids: number[] = [];
    for (let at = 0; at < 7; at++) ids.push(await createLead(companyId));
    await createLead(newCompany());
    await crm.act('updateLeadStatus', companyId, { new_status: 'Lead - Contacted' }, ids[2]!);
    const order = [...ids.filter((id) => id !== ids[2]), ids[2]];
    for (const limit of ['1', '3', '7', '8', '200'])
      expect(idsOf(await readAll('listPeople', companyId, { limit }))).toEqual(order);
  });

  test('shows a record whole', async () => {
    const companyId = newCompany();
    const affiliate = await makeAffiliate(crm.db, companyId, {});
    const employee = await makeEmployee(crm.db, companyId, {});
    const sent = {
      ...person,
      phone: '+43 1 555',
      city: 'Graz',
      state: 'Styria',
      zip: '8010',
      package_keyword: 'starter',
      employee_id: employee,
      affiliate_id: affiliate,
      external_id: 'x-1',
    };
    const { body: made } = await crm.act('createLead', companyId, sent);
    const { body } = await crm.ask('listPeople', companyId);
    expect(body.people).toEqual([
      {
        ...sent,
        client_id: made.client_id,
        status_id: 1,
        status: 'Lead - New',
        is_lead: true,
        created_utc: made.created_utc,
        updated_utc: made.created_utc,
        version: 1,
      },
    ]);
  });

  test('brings a record again that changes meanwhile, and leaves none out, while others write', async () => {
    const companyId = newCompany();
    const ids = await Promise.all(Array.from({ length: 30 }, () => createLead(companyId)));
    let round = 0;
    const seen = await readAll('listPeople', companyId, { limit: '4' }, async () => {
      if (round++ < 6) await crm.act('updateLead', companyId, { city: `${round}` }, ids[round * 3]!);
    });
    expect(new Set(idsOf(seen))).toEqual(new Set(ids));
    const latest = new Map(seen.map((one) => [one.client_id, one.version]));
    for (const at of [3, 6, 9, 12, 15, 18]) expect(latest.get(ids[at]!)).toBe(2);
  });

  test('goes on within records of one instant', async () => {
    const companyId = newCompany();
    const ids = await Promise.all(Array.from({ length: 25 }, () => createLead(companyId)));
    await crm.db
      .updateTable('clients')
      .set({ updated_utc: new Date('2026-01-15T09:30:00.000Z') })
      .where('company_id', '=', companyId)
      .execute();
    const found = idsOf(await readAll('listPeople', companyId, { limit: '4' }));
    expect(found).toEqual(ids.toSorted((a, b) => a - b));
  });

  test('is narrowed to a kind and to a time', async () => {
    const companyId = newCompany();
    const [first, second, third] = [
      await createLead(companyId),
      await createLead(companyId),
      await createLead(companyId),
    ];
    await crm.act('updateClientStatus', companyId, { new_status: 'Client - Active' }, second);
    const { body } = await crm.ask('getPerson', companyId, '', second);
    const idsFor = async (query: Query) => idsOf(await readAll('listPeople', companyId, query));
    expect(await idsFor({ kind: 'client' })).toEqual([second]);
    expect(await idsFor({ kind: 'lead', limit: '1' })).toEqual([first, third]);
    expect(await idsFor({ updated_since: body.updated_utc })).toEqual([second]);
    expect(await idsFor({ updated_since: '0000-01-01T00:00:00Z', kind: 'client' })).toEqual([second]);
    expect(await idsFor({ updated_since: '9999-12-31T23:59:59-12:00' })).toEqual([]);
  });

  test('refuses what does not fit together, and cursors of other lists', async () => {
    const companyId = newCompany();
    await Promise.all([createLead(companyId), createLead(companyId)]);
    const { body: first } = await crm.ask('listPeople', companyId, { limit: '1' });
    const cursor = first.nextCursor;
    const elsewhere = 'invalid cursor: it belongs to another list, or other filters';
    const messageFor = async (query: Query | string, company = companyId) => {
      const { status, body } = await crm.ask('listPeople', company, query);
      return [status, body.error];
    };
    expect(await messageFor({ cursor, kind: 'lead' })).toEqual([400, elsewhere]);
    expect(await messageFor({ cursor, updated_since: '2026-01-15T09:30:00Z' })).toEqual([400, elsewhere]);
    expect(await messageFor({ cursor }, newCompany())).toEqual([400, elsewhere]);
    expect(await messageFor({ cursor: 'abc' })).toEqual([400, 'invalid cursor']);
    expect(await messageFor({ cursor, external_id: 'a' })).toEqual([
      400,
      'external_id cannot be combined with cursor or updated_since',
    ]);
    expect(await messageFor({ updated_since: 'yesterday' })).toEqual([
      400,
      'updated_since must be an ISO 8601 time with its offset',
    ]);
    expect(await messageFor({ kind: 'both' })).toEqual([400, 'kind must be lead or client']);
    expect(await messageFor(Array.from({ length: 101 }, (_, at) => `external_id=${at}`).join('&'))).toEqual([
      400,
      'external_id must be given at most 100 times',
    ]);
    expect(await messageFor('limit=1&limit=2')).toEqual([400, 'limit must be given only once']);
    expect(await messageFor({ limit: '1001' })).toEqual([400, 'limit must be an integer between 1 and 1000']);
  });
});

describe('One record', () => {
  test('is read with its version, by the path of its kind and of people', async () => {
    const companyId = newCompany();
    const id = await createLead(companyId);
    const [asPerson, asLead, asClient, elsewhere] = [
      await crm.ask('getPerson', companyId, '', id),
      await crm.ask('getLead', companyId, '', id),
      await crm.ask('getClient', companyId, '', id),
      await crm.ask('getPerson', newCompany(), '', id),
    ];
    expect(asPerson).toMatchObject({ status: 200, body: { client_id: id, version: 1 } });
    const params = [String(id)];
    expect((await crm.call('getPerson', companyId, { params })).headers).toEqual({ ETag: '"1"' });
    expect(asLead).toEqual(asPerson);
    expect([asClient.status, asClient.body.error]).toEqual([404, 'client not found']);
    expect([elsewhere.status, elsewhere.body.error]).toEqual([404, 'person not found']);
  });

  test('of an affiliate is read, of an employee is not', async () => {
    const companyId = newCompany();
    const [affiliate, employee] = [
      await makeAffiliate(crm.db, companyId, {}),
      await makeEmployee(crm.db, companyId, {}),
    ];
    const { body } = await crm.ask('getAffiliate', companyId, '', affiliate);
    expect(body).toMatchObject({ employee_id: affiliate, is_active: true, version: 1 });
    expect(await readAll('listAllAffiliates', companyId)).toEqual([body]);
    expect(await crm.ask('getAffiliate', companyId, '', employee)).toMatchObject({ status: 404 });
  });

  test('has its notes in pages', async () => {
    const companyId = newCompany();
    const id = await createLead(companyId);
    const notes: number[] = [];
    for (const text of ['one', 'two', 'three'])
      notes.push((await crm.act('addClientNote', companyId, { text }, id)).body.client_note_id);
    const { body: first } = await crm.ask('listNotes', companyId, { limit: '2' }, id);
    expect(first.notes).toMatchObject([
      { client_note_id: notes[0], client_id: id, text: 'one', version: 1 },
      { client_note_id: notes[1], text: 'two' },
    ]);
    const { body: rest } = await crm.ask('listNotes', companyId, { cursor: first.nextCursor }, id);
    expect(rest).toMatchObject({ notes: [{ text: 'three' }], nextCursor: null, hasMore: false });
    expect(await crm.ask('listNotes', newCompany(), {}, id)).toMatchObject({ status: 404 });
  });
});

describe('A condition', () => {
  test('lets one of many simultaneous updates through', async () => {
    const companyId = newCompany();
    const id = await createLead(companyId);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        crm.write('updateLead', companyId, { city: `${at}` }, { recordId: id, condition: [1] }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)]);
  });

  test('lets one of many simultaneous creates through', async () => {
    const companyId = newCompany();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        crm.write('createLead', companyId, { ...person, external_id: 'x' }, { condition: 'absent' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(412)]);
  });
});
