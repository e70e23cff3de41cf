import { setTimeout as sleep } from 'node:timers/promises';
import { type OperationId, recordTypes } from '@causeway/proto';
import type { LaneCall } from '@causeway/runtime';
import { rowsOf } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { bootCrm, newCallId, type Written } from '../testing/boot.ts';
import { eventsOf } from '../testing/look.ts';
import { makeAffiliate, makeClient, makeEmployee, statusIds } from '../testing/make.ts';
import { testRunner } from '../testing/runner.ts';
import { personActions } from './people.ts';

const crm = await bootCrm({ replicas: 2 });
const act = crm.write;

let company = 9000;
const newCompany = () => ++company;

const personOf = (at: number | string, more: object = {}) => ({
  first_name: 'Person',
  last_name: `Number ${at}`,
  email: `person${at}@example.com`,
  ...more,
});
const people = (count: number) =>
  Array.from({ length: count }, (_, at) => personOf(at, { external_id: `ext-${at}` }));
const statusesOf = ({ body }: Written): readonly number[] =>
  body.results.map(({ status }: { status: number }) => status);
const clientsOf = (companyId: number) =>
  crm.db
    .selectFrom('clients')
    .selectAll()
    .where('company_id', '=', companyId)
    .orderBy('created_utc')
    .orderBy('client_id')
    .execute();

/** One after the other, as the operations for one record answer. */
const singly = async (
  operation: OperationId,
  companyId: number,
  items: readonly { readonly body: object; readonly id?: number }[],
) => {
  const answers: { status: number; body: unknown }[] = [];
  for (const { body, id } of items) answers.push(await crm.act(operation, companyId, body, id));
  return answers;
};

test('each item is answered as the operation for one record answers, with its event and change, in order', async () => {
  const [batched, single] = [newCompany(), newCompany()];
  const items = [
    ...people(60),
    personOf('wrong', { email: 'none', nickname: 'x', employee_id: 99_999 }),
    personOf('missing', { employee_id: 99_999 }),
    personOf('status', { status: 'Lead - Contacted' }),
    personOf('no status', { status: 'Nothing' }),
    {},
  ];
  const got = await act('batchLeads', batched, { mode: 'create', items });
  const expected = await singly(
    'createLead',
    single,
    items.map((body) => ({ body })),
  );
  expect(got.status).toBe(200);
  const told = (answers: readonly { status: number; body: unknown }[]) =>
    answers.map(({ status, body }) => ({
      status,
      body: { ...(body as object), client_id: 0, created_utc: '' },
    }));
  expect(told(got.body.results)).toEqual(told(expected));
  expect(got.body.results.map(({ index }: { index: number }) => index)).toEqual(items.map((_, at) => at));
  expect(got.body.results.flatMap(({ dropped }: { dropped: unknown[] }) => dropped)).toEqual([]);

  const events = await eventsOf(crm.db, batched);
  const ids = got.body.results.flatMap(({ body }: Written) => body.client_id ?? []);
  expect(events.map(({ payload }) => payload.client_id)).toEqual(ids);
  expect(events.map(({ sequence }) => sequence)).toEqual(ids.map((_: number, at: number) => at + 1));
  const { body } = await crm.ask('listChanges', batched, { limit: '1000' });
  expect(body.changes.map(({ id }: { id: number }) => id)).toEqual(ids);
});

test('the events of a group are numbered in the order of its calls, also if one waits for another of them', async () => {
  const companyId = newCompany();
  const runner = testRunner(crm.db);
  const { lead, client } = personActions;
  const submit = (action: typeof lead.create, externalId: string) =>
    runner.submit(
      action,
      { companyId, body: personOf(0, { external_id: externalId }) as never, recordId: 0, origin: 'key:1' },
      performance.now() + 60_000,
    );
  await Promise.all([submit(lead.create, 'x'), submit(client.create, 'x'), submit(client.create, 'y')]);
  expect((await eventsOf(crm.db, companyId)).map(({ type }) => type)).toEqual([
    'lead.created',
    'client.status_changed',
    'client.created',
  ]);
});

