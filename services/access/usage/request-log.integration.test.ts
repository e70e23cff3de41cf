import { type LoggedRequest, requestsLoggedSubject } from '@causeway/proto';
import { readPartitions } from '@causeway/runtime';
import { cleanUp } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { openPortal, testWorld } from '../testing/boot.ts';

const { world, gateway: bus, newOwner } = await openPortal({}, {});
const openOwner = async () => {
  const { companyId, browser: owner } = await newOwner();
  const { id } = await owner.ask('createApiKey', { name: 'Zapier', scopes: ['integrations:read'] });
  return { companyId, owner, id: id as number };
};
const { companyId, owner, id } = await openOwner();
const nowMs = Date.now();

let serial = 0;
const request = (change: Partial<Record<number, unknown>> = {}): LoggedRequest => {
  const row = [
    companyId,
    id,
    nowMs - 60_000,
    ++serial,
    'getLead',
    'GET',
    '17',
    200,
    5,
    'a-1',
    '203.0.113.7',
    0,
    'read',
    1,
  ];
  for (const [at, value] of Object.entries(change)) row[Number(at)] = value as number;
  return row as unknown as LoggedRequest;
};
const report = async (...rows: unknown[]) => {
  bus.nc.publish(requestsLoggedSubject, JSON.stringify(rows));
  await bus.nc.flush();
};
const list = async (query = '', member = owner, key = id) =>
  member.ask('listKeyRequests', undefined, [String(key)], query);
const statuses = async (query = '') =>
  (await list(query)).requests.map(({ status }: { status: number }) => status);

test('requests are listed once, the newest first, with ids and nothing else of a path, by status and in pages', async () => {
  const rows = [
    request(),
    request({ 7: 404, 6: '' }),
    request({ 7: 503 }),
    request({ 7: 201, 2: nowMs + 9_000_000 }),
  ];
  await report(...rows);
  await report(...rows);
  await expect.poll(() => statuses()).toEqual([201, 503, 404, 200]);
  const { requests } = await list();
  expect(Date.parse(requests[0].utc)).toBeLessThan(nowMs + 600_000);
  expect(requests.map(({ path }: { path: string }) => path)).toEqual([
    ...['/api/v1/integrations/leads/17', '/api/v1/integrations/leads/17'],
    ...['/api/v1/integrations/leads/{client_id}', '/api/v1/integrations/leads/17'],
  ]);
  expect([await statuses('status=4'), await statuses('status=5')]).toEqual([[404], [503]]);
  const first = await list('limit=3');
  expect((await list(`limit=3&cursor=${first.nextCursor}`)).requests).toMatchObject([{ status: 200 }]);
});

test('a report that is none adds nothing, and keeps no other from being written', async () => {
  for (const change of [
    { 6: 'ada@example.com' },
    { 9: 'a b' },
    { 10: 'nowhere' },
    { 8: -1 },
    { 4: '; DROP' },
  ])
    await report(request({ ...change, 7: 418 }));
  await report(request({ 7: 409 }));
  await expect.poll(() => statuses('status=4')).toEqual([409, 404]);
});

test('calls are counted by scope, and those with the old secret by themselves', async () => {
  await report(request({ 9: '', 10: '', 13: 40 }), request({ 11: 1, 10: '198.51.100.9', 2: nowMs - 30_000 }));
  const use = () => owner.ask('getKeyUse', undefined, [String(id)]);
  await expect.poll(async () => (await use()).previousInLastHour).toBe(1);
  const known = await use();
  // A gateway's clock was hours ahead.
  expect(Date.parse(known.last.utc)).toBeLessThan(nowMs + 600_000);
  expect(known).toMatchObject({
    previous: { address: '198.51.100.9' },
    scopes: [{ scope: 'integrations:read', requests: 43 }],
  });
});

