import { describe, expect, test } from 'vitest';
import { until } from './support/clock.ts';
import { addEmployee, addPerson, clientActive, leadNew } from './support/people.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

const unlimited = { read: 1_000_000_000 };
const inCompany = async () => {
  const company = await world.company(unlimited);
  return { company, key: (await company.key(['integrations:read'])).value };
};

describe('GET /lookups/employees', () => {
  test('lists active employees by full name, with their ids and the count', async () => {
    const { company, key } = await inCompany();
    const add = (first_name: string, last_name: string, more = {}) =>
      addEmployee(world, { company_id: company.id, first_name, last_name, ...more });
    const zoe = await add('Zoe', 'Adams');
    const adaB = await add('Ada', 'Byron');
    const adaA = await add('ada', 'Ames');
    const elise = await add('Élise', 'Brun', { role_id: 1 });
    const reply = await world.ask('/integrations/lookups/employees', { key });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.json).toEqual({
      employees: [
        { employee_id: adaA, full_name: 'ada Ames' },
        { employee_id: adaB, full_name: 'Ada Byron' },
        { employee_id: elise, full_name: 'Élise Brun' },
        { employee_id: zoe, full_name: 'Zoe Adams' },
      ],
      count: 4,
    });
  });

  test('lists all employees of a large company', async () => {
    const { company, key } = await inCompany();
    const rows = Array.from({ length: 300 }, (_, at) => [
      company.id,
      2,
      `E${at}`,
      'Many',
      `many${at}@example.com`,
    ]);
    await world.sql('INSERT INTO employees (company_id, role_id, first_name, last_name, email) VALUES ?', [
      rows,
    ]);
    const { json } = await world.ask('/integrations/lookups/employees', { key });
    expect(json.count).toBe(300);
    expect(json.employees).toHaveLength(300);
  });
});

describe('GET /lookups/client-statuses', () => {
  const statuses = async (key: string) =>
    (await world.ask('/integrations/lookups/client-statuses', { key })).json;

  test('a new company has the global lead statuses and the three client statuses, by name', async () => {
    const { key } = await inCompany();
    const { statuses: list, count } = await statuses(key);
    expect(count).toBe(list.length);
    const names = list.map(({ status_name }: { status_name: string }) => status_name);
    expect(names).toEqual(names.toSorted());
    expect(names.filter((name: string) => name.startsWith('Client'))).toEqual([
      'Client - Active',
      'Client - Completed',
      'Client - Paused',
    ]);
    expect(list).toContainEqual({
      status_id: leadNew,
      status_name: 'Lead - New',
      is_lead: true,
      is_active: true,
      color_code: '#2f80ed',
    });
    for (const { status_name, is_lead, is_active, color_code } of list) {
      expect(is_lead).toBe(status_name.startsWith('Lead'));
      expect(is_active).toBe(true);
      expect(color_code).toMatch(/^#[0-9a-f]{6}$/);
    }
  });
});

/** The indexer takes clients in batches, oldest first; fewer clients wait, and a search finds them anyway. */
const indexedFrom = 64;

describe.each([
  ['while they wait for the index', 0],
  ['once they are in the index', indexedFrom],
])('GET /lookups/clients, %s', (_, others) => {
  test('finds leads and clients by each of their fields, and none of another company', async () => {
    const { company, key } = await inCompany();
    const theirs = await inCompany();
    const person = {
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'countess@engine.example',
      phone: '+1 (555) 010-4477',
      external_id: 'EXT-100',
    };
    const client = await addPerson(world, { company_id: company.id, ...person, status_id: clientActive });
    const lead = await addPerson(world, { company_id: company.id, last_name: 'Loveday', status_id: leadNew });
    await addPerson(world, { company_id: theirs.company.id, ...person });
    for (let at = 0; at < others; at++) await addPerson(world, { company_id: company.id });
    if (others > 0)
      await until('the index has taken clients up', async () => {
        const waiting = await world.sql('SELECT 1 FROM client_search_pending WHERE company_id = ?', [
          company.id,
        ]);
        return waiting.length < indexedFrom;
      });
    const search = async (q: string, as = key) =>
      (await world.ask(`/integrations/lookups/clients?${new URLSearchParams({ q })}`, { key: as })).json;
    for (const q of [`${client}`, 'da Lovel', 'ess@engine', '010-4477', 'EXT-1'])
      expect(await search(q), q).toEqual({
        clients: [{ id: client, name: 'Ada Lovelace · countess@engine.example' }],
        count: 1,
      });
    expect((await search('love')).clients.map(({ id }: { id: number }) => id)).toEqual([lead, client]);
    expect(await search(`${client}`, theirs.key)).toEqual({ clients: [], count: 0 });
  });
});
