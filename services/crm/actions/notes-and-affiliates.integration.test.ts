import { rowOf } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { bootCrm } from '../testing/boot.ts';
import { eventsOf } from '../testing/look.ts';
import { makeAffiliate, makeClient, makeEmployee, statusIds } from '../testing/make.ts';

const crm = await bootCrm();

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
let company = 1000;
const newCompany = () => ++company;

describe('addClientNote', () => {
  const notes = (companyId: number) =>
    crm.db
      .selectFrom('client_notes')
      .selectAll()
      .where('company_id', '=', companyId)
      .orderBy('client_note_id')
      .execute();

  test.each([
    ['client', statusIds.clientActive],
    ['lead', statusIds.leadNew],
  ])('201: adds a note to a %s, with the defaults, and emits nothing', async (_, status_id) => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId, { status_id });
    const { status, body } = await crm.act('addClientNote', companyId, { text: ' Likes\ntea. ' }, id);
    expect([status, body]).toEqual([
      201,
      { client_note_id: expect.any(Number), created_utc: instant, version: 1 },
    ]);
    expect(await notes(companyId)).toMatchObject([
      {
        client_note_id: body.client_note_id,
        client_id: id,
        text: 'Likes\ntea.',
        note_type: 'general',
        visibility: 'internal',
        external_id: null,
      },
    ]);
    expect(await eventsOf(crm.db, companyId)).toEqual([]);
  });

  test('200: a known external_id updates that note', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId);
    const add = (more: object) =>
      crm.act('addClientNote', companyId, { text: 'a', external_id: 'n', ...more }, id);
    const first = await add({ note_type: 'call', visibility: 'public' });
    expect(await add({ text: 'b', visibility: null })).toEqual({
      status: 200,
      body: { ...first.body, version: 2 },
    });
    expect(await notes(companyId)).toMatchObject([{ text: 'b', note_type: 'call', visibility: 'public' }]);
  });

  test('200: the external_id of a note on another record moves that note to this record', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId);
    const other = await makeClient(crm.db, companyId);
    const first = await crm.act('addClientNote', companyId, { text: 'a', external_id: 'n' }, other);
    const second = await crm.act('addClientNote', companyId, { text: 'b', external_id: 'n' }, id);
    expect(second).toEqual({ status: 200, body: { ...first.body, version: 2 } });
    expect(await notes(companyId)).toMatchObject([{ client_id: id, text: 'b' }]);
  });

  test('an external_id is compared exactly, including case, accents and Unicode form', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId);
    const ids = ['Note-1', 'note-1', 'N\u00f6te', 'No\u0308te', 'Note'];
    for (const external_id of ids)
      expect((await crm.act('addClientNote', companyId, { text: 'x', external_id }, id)).status).toBe(201);
    expect((await notes(companyId)).map(({ external_id }) => external_id)).toEqual(ids);
  });

  test('201: accepts a text of 10000 characters of four bytes', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId);
    const text = '😀'.repeat(10_000);
    expect((await crm.act('addClientNote', companyId, { text }, id)).status).toBe(201);
    expect((await notes(companyId))[0]?.text).toBe(text);
  });

  test('404: a record of another company, or none', async () => {
    const foreign = await makeClient(crm.db, newCompany());
    for (const id of [foreign, 987_654_321, 'x'])
      expect(await crm.act('addClientNote', newCompany(), { text: 'x' }, id)).toEqual({
        status: 404,
        body: { error: 'client not found' },
      });
  });
});

const affiliate = { first_name: 'Lise', last_name: 'Meitner', email: 'lise@example.com' };
const row = (companyId: number, id: number) => rowOf(crm.db, 'employees', companyId, { employee_id: id });

