import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { openTeam } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const { owner } = await openTeam(world);
const { id, value: key } = (
  await owner.browser.ask('POST', '/keys', { name: 'Zapier', scopes: ['integrations:read'] })
).json;

interface Logged {
  readonly path: string | null;
  readonly status: number;
  readonly requestId: string | null;
  readonly isPrevious: boolean;
  readonly requests: number;
}
const log = async (query = '', cursor = ''): Promise<readonly Logged[]> => {
  const path = `/keys/${id}/requests?limit=100${query}${cursor && `&cursor=${cursor}`}`;
  const { requests, nextCursor } = (await owner.browser.ask('GET', path)).json;
  return nextCursor === null ? requests : [...requests, ...(await log(query, nextCursor))];
};

test('Requests are listed with path, status and id, and without what callers put into paths and queries', async () => {
  const ask = (path: string, secret = key) =>
    world.ask(path, { key: secret, headers: { 'x-request-id': 'mine' } });
  await ask('/integrations/leads/find?email=ada@example.com');
  await ask('/integrations/leads/12');
  await ask('/integrations/leads/ada@example.com');
  await ask('/nowhere/ada@example.com');
  await ask('/events');
  const rotated = (await owner.browser.ask('POST', `/keys/${id}/rotate`, { graceHours: 1 })).json.value;
  await ask('/integrations/me');
  await ask('/integrations/me', rotated);
  const base = '/api/v1/integrations';
  await expect
    .poll(async () =>
      (await log()).map(({ path, status, isPrevious }) => [path, status, isPrevious]).toSorted(),
    )
    .toEqual(
      [
        [`${base}/leads/find`, 200, false],
        [`${base}/leads/12`, 404, false],
        [`${base}/leads/{client_id}`, 404, false],
        [null, 404, false],
        ['/api/v1/events', 403, false],
        [`${base}/me`, 200, true],
        [`${base}/me`, 200, false],
      ].toSorted(),
    );
  expect(JSON.stringify(await log())).not.toContain('ada@');
  expect(new Set((await log()).map(({ requestId }) => requestId))).toEqual(new Set(['mine']));
  expect((await owner.browser.ask('GET', `/keys/${id}/use`)).json).toMatchObject({
    previous: { address: '127.0.0.1' },
    previousInLastHour: 1,
  });
});

test('Of many requests in a second some are listed, and all are counted', async () => {
  const before = await log('&status=4');
  await Promise.all(Array.from({ length: 1_000 }, () => world.ask('/events', { key })));
  const more = async () => (await log('&status=4')).slice(0, -before.length);
  const counted = async () => (await more()).reduce((total, { requests }) => total + requests, 0);
  await expect.poll(counted).toBe(1_000);
  expect((await more()).some(({ requests }) => requests > 1)).toBe(true);
});

test('A tool call of an agent is listed once, as the operation of the tool', async () => {
  const made = await owner.browser.ask('POST', '/keys', { name: 'Agent', scopes: ['integrations:read'] });
  let sent = 0;
  const transport = new StreamableHTTPClientTransport(new URL(`${world.baseUrl}/mcp`), {
    requestInit: { headers: { 'X-Api-Key': made.json.value } },
    fetch: (...request) => {
      sent++;
      return fetch(...request);
    },
  });
  const agent = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await agent.connect(transport);
  await agent.callTool({ name: 'lookups_employees', arguments: {} });
  await agent.listTools();
  const calls = async (): Promise<readonly Logged[]> =>
    (await owner.browser.ask('GET', `/keys/${made.json.id}/requests?limit=100`)).json.requests;
  await expect
    .poll(async () => (await calls()).map(({ path }) => path).toSorted())
    .toEqual(['/api/v1/integrations/lookups/employees', ...Array.from({ length: sent - 1 }, () => '/mcp')]);
  const ids = (await calls()).map(({ requestId }) => requestId);
  expect(new Set(ids).size).toBe(sent);
});
