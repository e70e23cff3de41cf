import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { beforeAll, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { openTeam } from '../support/portal.ts';
import { openWorld } from '../support/world.ts';

// A gateway serves everybody in one thread, so no request may keep the thread for long. Processor time is measured, because a busy
// machine only lengthens the time by the clock.

const world = await openWorld();
const folder = mkdtempSync(join(tmpdir(), 'causeway-turns-'));
cleanUp(() => rmSync(folder, { recursive: true, force: true }));
const report = join(folder, 'longest');

/** SIGUSR2 begins to measure each turn of the gateway's loop; the next one writes the longest, in microseconds. */
const measuring = `
  import { renameSync, writeFileSync } from 'node:fs';
  let measures = false, longest = 0, before = 0;
  const spent = () => { const { user, system } = process.threadCpuUsage(); return user + system; };
  const turn = () => {
    const now = spent();
    longest = Math.max(longest, now - before);
    before = now;
    if (measures) setImmediate(turn);
  };
  process.on('SIGUSR2', () => {
    measures = !measures;
    if (!measures) {
      writeFileSync(${JSON.stringify(`${report}.new`)}, String(longest));
      return renameSync(${JSON.stringify(`${report}.new`)}, ${JSON.stringify(report)});
    }
    longest = 0;
    before = spent();
    setImmediate(turn);
  });`;

let url = '';
let signal: () => void;
let key = '';
let cookie = '';
beforeAll(async () => {
  const gateway = await startGateway(world, 'measured', {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(measuring)}`,
  });
  url = gateway.url;
  signal = () => process.kill(gateway.process.pid!, 'SIGUSR2');
  const { companyId, owner } = await openTeam(world);
  cookie = `causeway=${owner.browser.cookie()}`;
  await world.operator.ask('setLimits', { company_id: companyId, read: 1e6, write: 1e6, admin: 1e6 });
  const scopes = ['integrations:read', 'integrations:write', 'events:read', 'admin'] as const;
  key = (await world.operator.ask('createKey', { company_id: companyId, name: 'test', scopes: [...scopes] }))
    .value;
});

const ask = async (method: string, path: string, headers = {}, body?: string): Promise<number> => {
  const reply = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
  await reply.arrayBuffer();
  return reply.status;
};
const byKey = (method: string, path: string, body?: string, headers = {}) =>
  ask(method, `/api/v1${path}`, { 'X-Api-Key': key, ...headers }, body);
const byMember = (path: string) => ask('GET', `/portal/api/v1${path}`, { cookie, 'accept-encoding': 'gzip' });
const byAgent = (method: string, params: object) =>
  ask(
    'POST',
    '/mcp',
    { 'X-Api-Key': key, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  );

/** The least of several rounds, because garbage collection lengthens a few. */
const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  await work();
  const rounds: number[] = [];
  while (rounds.length < 5) {
    rmSync(report, { force: true });
    signal();
    await sleep(20);
    await work();
    signal();
    await until('the gateway has reported', () => existsSync(report));
    rounds.push(Number(readFileSync(report, 'utf8')));
  }
  return Math.min(...rounds);
};

/** Processor time in this thread of compressing 1 MiB that cannot be made much smaller. */
const yardstick = (): number => {
  const text = Buffer.from(randomBytes(3 * 2 ** 18).toString('base64'));
  gzipSync(text, { level: 1 });
  const before = process.threadCpuUsage();
  gzipSync(text, { level: 1 });
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
};

test('No request keeps the gateway’s thread for long, whatever its size and that of its answer', async () => {
  for (let n = 0; n < 10; n++) {
    const payload = { text: randomBytes(150_000).toString('base64') };
    expect(await byKey('POST', '/events/test', JSON.stringify({ type: 'document.uploaded', payload }))).toBe(
      202,
    );
  }
  const head = {
    'X-Forwarded-For': '1,'.repeat(3_000),
    Cookie: 'a=b;'.repeat(1_500),
    'If-None-Match': '"1",'.repeat(400),
  };
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    'a lookup with a long head': () => byKey('GET', '/integrations/lookups/employees', undefined, head),
    'a long path': () => byKey('GET', `/integrations/people/${'%20'.repeat(4_000)}`),
    'a body of 1 MiB': () =>
      byKey('POST', '/integrations/leads', JSON.stringify({ first_name: 'x'.repeat(2 ** 20 - 100) })),
    'a body that is too large': () => byKey('POST', '/integrations/leads', ' '.repeat(2 ** 21)),
    'an answer of 2 MiB': () => byKey('GET', '/events?limit=100'),
    'a compressed page of 2 MiB': () => byMember('/events?limit=100'),
    'the OpenAPI document': () => ask('GET', '/api/v1/openapi.json'),
    'the reference': () => ask('GET', '/docs'),
    'whose key it is': () => byKey('GET', '/integrations/me'),
    'a list of tools': () => byAgent('tools/list', {}),
    'a tool with a long argument': () =>
      byAgent('tools/call', { name: 'leads_update', arguments: { client_id: ' '.repeat(500_000) } }),
  };
  const measured: [string, number][] = [];
  for (const [name, work] of Object.entries(works)) measured.push([name, await longestTurn(work)]);
  // Without work, it is about a twentieth; the page, compressed in this thread, twice the yardstick.
  expect(measured.filter(([, longest]) => longest > yardstick() / 2)).toEqual([]);
});
