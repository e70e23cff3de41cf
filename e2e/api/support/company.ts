import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect } from 'vitest';
import { openBrowser, openTeam } from './portal.ts';
import type { Json, World } from './world.ts';

const type = 'lead.created';
export const oddName = 'Zoë "\\" \u2028 \u{1f9a6} 株式';

/** A company with members, keys, people, a subscription with deliveries, and a link to one of them. */
export const openScene = async (world: World) => {
  const { companyId, owner, join } = await openTeam(world);
  const colleague = await join('admin');
  await world.operator.ask('setLimits', { company_id: companyId, read: 100_000, write: 100_000 });
  const makeKey = async () =>
    (await world.operator.ask('createKey', {
      company_id: companyId,
      name: 'test',
      scopes: ['integrations:read', 'integrations:write', 'events:read', 'webhooks:write', 'admin'],
    })) as { readonly id: number; readonly value: string };
  const [key, revoked] = [await makeKey(), await makeKey()];
  await world.operator.ask('revokeKey', { id: revoked.id });
  const receiver = await testReceiver();
  const post = (path: string, body: Json) => world.ask(path, { method: 'POST', key: key.value, body });
  const subscribe = async (path: string, enabled = true): Promise<number> =>
    (await post('/webhooks/subscriptions', { url: receiver.url + path, eventTypes: [type], enabled })).json
      .id;
  const on = await subscribe('/on');
  const off = await subscribe('/off', false);
  const lead = (number: number) =>
    post('/integrations/leads', {
      first_name: oddName,
      last_name: `Lead ${number}`,
      email: `lead-${number}-${companyId}@example.com`,
      phone: '+1 555 0100',
      external_id: `lead-${number}`,
    });
  const first = (await lead(1)).json.client_id as number;
  await until('a delivery arrives', () => receiver.received.length > 0);
  await post(`/integrations/clients/${first}/notes`, { text: 'A note' });
  const token = await share(owner, receiver, on);
  const enabled = async () =>
    (
      await world.sql<{ subscription_id: number }>(
        'SELECT subscription_id FROM subscriptions WHERE company_id = ? AND enabled = 1',
        [companyId],
      )
    ).map(({ subscription_id }) => subscription_id);
  const read = async () => (await world.ask('/integrations/lookups/employees', { key: key.value })).status;
  const shared = async () => (await openBrowser(world).ask('POST', '/shared-delivery', { token })).status;
  return { companyId, owner, colleague, key, revoked, receiver, on, off, lead, enabled, read, shared };
};

export type Scene = Awaited<ReturnType<typeof openScene>>;

const share = async (
  owner: Awaited<ReturnType<typeof openTeam>>['owner'],
  receiver: Awaited<ReturnType<typeof testReceiver>>,
  subscription: number,
): Promise<string> => {
  const event = receiver.received[0]!.headers['webhook-id'];
  return until('the delivery can be shared', async () => {
    const path = `/deliveries/${event}/${subscription}/0/shares`;
    const { status, json } = await owner.browser.ask('POST', path, { hours: 168 });
    return status === 201 && json.token;
  });
};

export const close = (world: World, { companyId }: Scene) =>
  world.operator.ask('closeCompany', { company_id: companyId });
export const open = (world: World, { companyId }: Scene) =>
  world.operator.ask('openCompany', { company_id: companyId });

export const expectClosed = async (world: World, scene: Scene): Promise<void> => {
  await until('its subscriptions are off', async () => (await scene.enabled()).length === 0);
  expect(await scene.read()).toBe(401);
  expect((await scene.colleague.browser.ask('GET', '/session')).status).toBe(401);
  const { status, json } = await openBrowser(world).signIn(scene.colleague);
  expect([status, json.reason]).toEqual([403, 'company_closed']);
  expect(json.error).toContain('closed');
  expect(await scene.shared()).toBe(404);
};

export const expectOpen = async (world: World, scene: Scene): Promise<void> => {
  await until('its subscription is on', async () => (await scene.enabled()).length === 1);
  expect(await scene.enabled()).toEqual([scene.on]);
  await until('its key is accepted', async () => (await scene.read()) === 200);
  expect((await world.ask('/integrations/lookups/employees', { key: scene.revoked.value })).status).toBe(401);
  expect((await scene.colleague.browser.ask('GET', '/session')).status).toBe(401);
  expect((await openBrowser(world).signIn(scene.colleague)).status).toBe(200);
  expect(await scene.shared()).toBe(200);
};

export const audited = async (world: World, { companyId }: Scene) =>
  (
    await world.sql<{ action: string }>(
      `SELECT action FROM audit_log WHERE company_id = ? AND action IN ('company.closed', 'company.opened')
       ORDER BY audit_id`,
      [companyId],
    )
  ).map(({ action }) => action);
