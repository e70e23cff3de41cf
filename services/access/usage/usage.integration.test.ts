import { type LoggedRequest, requestsLoggedSubject } from '@causeway/proto';
import { expect, test } from 'vitest';
import { loggedRequest, operatorOf, testWorld } from '../testing/boot.ts';

const world = await testWorld();
const gatherMs = 300;
await world.startAccess({ gatherMs });
await world.startAccess({ gatherMs });
const bus = await world.openBus('gateway');
const ask = operatorOf(await world.openBus('operator'));
const { company_id } = (await ask('createCompany', { name: 'Acme' })).body;
const minute = Math.floor(Date.now() / 60_000) - 5;

const report = async (...rows: unknown[]): Promise<void> => {
  bus.nc.publish(requestsLoggedSubject, JSON.stringify(rows));
  await bus.nc.flush();
};
const requests = (
  keyId: number,
  bucket: LoggedRequest[12],
  byStatus: Readonly<Record<number, number>>,
  { company = company_id, at = minute } = {},
): LoggedRequest[] =>
  Object.entries(byStatus).map(([status, times]) =>
    loggedRequest(company, keyId, at * 60_000, { status: Number(status), bucket, requests: times }),
  );
const rowsOf = (keyId: number) =>
  world.database.query(
    'SELECT bucket, answered, limited, failed, minute_utc FROM request_minutes WHERE company_id = ? AND key_id = ? ORDER BY bucket',
    [company_id, keyId],
  );

test('reports of several gateways for one minute are added up, whichever replica writes them', async () => {
  for (let at = 0; at < 10; at++) await report(...requests(1, 'read', { 200: 3, 404: 1, 429: 2, 503: 1 }));
  await expect.poll(() => rowsOf(1)).toMatchObject([{ answered: 50 }]);
  await report(...requests(1, 'read', { 200: 1 }), ...requests(1, 'write', { 201: 7 }));
  await expect
    .poll(() => rowsOf(1))
    .toEqual([
      { bucket: 'read', answered: 51, limited: 20, failed: 10, minute_utc: new Date(minute * 60_000) },
      { bucket: 'write', answered: 7, limited: 0, failed: 0, minute_utc: new Date(minute * 60_000) },
    ]);
});

test('what no limit counted, and what nobody was answered, adds nothing', async () => {
  await report(
    ...requests(4, '', { 200: 5 }),
    ...requests(4, null, { 403: 5 }),
    ...requests(4, 'read', { 499: 5 }),
  );
  await report(...requests(4, 'read', { 200: 1 }));
  await expect.poll(() => rowsOf(4)).toMatchObject([{ answered: 1, limited: 0, failed: 0 }]);
});

test('a report with a time in the future counts for now', async () => {
  await report(...requests(2, 'read', { 200: 3 }, { at: minute + 60 }));
  await expect.poll(() => rowsOf(2)).toHaveLength(1);
  const [row] = (await rowsOf(2)) as { minute_utc: Date }[];
  expect(row!.minute_utc.getTime()).toBeLessThanOrEqual(Date.now());
});

let answered = 0;
test.each([
  ['no list', { a: 1 }],
  ['an unknown bucket', requests(3, 'read', { 200: 1 })[0]!.with(12, 'all')],
  ['a negative count', requests(3, 'read', { 200: -1 })[0]],
  ['too few values', [company_id, 3, 'read']],
])('a report with %s does not affect others', async (_, wrong) => {
  await report(wrong);
  await report(...requests(3, 'read', { 200: 1 }));
  await expect.poll(() => rowsOf(3)).toMatchObject([{ answered: ++answered }]);
});

test('thousands of counts are written completely', async () => {
  await report(...Array.from({ length: 1800 }, (_, at) => requests(1000 + at, 'read', { 200: 1 })).flat());
  const made = () =>
    world.database.query('SELECT COUNT(*) AS made FROM request_minutes WHERE key_id >= 1000');
  await expect.poll(made).toEqual([{ made: 1800 }]);
});

test('operators see what companies ask for, each request once, and what was refused', async () => {
  const { company_id: busy } = (await ask('createCompany', { name: 'Busy' })).body;
  const at = Math.floor(Date.now() / 60_000);
  await report(...requests(9, 'read', { 200: 40, 429: 20, 500: 10 }, { company: busy, at }));
  await expect
    .poll(async () => (await ask('listRequestsByCompany', {})).body.companies)
    .toContainEqual({ company_id: busy, name: 'Busy', requests_a_minute: 14, refused_a_minute: 4 });
});
