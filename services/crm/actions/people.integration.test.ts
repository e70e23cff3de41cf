import { rowOf, rowsOf } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { bootCrm } from '../testing/boot.ts';
import { eventsOf, historyOf } from '../testing/look.ts';
import { makeAffiliate, makeClient, makeEmployee, statusIds } from '../testing/make.ts';

const crm = await bootCrm();

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
let company = 1000;
const newCompany = () => ++company;

const row = async (companyId: number, clientId: number) =>
  rowOf(crm.db, 'clients', companyId, { client_id: clientId });

describe('createLead', () => {
  test('201: creates a lead with all sent fields, and its event', async () => {
    const companyId = newCompany();
    const affiliate_id = await makeAffiliate(crm.db, companyId);
    const fields = {
      ...person,
      phone: '+1 555 010 4477',
      city: 'Hampton',
      state: 'VA',
      zip: '23669',
      package_keyword: 'starter',
      affiliate_id,
      external_id: 'x-1',
    };
    const { status, body } = await crm.act('createLead', companyId, fields);
    expect(status).toBe(201);
    expect(body).toEqual({
      client_id: expect.any(Number),
      status: 'Lead - New',
      created_utc: expect.stringMatching(instant),
      version: 1,
    });
    expect(await row(companyId, body.client_id)).toMatchObject({
      ...fields,
      status_id: statusIds.leadNew,
      created_utc: new Date(body.created_utc),
    });
    expect(await eventsOf(crm.db, companyId)).toEqual([
      {
        sequence: 1,
        type: 'lead.created',
        payload: {
          client_id: body.client_id,
          ...person,
          phone: '+1 555 010 4477',
          status: 'Lead - New',
          created_date: body.created_utc,
        },
      },
    ]);
  });

  test('201: with its owner and its status, which lead.created names', async () => {
    const companyId = newCompany();
    const employee_id = await makeEmployee(crm.db, companyId);
    for (const sent of ['Lead - Contacted', statusIds.leadContacted]) {
      const lead = { ...person, employee_id, status: sent };
      const { status, body } = await crm.act('createLead', companyId, lead);
      expect([status, body.status]).toEqual([201, 'Lead - Contacted']);
      expect(await row(companyId, body.client_id)).toMatchObject({
        employee_id,
        status_id: statusIds.leadContacted,
      });
      const event = (await eventsOf(crm.db, companyId)).at(-1);
      expect(event).toMatchObject({ type: 'lead.created', payload: { status: 'Lead - Contacted' } });
    }
    expect(await historyOf(crm.db, companyId)).toEqual([]);
  });

  test('200: on a lead it sets a sent status, with history and without an event', async () => {
    const companyId = newCompany();
    const create = (more: object) =>
      crm.act('createLead', companyId, { ...person, external_id: 'x', ...more });
    const { client_id } = (await create({})).body;
    expect((await create({ status: 'lead - contacted' })).body.status).toBe('Lead - Contacted');
    expect((await create({ status: null, employee_id: null })).body.status).toBe('Lead - Contacted');
    expect(await historyOf(crm.db, companyId)).toMatchObject([
      { client_id, from_status_id: statusIds.leadNew, to_status_id: statusIds.leadContacted },
    ]);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });

  test('400: a status of clients, an unknown one, an owner of another company', async () => {
    const companyId = newCompany();
    const employee_id = await makeEmployee(crm.db, newCompany());
    const affiliate = await makeAffiliate(crm.db, companyId);
    for (const [more, code, error] of [
      [{ status: 'Client - Active' }, 'wrong_kind', 'status must be a lead status'],
      [{ status: 424_242 }, 'not_found', expect.stringContaining('none has the ID 424242')],
      [{ employee_id }, 'not_found', expect.stringContaining(`there is no employee ${employee_id}`)],
      [{ employee_id: affiliate }, 'wrong_kind', expect.stringContaining(`${affiliate} is an affiliate`)],
    ] as const) {
      const { status, body } = await crm.act('createLead', companyId, { ...person, ...more });
      const [field] = Object.keys(more);
      expect([status, body]).toEqual([400, { error, details: [{ field, code, message: error }] }]);
    }
    expect(await eventsOf(crm.db, companyId)).toEqual([]);
  });

  test('200: a known external_id updates the sent fields of that record', async () => {
    const companyId = newCompany();
    const first = await crm.act('createLead', companyId, { ...person, city: 'Hampton', external_id: 'x' });
    // On a create null counts as absent, so it clears no field.
    const again = { ...person, last_name: 'Goble', city: null, external_id: 'x' };
    const second = await crm.act('createLead', companyId, again);
    expect(second).toEqual({ status: 200, body: { ...first.body, version: 2 } });
    expect(await row(companyId, first.body.client_id)).toMatchObject({ last_name: 'Goble', city: 'Hampton' });
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });

  test('200: on a client it updates the fields and leaves the status', async () => {
    const companyId = newCompany();
    const client = await crm.act('createClient', companyId, { ...person, external_id: 'x' });
    const fields = { ...person, first_name: 'Kat', package_keyword: 'pro', external_id: 'x' };
    const lead = { ...fields, status: 'Lead - New' };
    expect(await crm.act('createLead', companyId, lead)).toEqual({
      status: 200,
      body: { ...client.body, version: 2 },
    });
    expect(client.body.status).toBe('Client - Active');
    expect(await row(companyId, client.body.client_id)).toMatchObject({
      first_name: 'Kat',
      package_keyword: 'pro',
      status_id: statusIds.clientActive,
    });
  });

  test('an external_id belongs to its company, and is case-sensitive', async () => {
    const [one, other] = [newCompany(), newCompany()];
    const made = await Promise.all([
      crm.act('createLead', one, { ...person, external_id: 'x' }),
      crm.act('createLead', other, { ...person, external_id: 'x' }),
      crm.act('createLead', one, { ...person, external_id: 'X' }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(made.map(({ body }) => body.client_id)).size).toBe(3);
  });

  test('400: an affiliate must be an active one of the company', async () => {
    const [companyId, other] = [newCompany(), newCompany()];
    const foreign = await makeAffiliate(crm.db, other);
    const inactive = await makeAffiliate(crm.db, companyId, { is_active: 0 });
    const employee = await makeEmployee(crm.db, companyId);
    for (const [affiliate_id, code, fault] of [
      [foreign, 'not_found', `there is no affiliate ${foreign}`],
      [inactive, 'inactive', `${inactive} is inactive`],
      [employee, 'wrong_kind', `${employee} is an employee, not an affiliate`],
      [999_999, 'not_found', 'there is no affiliate 999999'],
    ] as const) {
      const { status, body } = await crm.act('createLead', companyId, { ...person, affiliate_id });
      const error = `affiliate_id must be an active affiliate of the company: ${fault}`;
      expect([status, body.error]).toEqual([400, error]);
      expect(body.details).toEqual([{ field: 'affiliate_id', code, message: body.error }]);
    }
  });
});

describe('createClient', () => {
  test('201: without a status it is the default, and client.created has the specified shape', async () => {
    const companyId = newCompany();
    const { status, body } = await crm.act('createClient', companyId, person);
    expect([status, body.status]).toEqual([201, 'Client - Active']);
    const [event] = await eventsOf(crm.db, companyId);
    expect(event?.type).toBe('client.created');
    expect(Object.entries(event?.payload ?? {})).toEqual([
      ['client_id', body.client_id],
      ['first_name', 'Katherine'],
      ['last_name', 'Johnson'],
      ['email', 'katherine@example.com'],
      ['phone', ''],
      ['status', 'Client - Active'],
      ['created_date', body.created_utc],
    ]);
  });

  test('the default is what the company has configured', async () => {
    const companyId = newCompany();
    await crm.db
      .insertInto('company_settings')
      .values({ company_id: companyId, default_client_status_id: statusIds.clientPaused })
      .execute();
    expect((await crm.act('createClient', companyId, person)).body.status).toBe('Client - Paused');
    expect((await crm.act('createClient', newCompany(), person)).body.status).toBe('Client - Active');
  });

  test.each([
    ['its name', 'Client - Paused'],
    ['its name in another case', 'CLIENT - paused'],
    ['its id', statusIds.clientPaused],
    ['its id as text', String(statusIds.clientPaused)],
  ])('201: accepts a status by %s', async (_, status) => {
    const { body } = await crm.act('createClient', newCompany(), { ...person, status });
    expect(body.status).toBe('Client - Paused');
  });

  test('accepts only statuses of its company', async () => {
    const [companyId, other] = [newCompany(), newCompany()];
    await crm.db
      .insertInto('statuses')
      .values([
        { company_id: companyId, status_name: 'Client - VIP' },
        { company_id: companyId, status_name: 'Client - Old', is_active: 0 },
      ])
      .execute();
    const vip = { ...person, status: 'client - vip' };
    expect((await crm.act('createClient', companyId, vip)).body.status).toBe('Client - VIP');
    const { status_id } = await rowOf(crm.db, 'statuses', companyId, { status_name: 'Client - VIP' });
    for (const [where, status, reason] of [
      [other, 'Client - VIP', 'none is named "Client - VIP";'],
      [companyId, 'vip', `none is named "vip"; did you mean "Client - VIP" (${status_id})?`],
      [other, 'vip', 'none is named "vip";'],
      [companyId, 'client active', 'none is named "client active"; did you mean "Client - Active" (20)?'],
      [companyId, 'new', 'none is named "new";'],
      [companyId, 'Client - Old', 'none is named "Client - Old";'],
      [companyId, 'Client - Nothing', 'none is named "Client - Nothing";'],
      [companyId, 424_242, 'none has the ID 424242;'],
    ] as const) {
      const { status: code, body } = await crm.act('createClient', where, { ...person, status });
      const error = `status must be a valid status of the company: ${reason} GET /integrations/lookups/client-statuses lists them`;
      expect([code, body.error]).toEqual([400, error]);
    }
  });

  test('400: a lead status', async () => {
    const { status, body } = await crm.act('createClient', newCompany(), { ...person, status: 'Lead - New' });
    expect([status, body.error]).toEqual([400, 'status must not be a lead status']);
  });

  test('200: converts a lead, with history and event', async () => {
    const companyId = newCompany();
    const lead = await crm.act('createLead', companyId, { ...person, external_id: 'x' });
    const client = await crm.act('createClient', companyId, { ...person, email: 'k@b.co', external_id: 'x' });
    expect(client.status).toBe(200);
    expect(client.body).toEqual({ ...lead.body, status: 'Client - Active', version: 2 });
    expect(await historyOf(crm.db, companyId)).toMatchObject([
      {
        client_id: lead.body.client_id,
        from_status_id: statusIds.leadNew,
        to_status_id: statusIds.clientActive,
      },
    ]);
    const events = await eventsOf(crm.db, companyId);
    expect(events.map(({ type }) => type)).toEqual(['lead.created', 'client.status_changed']);
    expect(events[1]?.payload).toMatchObject({
      client_id: lead.body.client_id,
      previous_status: 'Lead - New',
      new_status: 'Client - Active',
    });
  });

  test('200: on a client sets a sent status, and keeps the status otherwise', async () => {
    const companyId = newCompany();
    const make = (more: object) =>
      crm.act('createClient', companyId, { ...person, external_id: 'x', ...more });
    expect((await make({ status: 'Client - Paused' })).status).toBe(201);
    expect(await make({})).toMatchObject({ status: 200, body: { status: 'Client - Paused' } });
    expect(await make({ status: 'Client - Active' })).toMatchObject({ body: { status: 'Client - Active' } });
    expect((await eventsOf(crm.db, companyId)).map(({ type }) => type)).toEqual([
      'client.created',
      'client.status_changed',
    ]);
  });
});

describe.each([
  ['updateLead', 'lead', statusIds.leadNew],
  ['updateClient', 'client', statusIds.clientActive],
] as const)('%s', (operation, what, statusId) => {
  const other = what === 'lead' ? statusIds.clientActive : statusIds.leadNew;

  test('200: changes sent fields, clears those that are null, keeps the rest, emits no event', async () => {
    const companyId = newCompany();
    const employee_id = await makeEmployee(crm.db, companyId);
    const id = await makeClient(crm.db, companyId, {
      status_id: statusId,
      city: 'A',
      phone: '123',
      zip: '9',
    });
    const sent = { client_id: id, first_name: 'New', city: null, employee_id, external_id: 'e' };
    const { status, body } = await crm.act(operation, companyId, sent, id);
    expect(status).toBe(200);
    const updated_utc = expect.stringMatching(instant);
    expect(body).toEqual({ success: true, updated_utc, client_id: id, version: 2 });
    expect(await row(companyId, id)).toMatchObject({
      first_name: 'New',
      last_name: 'Lee',
      city: null,
      phone: '123',
      zip: '9',
      employee_id,
      external_id: 'e',
      updated_utc: new Date(body.updated_utc),
    });
    expect(await eventsOf(crm.db, companyId)).toEqual([]);
  });

  test(`404: a record that is not a ${what} of the company`, async () => {
    const companyId = newCompany();
    const foreign = await makeClient(crm.db, newCompany(), { status_id: statusId });
    const wrongKind = await makeClient(crm.db, companyId, { status_id: other });
    for (const id of [foreign, 987_654_321, 0, -1, 'abc', '9'.repeat(17)]) {
      const { status, body } = await crm.act(operation, companyId, { city: 'X' }, id);
      expect([id, status, body]).toEqual([id, 404, { error: `${what} not found` }]);
    }
    const refused = await crm.act(operation, companyId, { city: 'X' }, wrongKind);
    const path = '/integrations/clients/';
    const instead =
      what === 'lead'
        ? `client; use PATCH ${path}${wrongKind}`
        : `lead; use PATCH /integrations/leads/${wrongKind}, or convert it with PATCH ${path}${wrongKind}/status`;
    const error = `${what} not found: ${wrongKind} is a ${instead}`;
    expect([refused.status, refused.body]).toEqual([404, { error }]);
    expect((await row(companyId, wrongKind)).city).toBeNull();
  });

  test('400: nothing sent, an id that is not the path’s, a required field cleared', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId, { status_id: statusId });
    for (const [sent, message] of [
      [{}, 'no field to change'],
      [{ client_id: id }, 'no field to change'],
      [{ client_id: id, status: what === 'lead' ? 'Lead - New' : 'Client - Active' }, 'no field to change'],
      [{ city: 'X', client_id: id + 1 }, 'client_id must equal the one in the path'],
      [{ first_name: null }, 'first_name is required'],
      [
        { status: 'Lead - Lost', city: 'X' },
        `status cannot be changed here; use PATCH /integrations/${what}s/${id}/status`,
      ],
      [{ state: 'X', statu: 'Lead - New' }, 'unknown field: statu'],
    ] as const) {
      const { status, body } = await crm.act(operation, companyId, sent, id);
      expect([status, body.error]).toEqual([400, message]);
    }
  });

  test('200: without a change of value, nothing is written', async () => {
    const companyId = newCompany();
    const then = new Date('2026-01-15T09:30:00.123Z');
    const own = { status_id: statusId, phone: '555 0101', external_id: 'e', updated_utc: then };
    const id = await makeClient(crm.db, companyId, own);
    await crm.db.deleteFrom('client_search_pending').where('company_id', '=', companyId).execute();
    const before = await row(companyId, id);
    const { first_name, email } = before;
    const same = { first_name, email: ` ${email}`, phone: '555 0101', city: null, external_id: 'e' };
    expect(await crm.act(operation, companyId, same, id)).toEqual({
      status: 200,
      body: { success: true, updated_utc: then.toISOString(), client_id: id, version: 1 },
    });
    const { last_name } = before;
    const again = { first_name, last_name, email, external_id: 'e' };
    const create = what === 'lead' ? 'createLead' : 'createClient';
    expect((await crm.act(create, companyId, again)).status).toBe(200);
    expect(await row(companyId, id)).toEqual(before);
    const pending = await rowsOf(crm.db, 'client_search_pending', companyId);
    expect([pending, await eventsOf(crm.db, companyId)]).toEqual([[], []]);
    // A call of the same group that changes a value is written.
    const [unchanged, changed] = await Promise.all(
      [{ email }, { email: 'new@example.com' }].map((sent) => crm.act(operation, companyId, sent, id)),
    );
    expect([unchanged!.status, changed!.status]).toEqual([200, 200]);
    expect(await row(companyId, id)).toMatchObject({ updated_utc: new Date(changed!.body.updated_utc) });
  });

  test('a found record can be edited and sent back whole; fields that cannot be set are reported once', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId, { status_id: statusId, phone: '555 0101' });
    const find = what === 'lead' ? 'findLeads' : 'findClients';
    const [found] = (await crm.ask(find, companyId, { client_id: String(id) })).body.clients;
    const edited = { ...found, last_name: 'Edited', created_utc: found.created_utc.replace('Z', '+00:00') };
    expect((await crm.act(operation, companyId, edited, id)).status).toBe(200);
    expect(await row(companyId, id)).toMatchObject({ last_name: 'Edited', phone: '555 0101' });
    const wrong = { ...edited, city: 'X', is_lead: !found.is_lead, created_utc: '2020-01-01T00:00:00Z' };
    expect((await crm.act(operation, companyId, wrong, id)).body.details).toEqual([
      { field: 'is_lead', code: 'read_only', message: 'is_lead cannot be changed here' },
      { field: 'created_utc', code: 'read_only', message: 'created_utc cannot be changed here' },
    ]);
    expect((await crm.act(operation, companyId, { ...edited, client_id: id + 1 }, id)).body.details).toEqual([
      { field: 'client_id', code: 'must_agree', message: 'client_id must equal the one in the path' },
    ]);
    expect((await row(companyId, id)).city).toBeNull();
  });

  test('400: an employee or affiliate of another company, before the record is looked up', async () => {
    const companyId = newCompany();
    const employee_id = await makeEmployee(crm.db, newCompany());
    const affiliate_id = await makeAffiliate(crm.db, newCompany());
    const { status, body } = await crm.act(operation, companyId, { employee_id, affiliate_id }, 5);
    expect(status).toBe(400);
    expect(body.details).toEqual([
      {
        field: 'employee_id',
        code: 'not_found',
        message: `employee_id must be an active employee of the company: there is no employee ${employee_id}`,
      },
      {
        field: 'affiliate_id',
        code: 'not_found',
        message: `affiliate_id must be an active affiliate of the company: there is no affiliate ${affiliate_id}`,
      },
    ]);
  });

  test('400: the external_id of another record; its own may be set again', async () => {
    const companyId = newCompany();
    const holder = await makeClient(crm.db, companyId, { status_id: statusId, external_id: 'taken' });
    const id = await makeClient(crm.db, companyId, { status_id: statusId, external_id: 'mine' });
    const { status, body } = await crm.act(operation, companyId, { external_id: 'taken', city: 'X' }, id);
    const error = `external_id is already in use by client_id ${holder}`;
    expect([status, body]).toEqual([
      400,
      {
        error,
        details: [{ field: 'external_id', code: 'in_use', message: error, conflicting_client_id: holder }],
      },
    ]);
    expect(await row(companyId, id)).toMatchObject({ external_id: 'mine', city: null });
    expect((await crm.act(operation, companyId, { external_id: 'mine' }, id)).status).toBe(200);
    expect((await crm.act(operation, companyId, { external_id: null }, id)).status).toBe(200);
    expect((await row(companyId, id)).external_id).toBeNull();
  });
});

