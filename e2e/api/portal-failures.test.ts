import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect, test } from 'vitest';
import { openTeam } from './support/portal.ts';
import { type Json, openWorld } from './support/world.ts';

const world = await openWorld();

test('A failure is found by its record, grouped, shared, and told; calls of agents are counted', async () => {
  const team = await openTeam(world);
  const { ask } = team.owner.browser;
  const get = async (path: string): Promise<Json> => (await ask('GET', path)).json;
  const { json: made } = await ask('POST', '/keys', {
    name: 'tool',
    scopes: ['integrations:read', 'integrations:write', 'webhooks:write'],
  });
  const key: string = made.value;
  const post = async (path: string, body: Json) =>
    (await world.ask(path, { method: 'POST', key, body: JSON.stringify(body) })).json;
  const receiver = await testReceiver();
  receiver.answer = (response) => response.writeHead(410).end();
  const { id: subscriptionId } = await post('/webhooks/subscriptions', {
    url: `${receiver.url}/gone`,
    eventTypes: ['lead.created'],
    managedBy: 'n8n',
  });
  const { client_id } = await post('/integrations/leads', {
    first_name: 'Zoë',
    last_name: 'Byron',
    email: 'zoe@example.com',
    external_id: 'form-7',
  });

  await until('the subscription is off, and shows', async () => {
    const [shown] = (await get('/subscriptions')).subscriptions;
    return shown.enabled === false && /410/.test(shown.disabledReason) && shown.expiresUtc !== null;
  });
  // A 410 means that the tool is gone; it has thirty days to come back.
  const [{ expiresUtc }] = (await get('/subscriptions')).subscriptions;
  expect((Date.parse(expiresUtc) - Date.now()) / 86_400_000).toBeCloseTo(30, 1);

  for (const record of ['email=zoe%40example.com', `clientId=${client_id}`]) {
    expect((await get(`/events?${record}`)).events, record).toMatchObject([{ type: 'lead.created' }]);
    expect((await get(`/deliveries?${record}`)).deliveries, record).toMatchObject([{ subscriptionId }]);
  }
  expect((await get('/people?q=Byron')).people).toMatchObject([{ id: client_id }]);
  expect(await get(`/people/${client_id}`)).toMatchObject({ person: { id: client_id } });

  const cause = async () => (await get('/failure-causes')).causes[0];
  expect(await until('the cause', cause)).toMatchObject({ subscriptionId, statusCode: 410 });

  const { deliveries } = await get('/deliveries');
  const { eventId, replayId } = deliveries[0];
  const shared = await ask('POST', `/deliveries/${eventId}/${subscriptionId}/${replayId}/shares`, {
    hours: 1,
  });
  expect(shared.status).toBe(201);
  const { token, id: shareId } = shared.json;
  expect((await ask('POST', '/shared-delivery', { token })).text).not.toContain('zoe@example.com');
  expect((await get('/delivery-shares')).shares).toHaveLength(1);
  expect((await ask('DELETE', `/delivery-shares/${shareId}`)).status).toBe(204);
  expect((await ask('POST', '/shared-delivery', { token })).status).toBe(404);

  const told = await until('members are told', async () => {
    const { notices } = await get('/notices');
    return notices.find(({ title }: Json) => title.includes('was switched off'));
  });
  expect((await ask('POST', '/notices/read', { upTo: told.id })).status).toBe(204);

  const called = await world.ask('//mcp', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'lookups_employees' },
    }),
  });
  expect(called.status).toBe(200);
  await until('the call is counted', async () => (await get('/agents/calls')).tools[0]?.answered === 1);

  // The thirty days are over.
  await world.sql(
    'UPDATE subscriptions SET expires_utc = UTC_TIMESTAMP(3) WHERE company_id = ? AND subscription_id = ?',
    [team.companyId, subscriptionId],
  );
  await until(
    'the subscription is removed',
    async () => (await get('/subscriptions')).subscriptions.length === 0,
  );
  const { entries } = await get('/audit');
  expect(entries[0]).toMatchObject({
    action: 'subscription.deleted',
    after: { reason: expect.stringMatching(/^no tool for 30 days: .*410/) },
  });
});
