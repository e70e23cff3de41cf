import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { outcome } from '../support/clock.ts';
import { kill } from '../support/kill.ts';
import { openTeam } from '../support/portal.ts';
import { allReady } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();

test('Gateways and access are killed while requests are logged: none waits, none is listed twice, and the log goes on', async () => {
  const { companyId, owner } = await openTeam(world);
  await world.operator.ask('setLimits', { company_id: companyId, read: 1_000_000 });
  const { id, value: key } = (
    await owner.browser.ask('POST', '/keys', { name: 'Zapier', scopes: ['integrations:read'] })
  ).json;
  let sent = 0;
  const ask = async (): Promise<number> => {
    const headers = { 'x-request-id': `r-${++sent}` };
    const reply = await outcome(world.ask('/integrations/me', { key, headers }));
    return reply instanceof Error ? 0 : reply.status;
  };
  const counted = async (): Promise<number> => {
    const [row] = await world.sql<{ n: number }>(
      'SELECT CAST(COALESCE(SUM(requests), 0) AS SIGNED) AS n FROM request_log WHERE company_id = ?',
      [companyId],
    );
    return row!.n;
  };
  const someAnswered = () => until('requests are answered', async () => (await ask()) === 200);
  for (const kinds of [['access'], ['gateway'], ['access', 'gateway']]) {
    const before = await counted();
    await until('requests are logged', async () => (await ask()) === 200 && (await counted()) > before);
    const gone = kill(world, ...kinds);
    // Without access, requests are answered as before; their log waits for it, or is lost.
    if (!kinds.includes('gateway')) for (let asked = 0; asked < 20; asked++) await someAnswered();
    await allReady(world, gone);
  }
  await someAnswered();
  const last = `r-${sent}`;
  const listed = async (): Promise<readonly string[]> => {
    const ids: string[] = [];
    let cursor = '';
    do {
      const { json } = await owner.browser.ask('GET', `/keys/${id}/requests?limit=100${cursor}`);
      ids.push(...json.requests.map(({ requestId }: { requestId: string | null }) => requestId ?? ''));
      cursor = json.nextCursor ? `&cursor=${json.nextCursor}` : '';
    } while (cursor !== '');
    return ids.filter(Boolean);
  };
  await until('the last request is listed', async () => (await listed()).includes(last));
  const ids = await listed();
  expect(new Set(ids).size).toBe(ids.length);
  expect(await counted()).toBeLessThanOrEqual(sent);
});