describe.each([
  ['updateLeadStatus', statusIds.leadNew, 'Lead - New', 'Lead - Contacted', statusIds.leadContacted],
  [
    'updateClientStatus',
    statusIds.clientActive,
    'Client - Active',
    'Client - Paused',
    statusIds.clientPaused,
  ],
] as const)('%s', (operation, fromId, from, to, toId) => {
  const isLead = operation === 'updateLeadStatus';
  const foreignName = isLead ? 'Client - Active' : 'Lead - New';

  test.each([
    ['name', { new_status: to.toUpperCase() }],
    ['id', { new_status_id: toId }],
    ['both, agreeing', { new_status: to, new_status_id: toId }],
  ])('200: by %s, with its history', async (_, reference) => {
    const companyId = newCompany();
    const changed_by_employee_id = await makeEmployee(crm.db, companyId);
    const id = await makeClient(crm.db, companyId, { status_id: fromId });
    const reason = { changed_by_employee_id, status_note: 'Called back.' };
    const { status, body } = await crm.act(operation, companyId, { ...reference, ...reason }, id);
    expect([status, body]).toEqual([
      200,
      { previous_status: from, new_status: to, updated_utc: expect.stringMatching(instant), version: 2 },
    ]);
    expect((await row(companyId, id)).status_id).toBe(toId);
    expect(await historyOf(crm.db, companyId)).toEqual([
      {
        client_id: id,
        from_status_id: fromId,
        to_status_id: toId,
        ...reason,
        changed_utc: new Date(body.updated_utc),
      },
    ]);
    const events = await eventsOf(crm.db, companyId);
    if (isLead) expect(events).toEqual([]);
    else
      expect(events).toEqual([
        {
          sequence: 1,
          type: 'client.status_changed',
          payload: {
            client_id: id,
            previous_status: from,
            new_status: to,
            ...reason,
            changed_date: body.updated_utc,
          },
        },
      ]);
  });

  test('200: the current status changes nothing', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId, { status_id: fromId });
    const { updated_utc } = await row(companyId, id);
    const answer = await crm.act(operation, companyId, { new_status: from }, id);
    expect(answer).toEqual({
      status: 200,
      body: { previous_status: from, new_status: from, updated_utc: updated_utc.toISOString(), version: 1 },
    });
    expect(await historyOf(crm.db, companyId)).toEqual([]);
    expect(await eventsOf(crm.db, companyId)).toEqual([]);
  });

  test('200: a note sent with the current status becomes a note of the record, without an event', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId, { status_id: fromId });
    const sent = { new_status: from, new_status_id: null, status_note: 'Called back.' };
    expect((await crm.act(operation, companyId, sent, id)).status).toBe(200);
    const notes = await rowsOf(crm.db, 'client_notes', companyId);
    expect(notes).toMatchObject([
      { client_id: id, text: 'Called back.', note_type: 'status', visibility: 'internal', external_id: null },
    ]);
    expect(await historyOf(crm.db, companyId)).toEqual([]);
    expect(await eventsOf(crm.db, companyId)).toEqual([]);
  });

  test('400: no status, one of the other kind, one of another company, or two that differ', async () => {
    const companyId = newCompany();
    const id = await makeClient(crm.db, companyId, { status_id: fromId });
    const employee = await makeEmployee(crm.db, newCompany());
    for (const [sent, message] of [
      [{}, 'new_status or new_status_id is required'],
      [{ new_status: foreignName }, `new_status must ${isLead ? 'be' : 'not be'} a lead status`],
      [
        { new_status_id: 424_242 },
        'new_status_id must be a valid status of the company: none has the ID 424242; GET /integrations/lookups/client-statuses lists them',
      ],
      [{ new_status: to, new_status_id: fromId }, 'new_status and new_status_id must agree'],
      [
        { new_status: to, changed_by_employee_id: employee },
        `changed_by_employee_id must be an active employee of the company: there is no employee ${employee}`,
      ],
    ] as const) {
      const { status, body } = await crm.act(operation, companyId, sent, id);
      expect([status, body.error]).toEqual([400, message]);
    }
    expect(await historyOf(crm.db, companyId)).toEqual([]);
  });

  test('404: no such record in the company', async () => {
    const companyId = newCompany();
    const foreign = await makeClient(crm.db, newCompany(), { status_id: fromId });
    for (const id of [foreign, 987_654_321, 'x']) {
      const { status } = await crm.act(operation, companyId, { new_status: to }, id);
      expect(status).toBe(404);
    }
  });
});

test('updateLeadStatus: a client is not a lead (404)', async () => {
  const companyId = newCompany();
  const id = await makeClient(crm.db, companyId);
  const answer = await crm.act('updateLeadStatus', companyId, { new_status: 'Lead - New' }, id);
  const error = `lead not found: ${id} is a client; use PATCH /integrations/clients/${id}/status`;
  expect(answer).toEqual({ status: 404, body: { error } });
});

test('updateClientStatus: converts a lead', async () => {
  const companyId = newCompany();
  const id = await makeClient(crm.db, companyId, { status_id: statusIds.leadContacted });
  const { body } = await crm.act(
    'updateClientStatus',
    companyId,
    { new_status_id: statusIds.clientActive },
    id,
  );
  expect(body).toMatchObject({ previous_status: 'Lead - Contacted', new_status: 'Client - Active' });
  expect((await eventsOf(crm.db, companyId)).map(({ type }) => type)).toEqual(['client.status_changed']);
  expect((await crm.act('updateLead', companyId, { city: 'X' }, id)).status).toBe(404);
  expect((await crm.act('updateClient', companyId, { city: 'X' }, id)).status).toBe(200);
});
