import { setTimeout as sleep } from 'node:timers/promises';
import { notFound } from '@causeway/proto';
import {
  CommitOutcomeUnknown,
  connectDatabase,
  createOnce,
  identify,
  type LaneCall,
  parseMysqlUrl,
  tenantIs,
  transaction,
} from '@causeway/runtime';
import { rowOf, rowsOf, startProxy, waitsForLock } from '@causeway/runtime/testing';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deleteExpired } from '../cleanup.ts';
import type { EventLog } from '../events/event-log.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { countByStatus, spread } from '../testing/at-once.ts';
import { bootCrm, newCallId, type Written } from '../testing/boot.ts';
import { eventsOf } from '../testing/look.ts';
import { makeAffiliate, makeClient, statusIds } from '../testing/make.ts';
import { testEventLog, testRunner } from '../testing/runner.ts';
import { createPerson, personActions } from './people.ts';

// Calls that are sent again, and requests with an Idempotency-Key, on two replicas.

const crm = await bootCrm({ replicas: 2 });
const act = crm.write;

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
let company = 7000;
const newCompany = () => ++company;

const identityOf = (companyId: number, more: Partial<LaneCall>) =>
  identify({
    operation: 'createLead',
    tenant: companyId,
    caller: 1,
    requestId: '',
    traceparent: '',
    budgetMs: 5_000,
    params: [],
    query: '',
    body: Buffer.alloc(0),
    callId: newCallId(),
    ...more,
  });

const clientsOf = (companyId: number) => rowsOf(crm.db, 'clients', companyId);
const notesOf = (companyId: number) => rowsOf(crm.db, 'client_notes', companyId);
const keysOf = (companyId: number) => rowsOf(crm.db, 'idempotency_keys', companyId);

/** A database whose first COMMIT of this kind meets the verdict. */
const cut = async (isCommit: RegExp, verdict: 'drop' | 'pass, then hang up' | 'hang up, then pass') => {
  let cuts = 0;
  const proxy = await startProxy(parseMysqlUrl(crm.database.url), (request) =>
    isCommit.test(request.toString('latin1')) && cuts++ === 0 ? verdict : 'pass',
  );
  const url = new URL(crm.database.url);
  url.port = String(proxy.port);
  const db = connectDatabase<Tables>({ url: url.href, poolSize: 3, tenantTables });
  onTestFinished(() => db.close());
  return { db, cuts: () => cuts };
};
const ofClients = /INTO `clients`.*; commit$/s;

describe('a call that is sent again', () => {
  test('is carried out if the first sending was lost, and then no more', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const second = await act('createLead', companyId, person, { callId, again: true });
    expect(second.status).toBe(201);
    // The first sending arrives late, at a replica that was frozen.
    expect(await act('createLead', companyId, person, { callId })).toEqual(second);
    expect(await clientsOf(companyId)).toHaveLength(1);
  });

  test('50 sendings of one call, on two replicas, create one record and one event', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const answers = await spread(50, (at) =>
      act('createClient', companyId, person, { callId, again: at > 0 && at % 3 > 0 }),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await clientsOf(companyId)).toHaveLength(1);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });

  test.each([
    ['createAffiliate', person, undefined],
    ['updateAffiliate', { is_approved: true }, 'affiliate'],
    ['updateLead', { city: 'Graz' }, 'lead'],
    ['updateLeadStatus', { new_status: 'Lead - Contacted', status_note: 'Called.' }, 'lead'],
    ['updateClient', { city: 'Graz' }, 'client'],
    ['updateClientStatus', { new_status: 'Client - Paused', status_note: 'Called.' }, 'client'],
    ['addClientNote', { text: 'Called.' }, 'client'],
    ['addClientNote', { text: 'Called.', external_id: 'n-1' }, 'client'],
  ] as const)('%s %o is carried out once', async (operation, body, what) => {
    const companyId = newCompany();
    const made = {
      lead: () => makeClient(crm.db, companyId, { status_id: statusIds.leadNew }),
      client: () => makeClient(crm.db, companyId),
      affiliate: () => makeAffiliate(crm.db, companyId),
    };
    const recordId = what && (await made[what]());
    const callId = newCallId();
    const sent = recordId === undefined ? { callId } : { callId, recordId };
    const first = await act(operation, companyId, body, sent);
    expect(first.status).toBeLessThan(300);
    await sleep(5);
    expect(await act(operation, companyId, body, { ...sent, again: true })).toEqual(first);
    expect((await notesOf(companyId)).length).toBeLessThanOrEqual(1);
    expect((await eventsOf(crm.db, companyId)).length).toBeLessThanOrEqual(1);
  });
});

