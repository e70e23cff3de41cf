import { describe, expect, test } from 'vitest';
import { bootCrm, newCallId } from '../testing/boot.ts';
import { eventsOf } from '../testing/look.ts';
import { makeAffiliate, makeClient, statusIds } from '../testing/make.ts';

// Writes that name their record by its `external_id` (contract, "Batches", "Leads and clients").

const crm = await bootCrm({ replicas: 2 });
let company = 9500;
const newCompany = () => ++company;
const makeLead = (companyId: number, external_id: string, more: object = {}) =>
  makeClient(crm.db, companyId, { external_id, status_id: statusIds.leadNew, ...more });
const person = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const read = async (companyId: number, id: number) => (await crm.ask('getPerson', companyId, '', id)).body;

type Kind = 'batchLeads' | 'batchClients' | 'batchAffiliates';
const batch = async (kind: Kind, companyId: number, mode: string, items: readonly object[], more = {}) => {
  const { status, body } = await crm.act(kind, companyId, { mode, items, ...more });
  expect(status).toBe(200);
  return body.results as readonly { status: number; body: Readonly<Record<string, unknown>> }[];
};
const statuses = (results: readonly { status: number }[]) => results.map(({ status }) => status);

describe('A batch', () => {
  test('updates the records that external ids name: sent fields only, null clears, every result has the version', async () => {
    const companyId = newCompany();
    const lead = await makeLead(companyId, 'a', { phone: '123', city: 'Graz' });
    const client = await makeClient(crm.db, companyId, { external_id: 'c' });
    await makeLead(newCompany(), 'foreign');
    const results = await batch('batchLeads', companyId, 'update', [
      { external_id: 'a', phone: null, zip: '8010', if_version: 1 },
      { external_id: 'c', city: 'Graz' },
      { external_id: 'foreign', city: 'Graz' },
      { external_id: 'x'.repeat(101), city: 'Graz' },
      { external_id: ' ', city: 'Graz' },
      { external_id: 'A', city: 'Graz' },
      { external_id: 'none "\u202e\' \\', city: 'Graz' },
    ]);
    expect(statuses(results)).toEqual([200, 404, 404, 400, 400, 404, 404]);
    expect(results[0]!.body).toMatchObject({ success: true, client_id: lead, version: 2 });
    expect(await read(companyId, lead)).toMatchObject({ phone: null, zip: '8010', city: 'Graz', version: 2 });
    expect((await read(companyId, client)).version).toBe(1);

    const again = await batch('batchLeads', companyId, 'update', [
      { external_id: 'a', city: 'Linz', if_version: 1 },
      { external_id: 'b', city: 'Linz' },
      { external_id: 'a' },
    ]);
    expect(again[0]).toMatchObject({ status: 412, body: { reason: 'version_mismatch', version: 2 } });
    expect(statuses(again)).toEqual([412, 404, 409]);
    const [empty] = await batch('batchLeads', companyId, 'update', [{ external_id: 'a' }]);
    expect(empty).toMatchObject({ status: 400, body: { details: [{ code: 'empty_update' }] } });
    const [dropped] = await batch(
      'batchLeads',
      companyId,
      'update',
      [{ external_id: 'a', email: 'no', city: 'Wien' }],
      {
        invalid: 'drop_optional',
      },
    );
    expect(dropped).toMatchObject({ status: 200, body: { version: 3 }, dropped: [{ field: 'email' }] });
  });

  test('upserts without the required fields where the record exists, and names what a new one lacks', async () => {
    const companyId = newCompany();
    const lead = await makeLead(companyId, 'a', { phone: '123' });
    const results = await batch('batchLeads', companyId, 'upsert', [
      { external_id: 'a', phone: null, status: 'Lead - Contacted' },
      { external_id: 'new', city: 'Graz' },
      { city: 'Graz' },
      { ...person, external_id: 'b', phone: null },
      { external_id: 'other', if_version: 3 },
      { external_id: 'first', first_name: null },
    ]);
    expect(statuses(results)).toEqual([200, 400, 400, 201, 412, 400]);
    expect(results[0]!.body).toMatchObject({ client_id: lead, status: 'Lead - Contacted', version: 2 });
    for (const { body } of results.slice(1, 3))
      expect((body.details as readonly { field: string }[]).map(({ field }) => field)).toEqual([
        'first_name',
        'last_name',
        'email',
      ]);
    expect(await read(companyId, lead)).toMatchObject({ phone: null, first_name: expect.any(String) });
    const [kept] = await batch(
      'batchLeads',
      companyId,
      'upsert',
      [{ external_id: 'a', phone: '555', email: 'no' }],
      {
        invalid: 'drop_optional',
      },
    );
    expect(kept!.status).toBe(400);
    // Clients: a lead becomes one, as by a create.
    const [converted] = await batch('batchClients', companyId, 'upsert', [{ external_id: 'a' }]);
    expect(converted).toMatchObject({ status: 200, body: { status: 'Client - Active', version: 3 } });
    expect((await eventsOf(crm.db, companyId)).map(({ type }) => type)).toEqual([
      'lead.created',
      'client.status_changed',
    ]);
  });

  test('takes the status in updates, by id or by name, and causes the event', async () => {
    const companyId = newCompany();
    const client = await makeClient(crm.db, companyId, { external_id: 'c' });
    const results = await batch('batchClients', companyId, 'update', [
      { external_id: 'c', status: 'client - paused', city: 'Graz' },
      { client_id: client, status: 'Client - Paused' },
    ]);
    expect(statuses(results)).toEqual([200, 409]);
    const more = await batch('batchClients', companyId, 'update', [
      { client_id: client, status: 'Lead - New' },
      { external_id: 'none', status: 'Client - Paused' },
    ]);
    expect(statuses(more)).toEqual([400, 404]);
    expect(
      (await eventsOf(crm.db, companyId)).map(({ type, payload }) => [type, payload.new_status]),
    ).toEqual([['client.status_changed', 'Client - Paused']]);
    expect(await read(companyId, client)).toMatchObject({
      status: 'Client - Paused',
      city: 'Graz',
      version: 2,
    });
  });

  test('of affiliates finds them by their external ids too', async () => {
    const companyId = newCompany();
    const id = await makeAffiliate(crm.db, companyId, { external_id: 'p', phone: '123' });
    const [updated] = await batch('batchAffiliates', companyId, 'update', [
      { external_id: 'p', is_approved: true, phone: null },
    ]);
    expect(updated).toMatchObject({ status: 200, body: { employee_id: id, version: 2 } });
    const upserted = await batch('batchAffiliates', companyId, 'upsert', [
      { external_id: 'p', commission_rate: 5 },
      { external_id: 'q', commission_rate: 5 },
    ]);
    expect(statuses(upserted)).toEqual([200, 400]);
    expect((await crm.ask('getAffiliate', companyId, '', id)).body).toMatchObject({
      phone: null,
      is_approved: true,
      commission_rate: 5,
      version: 3,
    });
  });
});