test('updates take the id among the fields; upserts update items that have one, and create the others', async () => {
  const companyId = newCompany();
  const lead = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
  const other = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
  const client = await makeClient(crm.db, companyId);
  const stranger = await makeClient(crm.db, newCompany());
  const updated = await act('batchLeads', companyId, {
    mode: 'update',
    items: [
      { client_id: lead, city: 'Graz' },
      { client_id: client, city: 'Graz' },
      { client_id: stranger, city: 'Graz' },
      { city: 'Graz' },
      { client_id: `${other}`, city: 'Graz' },
      { client_id: 0, city: 'Graz' },
      { client_id: other },
      { client_id: other, city: 'Linz' },
    ],
  });
  expect(statusesOf(updated)).toEqual([200, 404, 404, 400, 400, 400, 400, 200]);
  expect(updated.body.results[0].body).toMatchObject({ success: true, client_id: lead });
  expect(updated.body.results.slice(3, 7).map(({ body }: Written) => body.details[0])).toMatchObject([
    { field: 'client_id', code: 'required' },
    { field: 'client_id', code: 'wrong_kind' },
    { field: 'client_id', code: 'out_of_range' },
    { field: 'body', code: 'empty_update' },
  ]);
  const upserted = await act('batchLeads', companyId, {
    mode: 'upsert',
    items: [
      { client_id: lead, city: 'Wien' },
      personOf('new', { external_id: 'u-1', client_id: null }),
      personOf('newer'),
    ],
  });
  expect(statusesOf(upserted)).toEqual([200, 201, 201]);
  const again = await act('batchLeads', companyId, {
    mode: 'upsert',
    items: [personOf('new', { external_id: 'u-1', city: 'Linz' })],
  });
  expect(again.body.results[0]).toMatchObject({
    status: 200,
    body: { client_id: upserted.body.results[1].body.client_id },
  });
  const created = await act('batchLeads', companyId, {
    mode: 'create',
    items: [personOf('id', { client_id: lead })],
  });
  expect(created.body.results[0].body.details).toMatchObject([{ field: 'client_id', code: 'unknown_field' }]);
});

test('affiliates and notes', async () => {
  const companyId = newCompany();
  const affiliate = await makeAffiliate(crm.db, companyId);
  const affiliates = await act('batchAffiliates', companyId, {
    mode: 'upsert',
    items: [personOf('a', { commission_rate: 5 }), { employee_id: affiliate, is_approved: true }],
  });
  expect(statusesOf(affiliates)).toEqual([201, 200]);
  expect(affiliates.body.results[0].body).toMatchObject({ is_approved: false });

  const client = await makeClient(crm.db, companyId);
  const notes = await act('batchNotes', companyId, {
    mode: 'create',
    items: [
      { client_id: client, text: 'First' },
      { client_id: client, text: 'Second', external_id: 'n-1' },
      { client_id: 999_999, text: 'Third' },
      { text: 'Fourth' },
      { client_id: client, text: 'Fifth', external_id: 'n-1' },
    ],
  });
  expect(statusesOf(notes)).toEqual([201, 201, 404, 400, 409]);
  const update = await act('batchNotes', companyId, { mode: 'update', items: [{}] });
  expect([update.status, update.body.details]).toMatchObject([
    400,
    [{ field: 'mode', code: 'out_of_range' }],
  ]);
});

test('the second of two items of one record is refused before anything is written', async () => {
  const companyId = newCompany();
  const lead = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
  const { body } = await act('batchLeads', companyId, {
    mode: 'upsert',
    items: [
      { client_id: lead, city: 'Graz' },
      { client_id: lead, city: 'Linz' },
      personOf(1, { external_id: 'd-1' }),
      personOf(2, { external_id: ' d-1 ' }),
      // A family shares an address, and each has a name in the other system.
      personOf(1, { external_id: 'D-1' }),
      // This could be either of them.
      personOf(1, { email: 'PERSON1@example.com' }),
      personOf(3),
      personOf(3, { email: 'Person3@EXAMPLE.com' }),
      personOf(3, { external_id: 'd-3' }),
      // The first of the two was refused.
      personOf(4, { email: 'none', external_id: 'd-4' }),
      personOf(4, { external_id: 'd-4' }),
    ],
  });
  const refused = { reason: 'duplicate_item' };
  expect(body.results.map(({ status, body: { reason } }: Written) => ({ status, reason }))).toMatchObject([
    { status: 200 },
    { status: 409, ...refused },
    { status: 201 },
    { status: 409, ...refused },
    { status: 201 },
    { status: 409, ...refused },
    { status: 201 },
    { status: 409, ...refused },
    { status: 409, ...refused },
    { status: 400 },
    { status: 201 },
  ]);
  expect(body.results[3].body.error).toBe('item 2 of the batch names the same record');
  expect(await clientsOf(companyId)).toHaveLength(5);
  const [kept] = await clientsOf(companyId);
  expect([kept!.city, kept!.version]).toEqual(['Graz', 2]);
});

