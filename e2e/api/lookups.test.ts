import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { addPerson, clientActive, leadNew } from './support/people.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

const unlimited = { read: 1_000_000_000 };
const inCompany = async () => {
  const company = await world.company(unlimited);
  return { company, key: (await company.key(['integrations:read'])).value };
};

test('All employees of a large company are listed', async () => {
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
