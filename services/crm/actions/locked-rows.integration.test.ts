import { setTimeout as sleep } from 'node:timers/promises';
import { parseMysqlUrl } from '@causeway/runtime';
import { rowOf } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { type Asked, bootCrm } from '../testing/boot.ts';
import { makeAffiliate, makeClient, statusIds } from '../testing/make.ts';
import { testRunner } from '../testing/runner.ts';
import { personActions } from './people.ts';

// A transaction of somebody else holds rows of one company; the others' writes go on.

const crm = await bootCrm();

const person = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
let company = 8000;
const newCompany = () => ++company;
const leadOf = (companyId: number) => makeClient(crm.db, companyId, { status_id: statusIds.leadNew });

/** @returns ends the transaction. */
const hold = async (sql: string, values: readonly unknown[]): Promise<() => Promise<void>> => {
  const connection = await createConnection(parseMysqlUrl(crm.database.url));
  onTestFinished(() => connection.destroy());
  await connection.beginTransaction();
  await connection.query(sql, values as unknown[]);
  return () => connection.rollback();
};

interface Held {
  readonly sql: string;
  readonly values: (companyId: number, id: number) => readonly unknown[];
  readonly prepare: (companyId: number) => Promise<number>;
  readonly act: (companyId: number, id: number, at: number) => Promise<Asked>;
}

const kinds: Readonly<Record<string, Held>> = {
  'a person that is changed': {
    sql: 'SELECT 1 FROM clients WHERE company_id = ? AND client_id = ? FOR UPDATE',
    values: (companyId, id) => [companyId, id],
    prepare: leadOf,
    act: (companyId, id, at) => crm.act('updateLead', companyId, { first_name: `A${at}` }, id),
  },
  'a person that gets notes': {
    sql: 'SELECT 1 FROM clients WHERE company_id = ? AND client_id = ? FOR UPDATE',
    values: (companyId, id) => [companyId, id],
    prepare: leadOf,
    act: (companyId, id, at) => crm.act('addClientNote', companyId, { text: `note ${at}` }, id),
  },
  'a person that has the external_id': {
    sql: "SELECT 1 FROM clients WHERE company_id = ? AND external_id = 'x' FOR UPDATE",
    values: (companyId) => [companyId],
    prepare: (companyId) => makeClient(crm.db, companyId, { status_id: statusIds.leadNew, external_id: 'x' }),
    act: (companyId, _, at) =>
      crm.act('createLead', companyId, { ...person, first_name: `A${at}`, external_id: 'x' }),
  },
  'an affiliate that is referred to': {
    sql: 'SELECT 1 FROM employees WHERE company_id = ? AND employee_id = ? FOR UPDATE',
    values: (companyId, id) => [companyId, id],
    prepare: (companyId) => makeAffiliate(crm.db, companyId, { is_approved: 1 }),
    act: (companyId, id) => crm.act('createLead', companyId, { ...person, affiliate_id: id }),
  },
  'the counter of events': {
    sql: 'SELECT 1 FROM event_sequences WHERE company_id = ? FOR UPDATE',
    values: (companyId) => [companyId],
    prepare: async (companyId) => (await crm.act('createLead', companyId, person)).body.client_id,
    act: (companyId) => crm.act('createLead', companyId, person),
  },
  'a person who is inserted': {
    sql: `INSERT INTO clients (company_id, status_id, first_name, last_name, email, external_id)
      VALUES (?, 1, 'A', 'B', 'a@example.com', 'y')`,
    values: (companyId) => [companyId],
    prepare: leadOf,
    act: (companyId) => crm.act('createLead', companyId, { ...person, external_id: 'y' }),
  },
};

test.each(Object.keys(kinds))('%s', async (kind) => {
  const { sql, values, prepare, act } = kinds[kind]!;
  const [one, other] = [newCompany(), newCompany()];
  const id = await prepare(one);
  const release = await hold(sql, values(one, id));
  const answers: Asked[] = [];
  const waiting: Promise<unknown>[] = [];
  // Some begin groups of their own, some come with a create of the other company.
  for (let at = 0; at < 10; at++) {
    waiting.push(act(one, id, at).then((answer) => answers.push(answer)));
    const { status } = await crm.act('createLead', other, person);
    expect([at, status]).toEqual([at, 201]);
    await sleep(60);
  }
  expect(answers).toEqual([]);
  await release();
  await Promise.all(waiting);
  expect(answers.map(({ status }) => status).filter((status) => status !== 504)).not.toEqual([]);
  for (const { status } of answers) expect([200, 201, 504]).toContain(status);
});

test('other records of the company are not kept waiting', async () => {
  const companyId = newCompany();
  const [held, free] = [await leadOf(companyId), await leadOf(companyId)];
  const release = await hold(kinds['a person that is changed']!.sql, [companyId, held]);
  const update = (id: number, city: string) => crm.act('updateLead', companyId, { city }, id);
  const waiting = [update(held, 'Graz'), update(held, 'Linz')];
  for (const city of ['Graz', 'Linz', 'Wels']) expect((await update(free, city)).status).toBe(200);
  await release();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
});

test('a call whose caller has given up is not carried out', async () => {
  const companyId = newCompany();
  const id = await leadOf(companyId);
  const release = await hold(kinds['a person that is changed']!.sql, [companyId, id]);
  const submission = { companyId, body: { city: 'Graz' }, recordId: id, origin: 'key:1' };
  const update = testRunner(crm.db).submit(personActions.lead.update, submission, performance.now() + 200);
  await expect(update).rejects.toMatchObject({ code: 'timeout' });
  await release();
  expect((await crm.act('updateLead', companyId, { zip: '8010' }, id)).status).toBe(200);
  const { city, version } = await rowOf(crm.db, 'clients', companyId);
  expect([city, version]).toEqual([null, 2]);
});