describe('drop_optional', () => {
  const dropped = (got: Written) =>
    got.body.results.map((one: { dropped: readonly { field: string; code: string }[] }) =>
      one.dropped.map(({ field, code }) => `${field} ${code}`),
    );

  test('leaves out what is not valid, references too, and names it; a required field refuses the item', async () => {
    const companyId = newCompany();
    const employee = await makeEmployee(crm.db, companyId, { is_active: 0 });
    const lead = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
    const items = [
      personOf(1, { phone: 'none', city: 'Graz', nickname: 'x' }),
      personOf(2, { employee_id: employee, status: 'Nothing', affiliate_id: 7.5 }),
      personOf(3, { email: 'none', city: 7 }),
      { client_id: lead, status: 'Client - Active', employee_id: employee, zip: '8010' },
      { client_id: lead + 1_000_000, zip: 8010 },
      personOf(4),
      // Without its external_id it would be another record.
      personOf(5, { external_id: 'x'.repeat(101) }),
    ];
    const got = await act('batchLeads', companyId, { mode: 'upsert', invalid: 'drop_optional', items });
    expect(statusesOf(got)).toEqual([201, 201, 400, 200, 400, 201, 400]);
    expect(dropped(got)).toEqual([
      ['nickname unknown_field', 'phone phone_invalid'],
      ['affiliate_id wrong_kind', 'employee_id inactive', 'status not_found'],
      [],
      ['employee_id inactive', 'status wrong_kind'],
      [],
      [],
      [],
    ]);
    const rows = await clientsOf(companyId);
    expect(rows.map(({ city, zip, phone, employee_id }) => [city, zip, phone, employee_id])).toEqual([
      [null, '8010', null, null],
      ['Graz', null, null, null],
      [null, null, null, null],
      [null, null, null, null],
    ]);
  });

  test('a repetition names what was left out the first time', async () => {
    const companyId = newCompany();
    const employee = await makeEmployee(crm.db, companyId, { is_active: 0 });
    const batch = {
      mode: 'create',
      invalid: 'drop_optional',
      items: [personOf(1, { employee_id: employee })],
    };
    const callId = newCallId();
    const first = await act('batchLeads', companyId, batch, { callId });
    await crm.db.updateTable('employees').set({ is_active: 1 }).where('company_id', '=', companyId).execute();
    const again = await act('batchLeads', companyId, batch, { callId, again: true });
    expect([again.text, dropped(again)]).toEqual([first.text, [['employee_id inactive']]]);
    expect(await clientsOf(companyId)).toHaveLength(1);
  });
});