describe('a request with an Idempotency-Key', () => {
  const keyed = (idempotencyKey = 'order-7') => ({ idempotencyKey });

  test('is marked as replayed if the client repeats it, however often gateways send it', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const first = await act('createLead', companyId, person, { ...keyed(), callId });
    expect(await act('createLead', companyId, person, { ...keyed(), callId, again: true })).toEqual(first);
    // The answer to the client's second request was lost on its way to the gateway.
    const second = { ...keyed(), callId: newCallId() };
    for (const again of [false, true, true])
      expect(await act('createLead', companyId, person, { ...second, again })).toEqual({
        ...first,
        isReplayed: true,
      });
    // Or its first sending was.
    const third = { ...keyed(), callId: newCallId(), again: true };
    expect(await act('createLead', companyId, person, third)).toEqual({ ...first, isReplayed: true });
    // An older release does not write the name of the call.
    await crm.db
      .updateTable('idempotency_keys')
      .set({ call_id: null })
      .where('company_id', '=', companyId)
      .execute();
    expect(await act('createLead', companyId, person, third)).toEqual({ ...first, isReplayed: true });
  });

  test('that was refused leaves its key free', async () => {
    const companyId = newCompany();
    for (const wrong of [{ first_name: 'Ada' }, { ...person, affiliate_id: 5 }])
      expect((await act('createLead', companyId, wrong, keyed())).status).toBe(400);
    expect(
      (await act('addClientNote', companyId, { text: 'x' }, { ...keyed(), recordId: 987_654 })).status,
    ).toBe(404);
    expect(await keysOf(companyId)).toEqual([]);
    expect((await act('createLead', companyId, person, keyed())).status).toBe(201);
  });

  test('is a 409 while the first is carried out by another replica', async () => {
    const companyId = newCompany();
    const answers: Written[] = [];
    let first: Promise<Written> | undefined;
    await transaction(crm.db, async (trx) => {
      // The foreign key of a new lead waits for this row: its request stops before its commit.
      await sql`
        SELECT /*+ INDEX(statuses status_id) */ status_id FROM statuses
        WHERE company_id = ${tenantIs(0)} AND status_id = ${statusIds.leadNew} FOR UPDATE`.execute(trx);
      first = act('createLead', companyId, person, keyed());
      // By then it has written its row.
      await waitsForLock(crm.database);
      // Of several, some reach the other replica.
      for (let at = 0; at < 6; at++) answers.push(await act('createLead', companyId, person, keyed()));
    });
    for (const { status, body } of answers)
      expect([status, body.reason]).toEqual([409, 'idempotency_in_progress']);
    expect((await first)?.status).toBe(201);
    expect(await act('createLead', companyId, person, keyed())).toEqual({
      ...(await first),
      isReplayed: true,
    });
    expect(await clientsOf(companyId)).toHaveLength(1);
  });

  test('sent 50 times at once to two replicas creates one record and one event', async () => {
    const companyId = newCompany();
    const answers = await spread(50, () => act('createClient', companyId, person, keyed()));
    expect(Object.keys(countByStatus(answers)).filter((status) => status !== '409')).toEqual(['201']);
    const given = answers.filter(({ status }) => status === 201);
    expect(new Set(given.map(({ text }) => text)).size).toBe(1);
    expect(given.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(await clientsOf(companyId)).toHaveLength(1);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });

  test('is carried out again after 24 hours, and expired rows are deleted', async () => {
    const companyId = newCompany();
    const first = await act('createLead', companyId, person, keyed());
    const [row] = await keysOf(companyId);
    const hoursLeft = (row!.expires_utc.getTime() - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(23.9);
    expect(hoursLeft).toBeLessThanOrEqual(24);
    await crm.db
      .updateTable('idempotency_keys')
      .set({ expires_utc: new Date(Date.now() - 1000) })
      .where('company_id', '=', companyId)
      .execute();
    const later = await act('createLead', companyId, { ...person, city: 'Graz' }, keyed());
    expect([later.status, later.isReplayed]).toEqual([201, false]);
    expect(later.body.client_id).not.toBe(first.body.client_id);

    const [old, fresh] = [newCompany(), newCompany()];
    for (const id of [old, fresh]) await act('createLead', id, person);
    await crm.db
      .updateTable('idempotency_keys')
      .set({ expires_utc: new Date(Date.now() - 1000) })
      .where('company_id', '=', old)
      .execute();
    await deleteExpired(crm.db, new Date());
    expect(await keysOf(old)).toEqual([]);
    expect(await keysOf(fresh)).toHaveLength(1);
  });
});

test('the answer to a repeated request is given after the end of its transaction, which locks its row', async () => {
  const companyId = newCompany();
  const idempotencyKey = 'order-7';
  await act('createLead', companyId, person, { idempotencyKey });
  const db = crm.database.connect<Tables>({ poolSize: 2, tenantTables });
  const order: string[] = [];
  const events = testEventLog(db);
  const write: EventLog['write'] = async (...given) => {
    await sleep(5);
    order.push('in the transaction');
    return events.write(...given);
  };
  const runner = testRunner(db, { ...events, write });
  for (const body of [person, { ...person, city: 'Graz' }]) {
    const identity = identityOf(companyId, { body: Buffer.from(JSON.stringify(body)), idempotencyKey });
    await runner
      .submit(
        createPerson('lead'),
        { companyId, body, recordId: 0, origin: 'key:1' },
        performance.now() + 60_000,
        identity,
      )
      .then(
        ({ status }) => order.push(`${status}`),
        ({ code }) => order.push(code),
      );
  }
  expect(order).toEqual(['in the transaction', '201', 'in the transaction', 'idempotency_key_reused']);
});

test.each([
  ['MySQL has committed', 'pass, then hang up'],
  ['COMMIT was lost', 'drop'],
] as const)('a connection that ends during COMMIT: %s; one record, and its answer', async (_, verdict) => {
  const companyId = newCompany();
  const { db, cuts } = await cut(ofClients, verdict);
  const runner = testRunner(db);
  const identity = identityOf(companyId, {});
  const submission = { companyId, body: person, recordId: 0, origin: 'key:1' };
  const lead = createPerson('lead');
  const answer = await runner.submit(lead, submission, performance.now() + 60_000, identity);
  expect([answer.status, cuts()]).toEqual([201, verdict === 'drop' ? 2 : 1]);
  const [client, ...more] = await clientsOf(companyId);
  expect(more).toEqual([]);
  expect(JSON.parse(String(answer.body)).client_id).toBe(client?.client_id);
  expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
});

describe.each([
  ['MySQL has committed', 'pass, then hang up'],
  ['COMMIT arrives late', 'hang up, then pass'],
  ['COMMIT was lost', 'drop'],
] as const)('without a key, if the answer to COMMIT does not come and %s', (_, verdict) => {
  test('an update with If-Match that was done is answered so', async () => {
    const companyId = newCompany();
    const recordId = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
    const { db, cuts } = await cut(ofClients, verdict);
    const submission = { companyId, body: { city: 'Graz' }, recordId, origin: 'key:1', condition: [1] };
    const answer = await testRunner(db).submit(
      personActions.lead.update,
      submission,
      performance.now() + 60_000,
      identityOf(companyId, {}),
    );
    expect([answer.status, cuts()]).toEqual([200, verdict === 'drop' ? 2 : 1]);
    const { version } = await rowOf(crm.db, 'clients', companyId);
    expect(version).toBe(2);
  });

  test('a deletion that was done is answered so', async () => {
    const companyId = newCompany();
    await makeClient(crm.db, companyId);
    const { db, cuts } = await cut(/INTO idempotency_keys.*; commit$/s, verdict);
    const answer = await createOnce({ db, now: () => new Date() }).carryOut(
      identityOf(companyId, {}),
      async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('clients')
          .where('company_id', '=', companyId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) throw notFound('person');
        return { status: 204, body: null };
      },
    );
    expect([answer.status, cuts()]).toEqual([204, verdict === 'drop' ? 2 : 1]);
    expect(await clientsOf(companyId)).toEqual([]);
  });
});

test('a refusal after a COMMIT of unknown outcome is no answer, unless the ledger has one', async () => {
  const companyId = newCompany();
  const recordId = await makeClient(crm.db, companyId, { status_id: statusIds.leadNew });
  const { db, cuts } = await cut(ofClients, 'drop');
  const events = testEventLog(db);
  // Another client's change comes between the two attempts.
  const takeNumbers: EventLog['takeNumbers'] = async (...given) => {
    if (cuts() > 0) await crm.act('updateLead', companyId, { city: 'Linz' }, recordId);
    return events.takeNumbers(...given);
  };
  const submission = { companyId, body: { city: 'Graz' }, recordId, origin: 'key:1', condition: [1] };
  const submitted = testRunner(db, { ...events, takeNumbers }).submit(
    personActions.lead.update,
    submission,
    performance.now() + 60_000,
    identityOf(companyId, {}),
  );
  await expect(submitted).rejects.toThrow(CommitOutcomeUnknown);
});
