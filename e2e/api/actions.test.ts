import { beforeAll, describe, expect, test } from 'vitest';
import { addEmployee, addPerson, leadNew } from './support/people.ts';
import { atLeast } from './support/processes.ts';
import { type Company, openWorld, type Reply } from './support/world.ts';

const world = await openWorld();

const person = { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@example.com' };
let company: Company;
let key = '';

beforeAll(async () => {
  company = await world.company({ read: 1_000_000, write: 1_000_000 });
  key = (await company.key(['integrations:read', 'integrations:write'])).value;
});

const send = (method: 'POST' | 'PATCH', path: string, body: unknown, as = key): Promise<Reply> =>
  world.ask(`/integrations${path}`, { method, key: as, body: JSON.stringify(body) });
const post = (path: string, body: unknown) => send('POST', path, body);
const patch = (path: string, body: unknown) => send('PATCH', path, body);

/** 64 concurrent calls over all gateways. */
const manyAt = (path: string, body: unknown) =>
  Promise.all(Array.from({ length: 64 }, () => post(path, body)));

const searched = async (q: string): Promise<number[]> =>
  (await world.ask(`/integrations/lookups/clients?${new URLSearchParams({ q })}`, { key })).json.clients.map(
    ({ id }: { id: number }) => id,
  );

test('A lead is created, gets a note, is contacted, converted and paused', async () => {
  const employee = await addEmployee(world, { company_id: company.id, first_name: 'Grace', last_name: 'M' });
  const lead = await post('/leads', { ...person, phone: '+1 555 010 4477', external_id: 'way-1' });
  expect([lead.status, lead.json.status]).toEqual([201, 'Lead - New']);
  const id = lead.json.client_id;
  expect((await post(`/clients/${id}/notes`, { text: 'Prefers mornings.' })).status).toBe(201);
  expect((await patch(`/clients/${id}`, { city: 'Graz' })).status).toBe(404);
  expect((await patch(`/leads/${id}`, { city: 'Graz', employee_id: employee })).json).toMatchObject({
    success: true,
    client_id: id,
  });
  const contacted = await patch(`/leads/${id}/status`, { new_status: 'lead - contacted' });
  expect(contacted.json).toMatchObject({ previous_status: 'Lead - New', new_status: 'Lead - Contacted' });
  const converted = await patch(`/clients/${id}/status`, { new_status: 'Client - Active' });
  expect(converted.json).toMatchObject({
    previous_status: 'Lead - Contacted',
    new_status: 'Client - Active',
  });
  expect((await patch(`/leads/${id}/status`, { new_status: 'Lead - New' })).status).toBe(404);
  expect((await patch(`/clients/${id}`, { external_id: null })).status).toBe(200);
  const again = await post('/clients', { ...person, external_id: 'way-1' });
  expect(again.status).toBe(201);
  const { json } = await world.ask(`/integrations/clients/find?client_id=${id}`, { key });
  expect(json.clients).toMatchObject([{ client_id: id, status: 'Client - Active', external_id: null }]);
});

describe('64 creates at once with one external_id, over four gateways and two of crm', () => {
  test.each([
    ['/leads', 'client_id'],
    ['/clients', 'client_id'],
    ['/affiliates', 'employee_id'],
  ])('%s: one 201 and 63 × 200, one id', async (path, idName) => {
    atLeast(world, 'crm', 2);
    for (const round of [1, 2, 3]) {
      const replies = await manyAt(path, { ...person, external_id: `at-once-${path}-${round}` });
      expect(replies.map(({ status }) => status).sort()).toEqual([...Array(63).fill(200), 201]);
      expect(new Set(replies.map(({ json }) => json[idName])).size).toBe(1);
    }
  });
});

test('An answered change is visible in the next lookup, find and search, on every gateway and replica', async () => {
  for (let at = 0; at < 30; at++) {
    const name = `Wundersam${at}x`;
    const { json } = await post('/leads', { ...person, last_name: name, external_id: `ryw-${at}` });
    expect(await searched(name)).toEqual([json.client_id]);
    await patch(`/leads/${json.client_id}`, { last_name: `Neu${at}y` });
    expect(await searched(name)).toEqual([]);
    expect(await searched(`Neu${at}y`)).toEqual([json.client_id]);
    await patch(`/clients/${json.client_id}/status`, { new_status_id: 20 });
    const found = await world.ask(`/integrations/leads/find?external_id=ryw-${at}`, { key });
    expect(found.json.count).toBe(0);
  }
  const { json } = await post('/affiliates', { ...person, last_name: 'Partner' });
  const listed = async () =>
    (await world.ask('/integrations/lookups/affiliates', { key })).json.affiliates.map(
      (one: { affiliate_id: number }) => one.affiliate_id,
    );
  expect(await listed()).not.toContain(json.employee_id);
  await patch(`/affiliates/${json.employee_id}`, { is_approved: true });
  expect(await listed()).toContain(json.employee_id);
});

test('A record of another company is 404, an employee of another company 400', async () => {
  const other = await world.company();
  const theirs = await addPerson(world, { company_id: other.id, status_id: leadNew });
  const employee = await addEmployee(world, { company_id: other.id, first_name: 'Ann', last_name: 'Lee' });
  for (const reply of [
    await patch(`/leads/${theirs}`, { city: 'X' }),
    await patch(`/leads/${theirs}/status`, { new_status_id: 2 }),
    await patch(`/clients/${theirs}/status`, { new_status_id: 20 }),
    await post(`/clients/${theirs}/notes`, { text: 'X' }),
    await patch(`/affiliates/${employee}`, { is_active: false }),
  ])
    expect([reply.status, reply.json.error]).toEqual([404, expect.stringMatching(/not found$/)]);
  const { status, json } = await post('/clients', { ...person, employee_id: employee });
  expect([status, json.error]).toEqual([
    400,
    `employee_id must be an active employee of the company: there is no employee ${employee}`,
  ]);
});

test('Each create has its event, numbered without gaps, and the outbox empties', async () => {
  const own = await world.company({ write: 1_000_000 });
  const { value } = await own.key();
  await Promise.all(
    Array.from({ length: 60 }, (_, at) => send('POST', at % 3 ? '/leads' : '/clients', person, value)),
  );
  const events = await world.sql<{ sequence: number; type: string; payload: Buffer }>(
    'SELECT sequence, type, payload FROM events WHERE company_id = ? ORDER BY sequence',
    [own.id],
  );
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
  expect(Object.keys(Object.groupBy(events, ({ type }) => type)).sort()).toEqual([
    'client.created',
    'lead.created',
  ]);
  expect(events).toHaveLength(60);
  await expect
    .poll(() => world.sql('SELECT event_id FROM event_outbox WHERE company_id = ?', [own.id]), {
      timeout: 10_000,
    })
    .toEqual([]);
});
