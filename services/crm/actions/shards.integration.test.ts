import { testShards } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { type Tables, tenantTables } from '../tables.ts';
import { crmMigrations } from '../testing/boot.ts';
import { testEventLog, testRunner } from '../testing/runner.ts';
import { createPerson } from './people.ts';

test('calls of companies in two shards that arrive together are a group in each, with events of its own', async () => {
  const shards = await testShards<Tables>(crmMigrations, { tenantTables });
  const published: number[][] = [];
  const events = testEventLog(
    shards.db,
    (some) => void published.push(some.map((event) => event.company_id)),
  );
  const runner = testRunner(shards.db, events);
  const companies = Array.from({ length: 24 }, (_, at) => 101 + at);
  const lead = createPerson('lead');
  const body = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
  const submit = (companyId: number) =>
    runner.submit(
      lead,
      { companyId, body, recordId: 0, origin: 'key:1' } as never,
      performance.now() + 60_000,
    );
  await Promise.all(companies.map(submit));
  // The first group may be smaller than the others, but none has companies of both shards.
  await Promise.all(companies.map(submit));

  const expected = shards.expected(companies);
  for (const table of ['clients', 'events', 'event_outbox', 'event_sequences', 'client_search_pending'])
    expect([table, await shards.companiesIn(table)]).toEqual([table, expected]);
  expect(expected[1]!.length).toBeGreaterThan(3);
  expect(expected[2]!.length).toBeGreaterThan(3);
  for (const group of published)
    expect(expected.filter((own) => group.every((companyId) => own.includes(companyId)))).toHaveLength(1);
  // Grouped all the same: far fewer transactions than calls.
  expect(published.length).toBeLessThan(2 * companies.length);
});
