import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '@causeway/runtime';
import { rowOf, waitsForLock } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { countByStatus, spread } from '../testing/at-once.ts';
import { type Asked, bootCrm } from '../testing/boot.ts';
import { eventsOf, historyOf } from '../testing/look.ts';
import { makeClient, statusIds } from '../testing/make.ts';

const crm = await bootCrm({ replicas: 2 });

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
let company = 2000;
const newCompany = () => ++company;

describe.each([
  ['createLead', 'client_id'],
  ['createClient', 'client_id'],
  ['createAffiliate', 'employee_id'],
] as const)('64 times %s with one external_id, on two replicas', (operation, idName) => {
  test.each([1, 2, 3])('leave one record: one 201 and 63 × 200 with its id (round %i)', async () => {
    const companyId = newCompany();
    const answers = await spread(64, (at) =>
      crm.act(operation, companyId, { ...person, phone: `555 ${at + 100}`, external_id: 'same' }),
    );
    expect(countByStatus(answers)).toEqual({ 200: 63, 201: 1 });
    expect(new Set(answers.map(({ body }) => body[idName])).size).toBe(1);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });
});

test('64 notes with one external_id on two records leave one note, as in sequence', async () => {
  const companyId = newCompany();
  const ids = [await makeClient(crm.db, companyId), await makeClient(crm.db, companyId)];
  const answers = await spread(64, (at) =>
    crm.act('addClientNote', companyId, { text: `note ${at}`, external_id: 'same' }, ids[at % 2]),
  );
  expect(countByStatus(answers)).toEqual({ 200: 63, 201: 1 });
  expect(new Set(answers.map(({ body }) => body.client_note_id)).size).toBe(1);
});

test('concurrent creates and conversions of one external_id leave one record and one conversion', async () => {
  const companyId = newCompany();
  const answers = await spread(64, (at) =>
    crm.act(at % 2 ? 'createLead' : 'createClient', companyId, { ...person, external_id: 'same' }),
  );
  expect(countByStatus(answers)).toEqual({ 200: 63, 201: 1 });
  const types = (await eventsOf(crm.db, companyId)).map(({ type }) => type);
  expect(types.length).toBeLessThanOrEqual(2);
  expect(['lead.created client.status_changed', 'client.created']).toContain(types.join(' '));
  expect(await historyOf(crm.db, companyId)).toHaveLength(types.length - 1);
});

test('one bad call fails alone', async () => {
  const [companyId, other] = [newCompany(), newCompany()];
  const taken = await makeClient(crm.db, companyId, { external_id: 'taken' });
  const id = await makeClient(crm.db, companyId);
  const answers = await Promise.all([
    crm.act('createLead', companyId, person),
    crm.act('updateClient', companyId, { external_id: 'taken' }, id),
    crm.act('createClient', other, person),
    crm.act('updateClient', companyId, { city: 'Graz' }, taken),
    crm.act('createLead', other, { ...person, affiliate_id: 5 }),
    crm.act('updateClient', companyId, { city: 'Graz' }, 987_654_321),
    crm.act('createLead', companyId, '{'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 400, 201, 200, 400, 404, 400]);
  expect((await eventsOf(crm.db, companyId)).map(({ sequence }) => sequence)).toEqual([1]);
  expect((await eventsOf(crm.db, other)).map(({ sequence }) => sequence)).toEqual([1]);
});

test('calls of one batch about one record are executed in order', async () => {
  const one = await bootCrm();
  const companyId = newCompany();
  const id = await makeClient(one.db, companyId);
  const names = Array.from({ length: 40 }, (_, at) => `Name ${at}`);
  await Promise.all(names.map((first_name) => one.act('updateClient', companyId, { first_name }, id)));
  const statuses = ['Client - Paused', 'Client - Active', 'Client - Completed', 'Client - Paused'];
  const answers = await Promise.all(
    statuses.map((new_status) => one.act('updateClientStatus', companyId, { new_status }, id)),
  );
  expect(answers.map(({ body }) => [body.previous_status, body.new_status])).toEqual([
    ['Client - Active', 'Client - Paused'],
    ['Client - Paused', 'Client - Active'],
    ['Client - Active', 'Client - Completed'],
    ['Client - Completed', 'Client - Paused'],
  ]);
  const { first_name } = await rowOf(one.db, 'clients', companyId, { client_id: id });
  expect(first_name).toBe('Name 39');
});

test('a caller never sees a deadlock or a lock wait', async () => {
  const companyId = newCompany();
  const ids = await Promise.all(Array.from({ length: 12 }, () => makeClient(crm.db, companyId)));
  // Another transaction holds rows for longer than one lock wait, and locks them in the other order.
  const other = transaction(crm.db, async (trx) => {
    for (const id of ids.toReversed()) {
      await trx
        .updateTable('clients')
        .set({ city: 'other' })
        .where('company_id', '=', companyId)
        .where('client_id', '=', id)
        .execute();
      // Once longer than a lock wait, which is two seconds.
      await sleep(id === ids[6] ? 2_500 : 5);
    }
  });
  const answers = await spread(96, (at) =>
    crm.act('updateClient', companyId, { city: `city ${at}` }, ids[(at * 7) % 12]),
  );
  await other;
  expect(countByStatus(answers)).toEqual({ 200: 96 });
});

test('no update is lost between changes of different fields of one record', async () => {
  const companyId = newCompany();
  const id = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
  const fields = ['first_name', 'last_name', 'city', 'state', 'zip', 'phone'];
  await spread(60, (at) => {
    const value = fields[at % 6] === 'phone' ? `555 ${at}` : `v${at}`;
    return crm.act('updateLead', companyId, { [fields[at % 6]!]: value }, id);
  });
  const row = await rowOf(crm.db, 'clients', companyId, { client_id: id });
  for (const [at, field] of fields.entries())
    expect(Number(/\d+$/.exec(String(row[field as 'city']))?.[0]) % 6, field).toBe(at);
});

test('a call that waits for a lock does not delay calls about other records', async () => {
  const one = await bootCrm();
  const companyId = newCompany();
  const [locked, free] = [await makeClient(one.db, companyId), await makeClient(one.db, companyId)];
  let stuck: Promise<Asked> | undefined;
  const order: string[] = [];
  await transaction(one.db, async (trx) => {
    await trx
      .updateTable('clients')
      .set({ city: 'held' })
      .where('company_id', '=', companyId)
      .where('client_id', '=', locked)
      .execute();
    stuck = one.act('updateClient', companyId, { city: 'at last' }, locked);
    void stuck.finally(() => order.push('stuck'));
    // Before that, both calls could be in one group.
    await waitsForLock(one.database);
    expect((await one.act('updateClient', companyId, { city: 'Graz' }, free)).status).toBe(200);
    order.push('free');
  });
  expect((await stuck)?.status).toBe(200);
  expect(order).toEqual(['free', 'stuck']);
});
