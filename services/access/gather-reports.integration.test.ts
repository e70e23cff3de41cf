import { type RequestCount, requestsCountedSubject } from '@causeway/proto';
import { createLog, keyspaceIdOf, type Log, noMetrics } from '@causeway/runtime';
import { testDatabase } from '@causeway/runtime/testing';
import { afterAll, expect, test } from 'vitest';
import { type AccessTables, tenantTables } from './schema.ts';
import { testWorld } from './testing/boot.ts';
import { recordRequests } from './usage/reports.ts';

const folders = [{ name: 'access', folder: new URL('migrations', import.meta.url).pathname }];
const before = await testDatabase({ folders });
const after = { '-80': await testDatabase({ folders }), '80-': await testDatabase({ folders }) };
const companies = Array.from({ length: 20 }, (_, at) => 101 + at);
const isFirst = (company: number): boolean => keyspaceIdOf(company) < '80';
const keysEach = 100;
const minute = Math.floor(Date.now() / 60_000) - 5;

// What vtgate says to a statement with rows of both shards. Here it is said to every statement for the old shard.
await before.query(
  `CREATE TRIGGER ??.spans_shards BEFORE INSERT ON ??.request_minutes FOR EACH ROW
   SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'multi-db transaction attempted: [-80 80-]'`,
  [before.name, before.name],
);
afterAll(() => before.query('DROP TRIGGER ??.spans_shards', [before.name]));

test('reports for a shard that was split are divided again at once, and each is written once', async () => {
  const world = await testWorld();
  const handles = {
    '-': before.connect<AccessTables>({ tenantTables }),
    '-80': after['-80'].connect<AccessTables>({ tenantTables }),
    '80-': after['80-'].connect<AccessTables>({ tenantTables }),
  };
  const layouts = [['-'], ['-80', '80-']];
  const db = world.database.connect<AccessTables>({
    tenantTables,
    shards: {
      read: async () => (layouts.length > 1 ? layouts.shift() : layouts[0])!,
      open: (name) => handles[name as keyof typeof handles],
    },
  });
  const warnings: unknown[] = [];
  const { log } = createLog({ name: 'access', instance: 'test', level: 'silent' });
  const writer = recordRequests({
    bus: await world.openBus('access'),
    db,
    log: Object.assign(Object.create(log) as Log, { warn: (...facts: unknown[]) => warnings.push(facts) }),
    metrics: noMetrics,
    now: () => new Date(),
  });
  // More rows in each shard than one statement writes.
  const counts = companies.flatMap((company) =>
    Array.from({ length: keysEach }, (_, at): RequestCount => [company, 1 + at, 'read', minute, 1, 0, 0]),
  );
  const { nc } = await world.openBus('gateway');
  nc.publish(requestsCountedSubject, JSON.stringify(counts));
  await nc.flush();

  const written = () =>
    Promise.all(
      Object.values(after).map(({ name, query }) =>
        query(
          'SELECT company_id, COUNT(*) AS counts, MAX(answered) AS most FROM ??.request_minutes GROUP BY 1 ORDER BY 1',
          [name],
        ),
      ),
    );
  const expected = (of: (company: number) => boolean) =>
    companies.filter(of).map((company_id) => ({ company_id, counts: keysEach, most: 1 }));
  await expect
    .poll(written, { timeout: 60_000 })
    .toEqual([expected(isFirst), expected((company) => !isFirst(company))]);
  await writer.drain();
  expect(warnings).toEqual([]);
});