test('requests are counted by key, day and operation, with those over a limit, for whole days only', async () => {
  const dayMs = 86_400_000;
  const midnight = Math.floor(nowMs / dayMs - 2) * dayMs - 9 * 3_600_000;
  const { owner: counted } = await openOwner();
  const { id: key } = await counted.ask('createApiKey', { name: 'SAP', scopes: ['integrations:read'] });
  const company = (await counted.ask('getSession')).company.id;
  const row = (at: number, status: number, requests = 1) =>
    request({ 0: company, 1: key, 2: at, 4: 'findLeads', 7: status, 13: requests });
  await report(
    row(midnight - 1, 200),
    row(midnight, 429, 35),
    ...[row(midnight + 1, 200, 60), row(midnight + 23 * 3_600_000, 503)],
    request({ 0: company, 1: key, 2: midnight + 5, 4: '', 6: '', 7: 404 }),
  );
  const times = [-1, 0, 1].map((at) => new Date(midnight + at * dayMs).toISOString());
  const day = (at: number) => `since=${times[at]}&until=${times[at + 1]}`;
  const usage = async (query: string) => {
    const { rows } = await counted.ask('listUsage', undefined, [], query);
    return rows.map((row: Record<string, unknown>) => [row.operation, row.requests, row.refused, row.failed]);
  };
  const refusals = ['findLeads', 96, 35, 1];
  await expect.poll(() => usage(day(1))).toEqual([refusals, ['', 1, 0, 0]]);
  expect(await usage(day(0))).toEqual([['findLeads', 1, 0, 0]]);
  expect(await usage(`${day(1)}&only=refused&keyId=${key}`)).toEqual([refusals]);
  expect(await usage(`${day(0)}&only=failed`)).toEqual([]);
  const { rows } = await counted.ask('listUsage', undefined, [], `${day(1)}&only=refused`);
  expect(rows).toMatchObject([
    { keyName: 'SAP', path: '/api/v1/integrations/leads/find', lastRefusedUtc: times[1] },
  ]);
  expect((await owner.ask('listUsage', undefined, [], `keyId=${key}`)).rows).toEqual([]);
  expect((await owner.ask('listUsage', undefined, [], 'since=yesterday')).status).toBe(400);
});

test('however often a company counts its requests, others get their connections to the database', async () => {
  const stranger = await openOwner();
  const outside = await createConnection(world.database.url);
  cleanUp(() => outside.end());
  await outside.query('LOCK TABLES request_log WRITE');
  const counts = Promise.all(Array.from({ length: 24 }, () => owner.ask('listUsage')));
  const waiting = async (): Promise<readonly string[]> => {
    const [rows] = await outside.query('SHOW FULL PROCESSLIST');
    return (rows as { Info: string | null; db: string | null }[]).flatMap(({ db, Info }) =>
      db === world.database.name && Info?.includes('SUM(requests)') ? [Info] : [],
    );
  };
  // One at each replica, of five connections each.
  await expect.poll(waiting).not.toEqual([]);
  expect((await stranger.owner.ask('listApiKeys')).keys).toHaveLength(1);
  const [statement, ...others] = await waiting();
  expect(others.length).toBeLessThanOrEqual(1);
  await outside.query('UNLOCK TABLES');
  await counts;
  const [plan] = await outside.query(`EXPLAIN FORMAT=TRADITIONAL ${statement}`);
  expect(plan).toMatchObject([
    { key: 'request_log_by_operation', Extra: expect.stringContaining('Using index') },
  ]);
});

test('a stranger sees nothing of it', async () => {
  const stranger = await openOwner();
  expect((await list('', stranger.owner)).requests).toEqual([]);
  expect((await stranger.owner.ask('getKeyUse', undefined, [String(id)])).status).toBe(404);
});

test('partitions of days that are over for a week are dropped, and what is younger stays', async () => {
  const dayMs = 86_400_000;
  const old = await testWorld(undefined, { withDays: false });
  const db = old.openDb();
  const days = async (): Promise<readonly string[]> =>
    (await readPartitions(db, 'request_log')).filter((name) => name !== 'future');
  const dayOf = (ms: number): string => `p${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`;
  const first = await old.startAccess({ now: () => new Date(nowMs - 10 * dayMs) });
  await expect.poll(async () => (await days()).length).toBe(8);
  expect(await days()).toContain(dayOf(nowMs - 9 * dayMs));
  const ages = [10, 9, 8, 7, 6, 0];
  const { nc } = await old.openBus('gateway');
  nc.publish(
    requestsLoggedSubject,
    JSON.stringify(ages.map((age) => request({ 2: nowMs - age * dayMs, 9: `days-${age}` }))),
  );
  const stored = async (): Promise<readonly string[]> => {
    const rows = await old.database.query<{ request_id: string }>('SELECT request_id FROM request_log');
    return rows.map(({ request_id }) => request_id).toSorted();
  };
  await expect.poll(async () => (await stored()).length).toBe(ages.length);
  await first.drain();
  await old.startAccess({ now: () => new Date(nowMs) });
  await expect.poll(async () => (await days()).at(0)).toBe(dayOf(nowMs - 7 * dayMs));
  expect(await stored()).toEqual(['days-0', 'days-6', 'days-7']);
  expect(await days()).toContain(dayOf(nowMs + 7 * dayMs));
});
