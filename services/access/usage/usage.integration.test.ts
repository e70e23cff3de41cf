import { type RequestCount, requestsCountedSubject } from '@causeway/proto';
import { expect, test } from 'vitest';
import { operatorOf, testWorld } from '../testing/boot.ts';

const world = await testWorld();
await world.startAccess();
await world.startAccess();
const bus = await world.openBus('gateway');
const ask = operatorOf(await world.openBus('operator'));
const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
const minute = Math.floor(Date.now() / 60_000) - 5;

const report = async (...counts: (RequestCount | unknown)[]): Promise<void> => {
  bus.nc.publish(requestsCountedSubject, JSON.stringify(counts));
  await bus.nc.flush();
};
const rowsOf = (keyId: number) =>
  world.database.query(
    'SELECT bucket, answered, limited, failed, minute_utc FROM request_minutes WHERE company_id = ? AND key_id = ? ORDER BY bucket',
    [company_id, keyId],
  );

test('reports of several gateways for one minute are added up, whichever replica writes them', async () => {
  for (let at = 0; at < 10; at++) await report([company_id, 1, 'read', minute, 5, 2, 1]);
  await expect.poll(() => rowsOf(1)).toMatchObject([{ answered: 50 }]);
  await report([company_id, 1, 'read', minute, 1, 0, 0], [company_id, 1, 'write', minute, 7, 0, 0]);
  await expect
    .poll(() => rowsOf(1))
    .toEqual([
      { bucket: 'read', answered: 51, limited: 20, failed: 10, minute_utc: new Date(minute * 60_000) },
      { bucket: 'write', answered: 7, limited: 0, failed: 0, minute_utc: new Date(minute * 60_000) },
    ]);
});

test('a report with a time in the future counts for now', async () => {
  await report([company_id, 2, 'read', minute + 60, 3, 0, 0]);
  await expect.poll(() => rowsOf(2)).toHaveLength(1);
  const [row] = (await rowsOf(2)) as { minute_utc: Date }[];
  expect(row!.minute_utc.getTime()).toBeLessThanOrEqual(Date.now());
});

let answered = 0;
test.each([
  ['no list', { a: 1 }],
  ['an unknown bucket', [company_id, 3, 'all', minute, 1, 0, 0]],
  ['a negative count', [company_id, 3, 'read', minute, -1, 0, 0]],
  ['too few values', [company_id, 3, 'read']],
])('a report with %s does not affect others', async (_, wrong) => {
  await report(wrong);
  await report([company_id, 3, 'read', minute, 1, 0, 0]);
  await expect.poll(() => rowsOf(3)).toMatchObject([{ answered: ++answered }]);
});

test('thousands of counts are written completely', async () => {
  const counts = Array.from(
    { length: 1800 },
    (_, at): RequestCount => [company_id, 1000 + at, 'read', minute, 1, 0, 0],
  );
  await report(...counts);
  const made = () =>
    world.database.query('SELECT COUNT(*) AS made FROM request_minutes WHERE key_id >= 1000');
  await expect.poll(made).toEqual([{ made: 1800 }]);
});

test('operators see what companies ask for, each request once, and what was refused', async () => {
  const { company_id: busy } = (await ask('createCompany', { name: 'Busy' })).body;
  await report([busy, 9, 'read', Math.floor(Date.now() / 60_000), 50, 20, 10]);
  await expect
    .poll(async () => (await ask('listRequestsByCompany', {})).body.companies)
    .toContainEqual({ company_id: busy, name: 'Busy', requests_a_minute: 14, refused_a_minute: 4 });
});
