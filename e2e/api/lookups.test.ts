import { beforeAll, describe, expect, test } from 'vitest';
import { until } from './support/clock.ts';
import { addEmployee, addPerson, clientActive, leadNew } from './support/people.ts';
import { type Company, openWorld } from './support/world.ts';

const world = await openWorld();

const unlimited = { read: 1_000_000_000 };
const inCompany = async () => {
  const company = await world.company(unlimited);
  return { company, key: (await company.key(['integrations:read'])).value };
};

const affiliate = { role_id: 6, is_approved: true } as const;

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

  test('leaves out the inactive, those of role 6 and those of other companies', async () => {
    const { company, key } = await inCompany();
    const other = await world.company();
    const company_id = company.id;
    await addEmployee(world, { company_id, first_name: 'Gone', last_name: 'Away', is_active: false });
    await addEmployee(world, { company_id, first_name: 'Affi', last_name: 'Liate', ...affiliate });
    await addEmployee(world, { company_id: other.id, first_name: 'Other', last_name: 'House' });
    const stays = await addEmployee(world, { company_id, first_name: 'Stays', last_name: 'Here' });
    expect((await world.ask('/integrations/lookups/employees', { key })).json).toEqual({
      employees: [{ employee_id: stays, full_name: 'Stays Here' }],
      count: 1,
    });
    // Nothing is cached between requests.
    await world.sql('UPDATE employees SET is_active = FALSE WHERE company_id = ?', [company_id]);
    expect((await world.ask('/integrations/lookups/employees', { key })).json).toEqual({
      employees: [],
      count: 0,
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

describe('GET /lookups/affiliates', () => {
  test('lists active, approved employees of role 6 by full name, and no others', async () => {
    const { company, key } = await inCompany();
    const company_id = company.id;
    const other = await world.company();
    const lise = await addEmployee(world, {
      company_id,
      first_name: 'Lise',
      last_name: 'Meitner',
      ...affiliate,
    });
    const ida = await addEmployee(world, {
      company_id,
      first_name: 'Ida',
      last_name: 'Noddack',
      ...affiliate,
    });
    const not = { company_id, first_name: 'Not', last_name: 'Listed' };
    await addEmployee(world, { ...not, role_id: 6, is_approved: false });
    await addEmployee(world, { ...not, ...affiliate, is_active: false });
    await addEmployee(world, { ...not, role_id: 5, is_approved: true });
    await addEmployee(world, { ...not, ...affiliate, company_id: other.id });
    expect((await world.ask('/integrations/lookups/affiliates', { key })).json).toEqual({
      affiliates: [
        { affiliate_id: ida, full_name: 'Ida Noddack' },
        { affiliate_id: lise, full_name: 'Lise Meitner' },
      ],
      count: 2,
    });
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

  test('the company’s own come first, by name, then the global ones', async () => {
    const { company, key } = await inCompany();
    const own = async (status_name: string, more = {}) =>
      world.insert('statuses', { company_id: company.id, status_name, ...more });
    const vip = await own('Client - VIP', { color_code: '#abcdef' });
    const aaa = await own('Client - AAA');
    const { statuses: list } = await statuses(key);
    expect(list.slice(0, 2)).toEqual([
      { status_id: aaa, status_name: 'Client - AAA', is_lead: false, is_active: true, color_code: '#808080' },
      { status_id: vip, status_name: 'Client - VIP', is_lead: false, is_active: true, color_code: '#abcdef' },
    ]);
    expect(list[2].status_name).toBe('Client - Active');
  });

  test('lead statuses come only from the global set; invalid, inactive and other companies’ are left out', async () => {
    const { company, key } = await inCompany();
    const other = await world.company();
    const before = await statuses(key);
    await world.insert('statuses', { company_id: company.id, status_name: 'Lead - Our Own' });
    await world.insert('statuses', {
      company_id: company.id,
      status_name: 'Client - Invalid',
      is_valid: false,
    });
    await world.insert('statuses', {
      company_id: company.id,
      status_name: 'Client - Inactive',
      is_active: false,
    });
    await world.insert('statuses', { company_id: other.id, status_name: 'Client - Theirs' });
    expect(await statuses(key)).toEqual(before);
  });
});

/** The indexer takes clients in batches, oldest first; fewer clients wait, and a search finds them anyway. */
const indexedFrom = 64;

const untilIndexed = (company: Company): Promise<boolean> =>
  until('the index has taken clients up', async () => {
    const waiting = await world.sql('SELECT client_id FROM client_search_pending WHERE company_id = ?', [
      company.id,
    ]);
    return waiting.length < indexedFrom;
  });

describe.each([
  ['while they wait for the index', 0],
  ['once they are in the index', indexedFrom],
])('GET /lookups/clients, %s', (_, others) => {
  let company: Company;
  let key = '';
  const ids: Record<string, number> = {};
  const search = async (q: string, more = '') =>
    (await world.ask(`/integrations/lookups/clients?q=${encodeURIComponent(q)}${more}`, { key })).json;
  const found = async (q: string) => (await search(q)).clients.map(({ id }: { id: number }) => id);

  beforeAll(async () => {
    company = await world.company(unlimited);
    key = (await company.key(['integrations:read'])).value;
    const other = await world.company();
    const add = async (
      name: string,
      person: Omit<Parameters<typeof addPerson>[1], 'company_id'>,
      of = company,
    ) => {
      ids[name] = await addPerson(world, { company_id: of.id, ...person });
    };
    await add('ada', {
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'countess@engine.example',
      phone: '+1 (555) 010-4477',
      external_id: 'EXT-100',
    });
    await add('lead', {
      first_name: 'Leonie',
      last_name: 'Lead',
      email: 'leonie@x.example',
      status_id: leadNew,
    });
    await add('zolc', {
      first_name: 'Żaneta',
      last_name: 'Żółć',
      email: 'zaneta@x.example',
      external_id: 'a_b%c\\d',
    });
    await add('quote', { first_name: "O'Brien", last_name: '"Quo" 50%_\\', email: 'obrien@x.example' });
    await add('emoji', { first_name: 'Ümit 🚀', last_name: '山田太郎', email: 'umit@x.example' });
    await add('digits', {
      first_name: 'Agent 007',
      last_name: 'Bond',
      email: 'b@x.example',
      phone: '0200 7007',
    });
    await add(
      'theirs',
      { first_name: 'Ada', last_name: 'Lovelace', email: 'countess@engine.example' },
      other,
    );
    ids.other = ids.theirs as number;
    for (let at = 0; at < others; at++) await addPerson(world, { company_id: company.id });
    if (others > 0) await untilIndexed(company);
  });

  test.each([
    ['the id', () => String(ids.ada), 'ada'],
    ['a part of the first name', () => 'Ada', 'ada'],
    ['a part of the last name', () => 'ovelac', 'ada'],
    ['the name across its parts', () => 'da Love', 'ada'],
    ['another case', () => 'LOVELACE', 'ada'],
    ['a part of the email', () => 'ess@engine', 'ada'],
    ['the end of the phone’s digits as it is written', () => '010-4477', 'ada'],
    ['the end of the phone’s digits in another format', () => '(010) 44 77', 'ada'],
    ['the beginning of the external_id', () => 'EXT-1', 'ada'],
    ['the whole external_id', () => 'EXT-100', 'ada'],
    ['an external_id with wildcards in it', () => 'a_b%', 'zolc'],
    ['a backslash in an external_id', () => 'a_b%c\\', 'zolc'],
    ['letters with marks', () => 'Żółć', 'zolc'],
    ['the same letters without', () => 'zolc', 'zolc'],
    ['an apostrophe', () => "O'Br", 'quote'],
    ['quotation marks', () => '"Quo"', 'quote'],
    ['a percent sign, which is no wildcard', () => '50%_', 'quote'],
    ['a character beyond the basic plane', () => 'it 🚀', 'emoji'],
    ['two characters of another script', () => '太郎', 'emoji'],
    ['a lead, which is searched too', () => 'Leonie', 'lead'],
    ['white space around', () => '  Lovelace  ', 'ada'],
  ])('finds by %s', async (_, q, name) => {
    expect(await found(q())).toEqual([ids[name]]);
  });

  test.each([
    ['a wildcard alone', '%%'],
    ['an underscore as a wildcard', 'Lovel_ce'],
    ['the middle of an external_id', 'XT-10'],
    ['an external_id in another case', 'ext-100'],
    ['the beginning of the phone’s digits', '+1 (555)'],
    ['SQL', "' OR 1=1 --"],
    ['text that does not occur', 'xyzzyx'],
  ])('finds nothing by %s', async (_, q) => {
    expect(await search(q)).toEqual({ clients: [], count: 0 });
  });

  test('a numeric q of any length matches an id only', async () => {
    // 007 is in a name and at the end of a phone number, but is not an ID.
    expect(await search('007')).toEqual({ clients: [], count: 0 });
    expect(await search('7')).toEqual({ clients: [], count: 0 });
    expect(await search('9'.repeat(15))).toEqual({ clients: [], count: 0 });
    expect(await search('9'.repeat(100))).toEqual({ clients: [], count: 0 });
    expect(await search('0')).toEqual({ clients: [], count: 0 });
  });

  test('another company’s client is not found by its id', async () => {
    expect(await search(String(ids.other))).toEqual({ clients: [], count: 0 });
  });

  test('the label is the full name, a separator, then email', async () => {
    expect((await search('Lovelace')).clients).toEqual([
      { id: ids.ada, name: 'Ada Lovelace · countess@engine.example' },
    ]);
  });

  test.each(['', '?q=', '?q=%20%20', '?limit=5', '?q=&limit=1'])(
    'an empty or missing q finds nothing: %s',
    async (query) => {
      const reply = await world.ask(`/integrations/lookups/clients${query}`, { key });
      expect([reply.status, reply.json]).toEqual([200, { clients: [], count: 0 }]);
    },
  );

  test.each(['a', '%', 'é', '🚀', ' b ', '-'])(
    'one character that is not a digit is a 400: %s',
    async (q) => {
      const reply = await world.ask(`/integrations/lookups/clients?q=${encodeURIComponent(q)}`, { key });
      const message = 'q must be at least 2 characters, or a client ID';
      expect(reply.status).toBe(400);
      expect(reply.json).toEqual({
        error_code: 'invalid_request',
        message,
        details: [{ field: 'q', code: 'too_short', message }],
      });
    },
  );

  test('limit accepts 1 to 25 and defaults to 25', async () => {
    const { company: crowd, key: theirs } = await inCompany();
    for (let at = 0; at < 30 + others; at++)
      await addPerson(world, { company_id: crowd.id, first_name: 'Crowd' });
    if (others > 0) await untilIndexed(crowd);
    const count = async (more: string) =>
      (await world.ask(`/integrations/lookups/clients?q=crowd${more}`, { key: theirs })).json.count;
    expect(await count('')).toBe(25);
    expect(await count('&limit=25')).toBe(25);
    expect(await count('&limit=1')).toBe(1);
    expect(await count('&limit=7')).toBe(7);
  });

  test.each(['0', '26', '-1', '1.5', 'x', '1e1', '٣', '99999999999999999999'])(
    'limit=%s is a 400',
    async (limit) => {
      const reply = await world.ask(
        `/integrations/lookups/clients?q=ada&limit=${encodeURIComponent(limit)}`,
        { key },
      );
      const message = 'limit must be an integer between 1 and 25';
      expect(reply.status).toBe(400);
      expect(reply.json).toEqual({
        error_code: 'invalid_request',
        message,
        details: [{ field: 'limit', code: 'out_of_range', message }],
      });
    },
  );

  test('a client is found as soon as it is written, and under its new name after a change', async () => {
    const { company: own, key: theirs } = await inCompany();
    const at = async (q: string) =>
      (await world.ask(`/integrations/lookups/clients?q=${q}`, { key: theirs })).json.clients.map(
        ({ id }: { id: number }) => id,
      );
    const id = await addPerson(world, { company_id: own.id, first_name: 'Maiden', last_name: 'Name' });
    expect(await at('maiden')).toEqual([id]);
    await world.sql('UPDATE clients SET first_name = ? WHERE company_id = ? AND client_id = ?', [
      'Married',
      own.id,
      id,
    ]);
    await world.insert('client_search_pending', { company_id: own.id, client_id: id });
    expect(await at('married')).toEqual([id]);
    expect(await at('maiden')).toEqual([]);
  });
});

test('Every lookup of an empty company answers an empty list and count 0', async () => {
  const { key } = await inCompany();
  expect((await world.ask('/integrations/lookups/employees', { key })).json).toEqual({
    employees: [],
    count: 0,
  });
  expect((await world.ask('/integrations/lookups/affiliates', { key })).json).toEqual({
    affiliates: [],
    count: 0,
  });
  expect((await world.ask('/integrations/lookups/clients?q=an', { key })).json).toEqual({
    clients: [],
    count: 0,
  });
});

test('Many companies that ask at once each get their own data', async () => {
  const houses = await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      const { company, key } = await inCompany();
      const id = await addEmployee(world, {
        company_id: company.id,
        first_name: `House${at}`,
        last_name: 'Keeper',
      });
      return {
        key,
        expected: { employees: [{ employee_id: id, full_name: `House${at} Keeper` }], count: 1 },
      };
    }),
  );
  const asked = Array.from({ length: 20 }, () => houses).flat();
  const replies = await Promise.all(
    asked.map(({ key }) => world.ask('/integrations/lookups/employees', { key })),
  );
  for (const [at, { expected }] of asked.entries()) expect(replies[at]?.json).toEqual(expected);
});

test('The client lookup returns leads and clients alike', async () => {
  const { company, key } = await inCompany();
  const client = await addPerson(world, {
    company_id: company.id,
    last_name: 'Samename',
    status_id: clientActive,
  });
  const lead = await addPerson(world, { company_id: company.id, last_name: 'Samename', status_id: leadNew });
  const { clients, count } = (await world.ask('/integrations/lookups/clients?q=samename', { key })).json;
  expect(count).toBe(2);
  expect(new Set(clients.map(({ id }: { id: number }) => id))).toEqual(new Set([client, lead]));
});
