import { beforeAll, expect, test } from 'vitest';
import { addEmployee } from './support/people.ts';
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
  world.ask(`/integrations${path}`, { method, key: as, body });
const post = (path: string, body: unknown) => send('POST', path, body);
const patch = (path: string, body: unknown) => send('PATCH', path, body);

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
    .poll(() => world.sql('SELECT event_id FROM event_outbox WHERE company_id = ?', [own.id]))
    .toEqual([]);
});