describe('An update of either kind', () => {
  const named = (companyId: number, external_id: string, body: object, condition?: readonly number[]) =>
    crm.call('updatePersonByExternalId', companyId, {
      query: new URLSearchParams({ external_id }).toString(),
      body: Buffer.from(JSON.stringify(body)),
      ...(condition && { condition, callId: newCallId() }),
    });

  test('takes a lead and a client, and converts a lead', async () => {
    const companyId = newCompany();
    const lead = await makeLead(companyId, 'a b&c=ü');
    const client = await makeClient(crm.db, companyId, {});
    expect((await named(companyId, 'a b&c=ü', { city: 'Graz' })).body).toMatchObject({
      client_id: lead,
      version: 2,
    });
    expect((await crm.act('updatePerson', companyId, { city: 'Graz' }, client)).body.version).toBe(2);
    expect(
      (await crm.act('updatePerson', companyId, { status: 'Lead - New' }, client)).body.details,
    ).toMatchObject([{ field: 'status', code: 'wrong_kind' }]);
    expect((await named(companyId, 'a b&c=ü', { status: 'Lead - Contacted' })).status).toBe(200);
    expect((await crm.act('updatePerson', companyId, { status: 'Client - Active' }, lead)).status).toBe(200);
    expect((await eventsOf(crm.db, companyId)).map(({ payload }) => payload.previous_status)).toEqual([
      'Lead - Contacted',
    ]);
    expect(await read(companyId, lead)).toMatchObject({ is_lead: false, version: 4 });
  });

  test('finds no record of another company, and none by another spelling', async () => {
    const [companyId, other] = [newCompany(), newCompany()];
    await makeLead(companyId, 'mine');
    const theirs = await makeLead(other, 'theirs');
    for (const name of ['theirs', 'Mine', 'mine\u200b', 'x'.repeat(100)])
      expect((await named(companyId, name, { city: 'Graz' }, [1])).status).toBe(404);
    for (const name of ['', 'x'.repeat(101), 'x'.repeat(300)])
      expect((await named(companyId, name, { city: 'Graz' }, [1])).status).toBe(400);
    expect((await read(other, theirs)).version).toBe(1);
  });

  test('judges the condition after the 404 and before the values; the name itself is read-only', async () => {
    const companyId = newCompany();
    const id = await makeLead(companyId, 'a');
    expect((await named(companyId, 'a', { email: 'none', status: 7 }, [9])).body).toMatchObject({
      version: 1,
    });
    expect((await named(companyId, 'a', { email: 'none' }, [1])).status).toBe(400);
    expect((await named(companyId, 'none', { email: 'none' }, [1])).status).toBe(404);
    for (const body of [{ external_id: 'b' }, { client_id: id + 1 }, { version: 5 }, { status: 'None' }, {}])
      expect((await named(companyId, 'a', body)).status).toBe(400);
    const whole = await read(companyId, id);
    expect((await named(companyId, 'a', { ...whole, city: 'Graz' }, [1])).body).toMatchObject({ version: 2 });
    // On the path of a kind, the status stays read-only, also behind a condition.
    const asLead = { status: 'Lead - Contacted', email: 'none' };
    expect((await crm.write('updateLead', companyId, asLead, { recordId: id, condition: [9] })).status).toBe(
      412,
    );
    for (const status of [[null], { id: 20 }, { name: 'Client - Active' }])
      for (const more of [{ email: 'none' }, { city: 'Linz' }, {}])
        expect((await crm.act('updateLead', companyId, { status, ...more }, id)).status).toBe(400);
  });

  test('loses no write of others, whichever way they name the record', async () => {
    const companyId = newCompany();
    const id = await makeLead(companyId, 'a');
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        at % 3 === 0
          ? named(companyId, 'a', { city: `City ${at}` })
          : at % 3 === 1
            ? crm.act('updatePerson', companyId, { state: `State ${at}` }, id)
            : crm.act('updateLead', companyId, { zip: `${at}` }, id),
      ),
    );
    const versions = answers.map(({ body }) => body.version).toSorted((a, b) => a - b);
    expect(versions).toEqual(answers.map((_, at) => at + 2));
    const last = (at: number) => answers[at]!.body.version;
    const latest = (rest: number) =>
      answers
        .map((_, at) => at)
        .filter((at) => at % 3 === rest)
        .toSorted((a, b) => last(b) - last(a))[0];
    expect(await read(companyId, id)).toMatchObject({
      city: `City ${latest(0)}`,
      state: `State ${latest(1)}`,
      zip: `${latest(2)}`,
      version: 61,
    });
  });
});
