import { createLog, parseMysqlUrl } from '@causeway/runtime';
import { cleanUp, testDatabase } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { createLookupCache } from './lookup-cache.ts';
import { type Tables, tenantTables } from './tables.ts';
import { bootCrm, crmMigrations } from './testing/boot.ts';
import { makeAffiliate } from './testing/make.ts';

/** Two replicas, which clients reach in turn. */
const crm = await bootCrm({ replicas: 2 });

const lookups = ['listEmployees', 'listAffiliates', 'listClientStatuses'] as const;

/** Asks for each lookup twice: two frames in a row go to different replicas. */
const readBoth = async (companyId: number): Promise<readonly unknown[]> => {
  const answers: unknown[] = [];
  for (const lookup of lookups) {
    const [first, second] = [await crm.ask(lookup, companyId), await crm.ask(lookup, companyId)];
    expect(second).toEqual(first);
    answers.push(first.body);
  }
  return answers;
};

/** As the CRM's other modules write: a connection without any of this code. */
const connect = async () => {
  const connection = await createConnection(parseMysqlUrl(crm.database.url));
  cleanUp(async () => connection.destroy());
  return connection;
};

const names = async (companyId: number): Promise<string[]> => {
  const [{ employees }] = (await readBoth(companyId)) as [{ employees: { full_name: string }[] }];
  return employees.map(({ full_name }) => full_name);
};

test('every kind of change by plain SQL shows at once, on every replica', async () => {
  const other = await connect();
  const before = await readBoth(50);
  const [{ insertId }] = (await other.query(
    "INSERT INTO employees (company_id, role_id, first_name, last_name, email) VALUES (50, 1, 'Ada', 'King', 'a@b.c')",
  )) as unknown as [{ insertId: number }];
  const steps: readonly (readonly [sql: string, expected: readonly string[]])[] = [
    ['SELECT 1', ['Ada King']],
    // Equal to the collation, and still another name.
    ["UPDATE employees SET first_name = 'adá' WHERE company_id = 50", ['adá King']],
    ["UPDATE employees SET last_name = 'king ' WHERE company_id = 50", ['adá king ']],
    ['UPDATE employees SET is_active = 0 WHERE company_id = 50', []],
    ['UPDATE employees SET is_active = 1 WHERE company_id = 50', ['adá king ']],
    ['UPDATE employees SET company_id = 51 WHERE company_id = 50', []],
    ['UPDATE employees SET company_id = 50 WHERE company_id = 51', ['adá king ']],
    [
      `REPLACE INTO employees (company_id, employee_id, role_id, first_name, last_name, email)
       VALUES (50, ${insertId}, 1, 'Joan', 'Clarke', 'j@b.c')`,
      ['Joan Clarke'],
    ],
    [`UPDATE employees SET employee_id = employee_id + 1000000 WHERE company_id = 50`, ['Joan Clarke']],
    ['DELETE FROM employees WHERE company_id = 50', []],
  ];
  for (const [sql, expected] of steps) {
    await other.query(sql);
    expect(await names(50), sql).toEqual(expected);
    expect((await names(51)).length, sql).toBe(sql.includes('SET company_id = 51') ? 1 : 0);
  }
  expect(await readBoth(50)).toEqual(before);
});

test('a transaction shows when it is committed, and never if it is rolled back or its writer dies', async () => {
  const statusOf = async (companyId: number) =>
    ((await readBoth(companyId))[2] as { statuses: { status_name: string }[] }).statuses[0]?.status_name;
  const first = await statusOf(53);
  for (const [end, expected] of [
    ['rollback', first],
    ['kill', first],
    ['commit', 'Client - A'],
  ] as const) {
    const other = await connect();
    await other.beginTransaction();
    await other.query("INSERT INTO statuses (company_id, status_name) VALUES (53, 'Client - A')");
    expect(await statusOf(53), `before ${end}`).toBe(first);
    if (end === 'rollback') await other.rollback();
    else if (end === 'commit') await other.commit();
    else await crm.database.query('KILL ?', [other.threadId]);
    expect(await statusOf(53), end).toBe(expected);
  }
});