describe('createAffiliate', () => {
  test('201: creates an affiliate that is not approved, with a code and an event', async () => {
    const companyId = newCompany();
    const sent = { ...affiliate, commission_rate: 12.5, affiliate_company_name: 'Meitner & Co' };
    const { status, body } = await crm.act('createAffiliate', companyId, sent);
    expect([status, body]).toEqual([
      201,
      {
        employee_id: expect.any(Number),
        affiliate_code: expect.stringMatching(/^[2-9A-HJKMNP-Z]{8}$/),
        is_approved: false,
        created_utc: instant,
        version: 1,
      },
    ]);
    expect(await row(companyId, body.employee_id)).toMatchObject({
      ...sent,
      role_id: 6,
      is_active: 1,
      is_approved: 0,
      commission_rate: '12.50',
    });
    expect(await eventsOf(crm.db, companyId)).toEqual([
      {
        sequence: 1,
        type: 'affiliate.created',
        payload: {
          employee_id: body.employee_id,
          ...affiliate,
          phone: '',
          affiliate_code: body.affiliate_code,
          affiliate_company_name: 'Meitner & Co',
          commission_rate: 12.5,
          is_approved: false,
          created_date: body.created_utc,
        },
      },
    ]);
  });

  test('200: a known external_id updates that affiliate', async () => {
    const companyId = newCompany();
    const first = await crm.act('createAffiliate', companyId, {
      ...affiliate,
      affiliate_code: 'LISE',
      external_id: 'a',
    });
    await crm.act('updateAffiliate', companyId, { is_approved: true }, first.body.employee_id);
    const again = { ...affiliate, phone: '12345', affiliate_code: null, external_id: 'a' };
    expect(await crm.act('createAffiliate', companyId, again)).toEqual({
      status: 200,
      body: { ...first.body, is_approved: true, version: 3 },
    });
    expect(await row(companyId, first.body.employee_id)).toMatchObject({ phone: '12345' });
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });

  test('200: an affiliate that another module made without a code gets one, and keeps it', async () => {
    const companyId = newCompany();
    const id = await makeAffiliate(crm.db, companyId, { external_id: 'a' });
    const sent = { ...affiliate, external_id: 'a' };
    const first = await crm.act('createAffiliate', companyId, sent);
    expect([first.status, first.body.affiliate_code]).toEqual([
      200,
      expect.stringMatching(/^[2-9A-HJKMNP-Z]{8}$/),
    ]);
    expect(await row(companyId, id)).toMatchObject({ affiliate_code: first.body.affiliate_code, version: 2 });
    expect(await crm.act('createAffiliate', companyId, sent)).toEqual(first);
    expect(await row(companyId, id)).toMatchObject({ version: 2 });
  });

  test('400: a code that another affiliate has, in any case, and in this company only', async () => {
    const [companyId, other] = [newCompany(), newCompany()];
    const make = (where: number, affiliate_code: string) =>
      crm.act('createAffiliate', where, { ...affiliate, affiliate_code });
    const first = await make(companyId, 'Spring');
    expect(first.status).toBe(201);
    const { status, body } = await make(companyId, 'SPRING');
    const id = first.body.employee_id;
    const message = `affiliate_code is already in use by employee_id ${id}`;
    const detail = { field: 'affiliate_code', code: 'in_use', message, conflicting_employee_id: id };
    expect([status, body.details]).toEqual([400, [detail]]);
    expect((await make(companyId, 'Spr\u00efng')).status).toBe(201);
    expect((await make(other, 'SPRING')).status).toBe(201);
  });

  test('400: the external_id of an employee who is not an affiliate; a rate of three decimals', async () => {
    const companyId = newCompany();
    const id = await makeEmployee(crm.db, companyId, { external_id: 'boss' });
    const taken = await crm.act('createAffiliate', companyId, { ...affiliate, external_id: 'boss' });
    const error = `external_id is already in use by employee_id ${id}`;
    expect([taken.status, taken.body.details]).toEqual([
      400,
      [{ field: 'external_id', code: 'in_use', message: error, conflicting_employee_id: id }],
    ]);
    expect((await row(companyId, id)).first_name).toBe('Grace');
    const rate = await crm.act('createAffiliate', companyId, { ...affiliate, commission_rate: 1.005 });
    expect([rate.status, rate.body.details[0].field]).toEqual([400, 'commission_rate']);
  });
});