describe('a batch that is sent again', () => {
  const keyed = (idempotencyKey = 'import-7'): Partial<LaneCall> => ({ idempotencyKey });
  const batchOf = (count: number, more: readonly object[] = []) => ({
    mode: 'create',
    items: [...Array.from({ length: count }, (_, at) => personOf(at)), ...more],
  });

  test('by the gateway: each item gets its first answer', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const batch = batchOf(40, [{}]);
    const first = await act('batchClients', companyId, batch, { callId });
    const again = await act('batchClients', companyId, batch, { callId, again: true });
    expect(again).toEqual(first);
    expect(await clientsOf(companyId)).toHaveLength(40);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(40);
  });

  test('by the client with its key: the first answer whole, also where an item was refused', async () => {
    const companyId = newCompany();
    const batch = batchOf(40, [personOf('x', { status: 'Client - Coming' })]);
    const first = await act('batchClients', companyId, batch, keyed());
    expect(statusesOf(first).at(-1)).toBe(400);
    await crm.db
      .insertInto('statuses')
      .values({ company_id: companyId, status_name: 'Client - Coming' } as never)
      .execute();
    const again = await act('batchClients', companyId, batch, keyed());
    expect([again.status, again.text, again.isReplayed]).toEqual([200, first.text, true]);
    expect(first.isReplayed).toBe(false);
    expect(await clientsOf(companyId)).toHaveLength(40);

    const [other] = batch.items;
    for (const [operation, body] of [
      ['batchClients', batchOf(41)],
      ['batchLeads', batch],
      ['createClient', other],
    ] as const) {
      const refused = await act(operation, companyId, body, keyed());
      expect([refused.status, refused.body.reason]).toEqual([422, 'idempotency_key_reused']);
    }
    expect(await clientsOf(companyId)).toHaveLength(40);
  });

  test('after it was interrupted: what was done is answered, the rest is done, and another request is refused', async () => {
    const companyId = newCompany();
    const batch = batchOf(100);
    const first = await act('batchClients', companyId, batch, keyed());
    // As a crash leaves it: neither the whole answer is stored nor the second half done.
    const rows = await clientsOf(companyId);
    const half = rows.slice(50).map(({ client_id }) => client_id);
    await crm.db
      .deleteFrom('clients')
      .where('company_id', '=', companyId)
      .where('client_id', 'in', half)
      .execute();
    const stored = await rowsOf(crm.db, 'idempotency_keys', companyId);
    expect(stored).toHaveLength(101);
    const lost = stored.filter(({ answer }) => {
      const { client_id, results } = JSON.parse(String(answer));
      return results !== undefined || half.includes(client_id);
    });
    expect(lost).toHaveLength(51);
    await crm.db
      .deleteFrom('idempotency_keys')
      .where('company_id', '=', companyId)
      .where(
        'idempotency_key',
        'in',
        lost.map(({ idempotency_key }) => idempotency_key),
      )
      .execute();
    const different = await act('batchClients', companyId, batchOf(1), keyed());
    expect([different.status, different.body.reason]).toEqual([422, 'idempotency_key_reused']);
    expect(await clientsOf(companyId)).toHaveLength(50);

    const again = await act('batchClients', companyId, batch, keyed());
    expect([again.status, again.isReplayed]).toEqual([200, false]);
    expect(again.body.results.slice(0, 50)).toEqual(first.body.results.slice(0, 50));
    expect(statusesOf(again)).toEqual(Array(100).fill(201));
    expect(await clientsOf(companyId)).toHaveLength(100);
    const third = await act('batchClients', companyId, batch, keyed());
    expect([third.text, third.isReplayed]).toEqual([again.text, true]);
  });

  test('ten times at once to two replicas: each item is carried out once', async () => {
    const companyId = newCompany();
    const batch = batchOf(60);
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        await sleep(at * 3);
        return act('batchClients', companyId, batch, keyed('at-once'));
      }),
    );
    for (const { status, body } of answers)
      if (status !== 200) expect([status, body.reason]).toEqual([409, 'idempotency_in_progress']);
    const last = await act('batchClients', companyId, batch, keyed('at-once'));
    expect(statusesOf(last)).toEqual(Array(60).fill(201));
    for (const given of answers.filter(({ status }) => status === 200)) expect(given.text).toBe(last.text);
    expect(await clientsOf(companyId)).toHaveLength(60);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(60);
  });
});

test('items that were not begun in time say so, and the same key carries them out', async () => {
  const companyId = newCompany();
  const batch = { mode: 'create', items: Array.from({ length: 100 }, (_, at) => personOf(at)) };
  const late = await act('batchLeads', companyId, batch, { idempotencyKey: 'late', budgetMs: 5_001 });
  expect(late.status).toBe(200);
  expect(statusesOf(late)).toContain(503);
  const refused = late.body.results.filter(({ status }: Written) => status === 503);
  for (const { body } of refused) expect(body.reason).toBe('not_started');
  expect(await clientsOf(companyId)).toHaveLength(100 - refused.length);
  const again = await act('batchLeads', companyId, batch, { idempotencyKey: 'late' });
  expect(statusesOf(again)).toEqual(Array(100).fill(201));
  expect(await clientsOf(companyId)).toHaveLength(100);
});

test('batches of many companies beside single creates: each has its own records, and all are carried out', async () => {
  const companies = Array.from({ length: 12 }, newCompany);
  const batches = companies.map((companyId) =>
    act('batchClients', companyId, { mode: 'create', items: people(50) }),
  );
  const singles = companies.map((companyId) =>
    act('createClient', companyId, personOf(0, { external_id: 'ext-0' })),
  );
  for (const got of await Promise.all(batches))
    expect(statusesOf(got).every((status) => status === 201 || status === 200)).toBe(true);
  for (const { status } of await Promise.all(singles)) expect([200, 201]).toContain(status);
  for (const companyId of companies) {
    expect(await clientsOf(companyId)).toHaveLength(50);
    const { body } = await crm.ask('listChanges', companyId, {
      limit: '1000',
      types: recordTypes.join(','),
    });
    expect(body.changes).toHaveLength(50);
  }
});
