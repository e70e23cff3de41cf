import { describe, expect, test } from 'vitest';
import { bootCrm } from './testing/boot.ts';
import { makeEmployee } from './testing/make.ts';

const crm = await bootCrm({ replicas: 2 });

describe('listEmployees', () => {
  test('lists active employees by full name, and no others', async () => {
    const make = (first_name: string, last_name: string, fields = {}) =>
      makeEmployee(crm.db, 11, { first_name, last_name, ...fields });
    const zoe = await make('zoe', 'Adams');
    const emil = await make('Émil', 'Zola');
    const amy = await make('amy', 'Wong', { role_id: 7, is_approved: 0 });
    await make('Left', 'Already', { is_active: 0 });
    await make('An', 'Affiliate', { role_id: 6, is_approved: 1 });
    await makeEmployee(crm.db, 12, { first_name: 'Other', last_name: 'Company' });

    expect(await crm.ask('listEmployees', 11)).toEqual({
      status: 200,
      body: {
        employees: [
          { employee_id: amy, full_name: 'amy Wong' },
          { employee_id: emil, full_name: 'Émil Zola' },
          { employee_id: zoe, full_name: 'zoe Adams' },
        ],
        count: 3,
      },
    });
  });
});

test('each company of a batch gets its own data', async () => {
  const companyIds = Array.from({ length: 40 }, (_, at) => 100 + at);
  for (const companyId of companyIds) await makeEmployee(crm.db, companyId, { last_name: `Of ${companyId}` });
  const asked = [...companyIds, ...companyIds, 998];
  const answers = await crm.askTogether('listEmployees', asked);
  expect(answers.map(({ body }) => body.employees[0]?.full_name)).toEqual(
    asked.map((companyId) => (companyId === 998 ? undefined : `Grace Of ${companyId}`)),
  );
});

describe('listAffiliates', () => {
  test('lists active, approved affiliates by full name, and no others', async () => {
    const make = (last_name: string, fields = {}) =>
      makeEmployee(crm.db, 21, { last_name, role_id: 6, is_approved: 1, ...fields });
    const young = await make('Young');
    const adams = await make('Adams');
    await make('Waiting', { is_approved: 0 });
    await make('Gone', { is_active: 0 });
    await make('Employee', { role_id: 5 });
    await makeEmployee(crm.db, 22, { role_id: 6, is_approved: 1 });

    expect((await crm.ask('listAffiliates', 21)).body).toEqual({
      affiliates: [
        { affiliate_id: adams, full_name: 'Grace Adams' },
        { affiliate_id: young, full_name: 'Grace Young' },
      ],
      count: 2,
    });
  });
});

describe('listClientStatuses', () => {
  const globalNames = [
    'Client - Active',
    'Client - Completed',
    'Client - Paused',
    'Lead - Appointment Set',
    'Lead - Contacted',
    'Lead - Lost',
    'Lead - New',
    'Lead - Nurturing',
    'Lead - Proposal Sent',
    'Lead - Qualified',
    'Lead - Unresponsive',
  ];
  const namesOf = (body: { statuses: { status_name: string }[] }) =>
    body.statuses.map(({ status_name }) => status_name);

  test('a new company has the global ones by name', async () => {
    const { body } = await crm.ask('listClientStatuses', 31);
    expect(namesOf(body)).toEqual(globalNames);
    expect(body.count).toBe(globalNames.length);
    expect(body.statuses[6]).toEqual({
      status_id: 1,
      status_name: 'Lead - New',
      is_lead: true,
      is_active: true,
      color_code: '#2f80ed',
    });
    for (const { status_name, is_lead } of body.statuses)
      expect(is_lead).toBe(status_name.startsWith('Lead'));
  });

  test("the company's own come first; its lead statuses, inactive and invalid ones are left out", async () => {
    const make = (company_id: number, status_name: string, fields = {}) =>
      crm.db
        .insertInto('statuses')
        .values({ company_id, status_name, ...fields })
        .execute();
    await make(32, 'Client - Zeal');
    await make(32, 'archived');
    await make(32, 'Lead - Our Own');
    await make(32, 'Client - Off', { is_active: 0 });
    await make(32, 'Client - Void', { is_valid: 0 });
    await make(33, 'Client - Elsewhere');

    const { body } = await crm.ask('listClientStatuses', 32);
    expect(namesOf(body)).toEqual(['archived', 'Client - Zeal', ...globalNames]);
    expect(body.statuses[0]).toMatchObject({ is_lead: false, is_active: true, color_code: '#808080' });
  });

  test('an inactive or invalid global status is not listed', async () => {
    const { db } = crm;
    const set = (fields: { is_active?: number; is_valid?: number }, id: number) =>
      db
        .updateTable('statuses')
        .set(fields)
        .where('company_id', '=', 0)
        .where('status_id', '=', id)
        .execute();
    await set({ is_active: 0 }, 8);
    await set({ is_valid: 0 }, 22);
    try {
      expect(namesOf((await crm.ask('listClientStatuses', 34)).body)).toEqual(
        globalNames.filter((name) => !['Lead - Lost', 'Client - Completed'].includes(name)),
      );
    } finally {
      await set({ is_active: 1 }, 8);
      await set({ is_valid: 1 }, 22);
    }
  });
});
