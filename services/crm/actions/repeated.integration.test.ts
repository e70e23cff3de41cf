import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationId } from '@causeway/proto';
import { type LaneCall, randomHex } from '@causeway/runtime';
import { type TestLane, testLane } from '@causeway/runtime/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { type BootedCrm, bootCrm } from '../testing/boot.ts';
import { eventsOf } from '../testing/look.ts';
import { makeAffiliate, makeClient, statusIds } from '../testing/make.ts';

// Calls that are sent again, and requests with an Idempotency-Key, on two replicas.

let crm: BootedCrm;
let send: TestLane;
beforeAll(async () => {
  crm = await bootCrm({ replicas: 2 });
  send = testLane(crm.bus, 'crm');
});

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
let company = 7000;
const newCompany = () => ++company;
const newCallId = () => Date.now().toString(16).padStart(12, '0') + randomHex(10);

interface Got {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it whole.
  readonly body: any;
  readonly isReplayed: boolean;
}

const act = async (
  operation: OperationId,
  companyId: number,
  body: unknown,
  { recordId, ...more }: Partial<LaneCall> & { readonly recordId?: number } = {},
): Promise<Got> => {
  const answer = await send({
    operation,
    tenant: companyId,
    caller: 1,
    key: await crm.callers.key(companyId),
    params: recordId === undefined ? [] : [String(recordId)],
    body: Buffer.from(JSON.stringify(body)),
    callId: newCallId(),
    ...more,
  });
  const text = String(answer.body);
  const isReplayed = answer.headers?.['Idempotent-Replayed'] === 'true';
  return { status: answer.status, text, body: JSON.parse(text), isReplayed };
};

const clientsOf = (companyId: number) =>
  crm.db.selectFrom('clients').select('client_id').where('company_id', '=', companyId).execute();
const notesOf = (companyId: number) =>
  crm.db.selectFrom('client_notes').select('text').where('company_id', '=', companyId).execute();
const rowsOf = (companyId: number) =>
  crm.db.selectFrom('idempotency_keys').selectAll().where('company_id', '=', companyId).execute();
const spread = <Result>(count: number, call: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => sleep(Math.floor(at / 8)).then(() => call(at))));
const countBy = (answers: readonly Got[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, of]) => [
      status,
      of?.length,
    ]),
  );

describe('a call that is sent again', () => {
  test('gets the first answer, once it was carried out', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const first = await act('createLead', companyId, person, { callId });
    const second = await act('createLead', companyId, person, { callId, again: true });
    expect(first.status).toBe(201);
    expect(second).toEqual(first);
    expect(await clientsOf(companyId)).toHaveLength(1);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(1);
  });

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

  test('50 calls, each sent three times beside the others, create 50 records', async () => {
    const companyId = newCompany();
    const callIds = Array.from({ length: 50 }, newCallId);
    const answers = await spread(150, (at) =>
      act('createLead', companyId, person, { callId: callIds[at % 50]!, again: at >= 50 }),
    );
    expect(countBy(answers)).toEqual({ 201: 150 });
    expect(new Set(answers.map(({ body }) => body.client_id)).size).toBe(50);
    expect(await clientsOf(companyId)).toHaveLength(50);
    expect(await eventsOf(crm.db, companyId)).toHaveLength(50);
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

  test('a refused call leaves no row', async () => {
    const companyId = newCompany();
    const callId = newCallId();
    const unknown = { ...person, affiliate_id: 5 };
    expect((await act('createLead', companyId, unknown, { callId })).status).toBe(400);
    expect((await act('updateClient', companyId, { city: 'Graz' }, { callId, recordId: 9 })).status).toBe(
      404,
    );
    expect(await rowsOf(companyId)).toEqual([]);
  });
});
