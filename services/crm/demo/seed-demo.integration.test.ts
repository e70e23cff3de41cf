import { testDatabase } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { findByText } from '../search/search-clients.ts';
import { type Tables, tenantTables } from '../tables.ts';
import { crmMigrations } from '../testing/boot.ts';
import { seedDemo } from './seed-demo.ts';

test('demo people fill each lookup, are searchable, and are created once', async () => {
  const database = await testDatabase({ folders: crmMigrations });
  const db = database.connect<Tables>({ tenantTables });
  const companyIds = [5, 6, 7];
  const seed = () => seedDemo({ mysqlUrl: database.url, companyIds, now: new Date('2026-06-01T00:00:00Z') });
  const look = () =>
    database.query<{ listed_as: string; count: number }>(
      `SELECT company_id, COALESCE(listed_as, 'nowhere') AS listed_as, COUNT(*) AS count
       FROM employees GROUP BY company_id, listed_as ORDER BY company_id, listed_as`,
    );
  await seed();
  const people = await look();
  expect(people).toHaveLength(9);
  expect(
    people
      .map(({ listed_as }) => listed_as)
      .slice(0, 3)
      .sort(),
  ).toEqual(['affiliate', 'employee', 'nowhere']);
  const [kinds] = await database.query<{ leads: number; clients: number; newest: Date }>(
    `SELECT CAST(SUM(is_lead) AS SIGNED) AS leads, CAST(SUM(NOT is_lead) AS SIGNED) AS clients,
       MAX(created_utc) AS newest
     FROM clients JOIN statuses USING (status_id)`,
  );
  expect(kinds?.leads).toBeGreaterThan(1000);
  expect(kinds?.clients).toBeGreaterThan(1000);
  expect(kinds?.newest.getTime()).toBeLessThanOrEqual(Date.UTC(2026, 5, 1));
  expect(await database.query('SELECT * FROM client_search_pending')).toEqual([]);
  const search = { companyId: 6, query: 'smith', limit: 5, deadlineMs: Number.POSITIVE_INFINITY };
  expect(await findByText(db, search)).toHaveLength(5);

  await seed();
  expect(await look()).toEqual(people);
});