test('a global status shows in every company at once', async () => {
  const companyIds = [54, 55, 56];
  const other = await connect();
  const shown = async () => {
    const answers = [
      ...(await crm.askTogether('listClientStatuses', companyIds)),
      ...(await crm.askTogether('listClientStatuses', companyIds)),
    ];
    return answers.map(({ body }) =>
      body.statuses.some((one: { status_id: number }) => one.status_id === 21),
    );
  };
  for (const isActive of [true, false, true]) {
    await other.query('UPDATE statuses SET is_active = ? WHERE company_id = 0 AND status_id = 21', [
      isActive,
    ]);
    expect(await shown()).toEqual(Array(6).fill(isActive));
  }
});

test('every writer reads its own write, while many write and others read', async () => {
  const companyIds = Array.from({ length: 6 }, (_, at) => 60 + at);
  let writing = true;
  const reader = async () => {
    while (writing) await crm.askTogether('listEmployees', companyIds);
  };
  const writer = async (companyId: number) => {
    const other = await connect();
    for (let count = 1; count <= 25; count++) {
      await other.query(
        "INSERT INTO employees (company_id, role_id, first_name, last_name, email) VALUES (?, 1, 'A', 'B', 'a@b.c')",
        [companyId],
      );
      expect((await crm.ask('listEmployees', companyId)).body.count).toBe(count);
    }
  };
  const readers = Promise.all([reader(), reader()]);
  await Promise.all(companyIds.map(writer)).finally(() => {
    writing = false;
  });
  await readers;
});

test('the actions of the service raise versions, with the rights that it has', async () => {
  await readBoth(70);
  const made = await crm.act('createAffiliate', 70, {
    first_name: 'Al',
    last_name: 'Fa',
    email: 'al@fa.example',
  });
  expect(made.status).toBe(201);
  const before = (await readBoth(70))[1] as { count: number };
  await makeAffiliate(crm.db, 70, { is_approved: 1 });
  expect((await readBoth(70))[1]).toMatchObject({ count: before.count + 1 });
});

test('the kept answers stay within their bytes, and what no longer fits is read', async () => {
  const reads: number[][] = [];
  const db = crm.database.connect<Tables>({ tenantTables });
  const { log } = createLog({ name: 'crm', instance: 'test', level: 'silent' });
  const read = createLookupCache({ db, log, maxBytes: 3000 }).keep(async (companyIds) => {
    reads.push([...companyIds]);
    return (companyId) => new Uint8Array(700).fill(companyId);
  });
  await read([1, 2, 3]);
  await read([2, 3]);
  expect(reads).toEqual([[1, 2, 3]]);
  await read([4]);
  expect((await read([4, 3, 2])).get(2)).toEqual(new Uint8Array(700).fill(2));
  expect(reads).toEqual([[1, 2, 3], [4], [2]].slice(0, reads.length));
});

test('if the triggers are lost, kept answers are found out and nothing is kept', async () => {
  const database = await testDatabase({ folders: crmMigrations });
  const db = database.connect<Tables>({ tenantTables });
  const { log } = createLog({ name: 'crm', instance: 'test', level: 'silent' });
  let elapsedMs = 0;
  let answer = 1;
  const read = createLookupCache({ db, log, checkAfterMs: 1000, nowMs: () => elapsedMs }).keep(
    async () => () => new Uint8Array([answer]),
  );
  const now = async () => (await read([1])).get(1)![0];
  expect(await now()).toBe(1);
  // As after a change of the table by a tool that leaves its triggers behind.
  answer = 2;
  expect(await now()).toBe(1);
  elapsedMs = 1001;
  expect(await now()).toBe(2);
  answer = 3;
  expect(await now()).toBe(3);
});