describe('updateAffiliate', () => {
  test('200: approves, deactivates, changes and clears; the lookup shows it at once', async () => {
    const companyId = newCompany();
    const { body } = await crm.act('createAffiliate', companyId, { ...affiliate, commission_rate: 10 });
    const id = body.employee_id;
    const listed = async () => (await crm.ask('listAffiliates', companyId)).body.affiliates;
    expect(await listed()).toEqual([]);
    const answer = await crm.act('updateAffiliate', companyId, { is_approved: true, employee_id: id }, id);
    expect(answer).toEqual({
      status: 200,
      body: { success: true, updated_utc: instant, employee_id: id, version: 2 },
    });
    expect(await listed()).toEqual([{ affiliate_id: id, full_name: 'Lise Meitner' }]);
    await crm.act(
      'updateAffiliate',
      companyId,
      { commission_rate: null, last_name: 'M', is_active: false },
      id,
    );
    expect(await row(companyId, id)).toMatchObject({
      commission_rate: null,
      last_name: 'M',
      is_active: 0,
      is_approved: 1,
    });
    expect(await listed()).toEqual([]);
  });

  test('200: its code and times may be sent back; a different code is reported once', async () => {
    const companyId = newCompany();
    const made = (await crm.act('createAffiliate', companyId, affiliate)).body;
    const { is_approved, version, ...whole } = made;
    const act = (more: object) =>
      crm.act('updateAffiliate', companyId, { ...whole, ...affiliate, ...more }, made.employee_id);
    expect((await act({ last_name: 'M' })).status).toBe(200);
    expect((await act({ affiliate_code: 'OTHER' })).body.details).toEqual([
      { field: 'affiliate_code', code: 'read_only', message: 'affiliate_code cannot be changed here' },
    ]);
  });

  test('400: nothing sent, the external_id of another', async () => {
    const companyId = newCompany();
    const holder = await makeAffiliate(crm.db, companyId, { external_id: 'taken' });
    const id = await makeAffiliate(crm.db, companyId);
    expect((await crm.act('updateAffiliate', companyId, {}, id)).status).toBe(400);
    const { status, body } = await crm.act('updateAffiliate', companyId, { external_id: 'taken' }, id);
    expect([status, body.error]).toEqual([400, `external_id is already in use by employee_id ${holder}`]);
  });

  test('200: without a change of value, nothing is written; only what cannot be changed: 400', async () => {
    const companyId = newCompany();
    const sent = { ...affiliate, commission_rate: 12.5, external_id: 'a' };
    const { employee_id: id, affiliate_code } = (await crm.act('createAffiliate', companyId, sent)).body;
    const then = new Date('2026-01-15T09:30:00.123Z');
    await crm.db
      .updateTable('employees')
      .set({ updated_utc: then })
      .where('company_id', '=', companyId)
      .where('employee_id', '=', id)
      .execute();
    const before = await row(companyId, id);
    const same = { ...sent, is_active: true, is_approved: false, affiliate_code };
    expect((await crm.act('updateAffiliate', companyId, same, id)).body.updated_utc).toBe(then.toISOString());
    expect((await crm.act('createAffiliate', companyId, sent)).status).toBe(200);
    expect(await row(companyId, id)).toEqual(before);
    const { status, body } = await crm.act('updateAffiliate', companyId, { affiliate_code }, id);
    expect([status, body.error]).toEqual([400, 'no field to change']);
  });

  test('404: an employee who is not an affiliate, another company’s affiliate, none', async () => {
    const companyId = newCompany();
    const ids = [
      await makeEmployee(crm.db, companyId),
      await makeAffiliate(crm.db, newCompany()),
      987_654_321,
      0,
    ];
    for (const id of ids)
      expect(await crm.act('updateAffiliate', companyId, { is_approved: true }, id)).toEqual({
        status: 404,
        body: { error: 'affiliate not found' },
      });
  });
});
