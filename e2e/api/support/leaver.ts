import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { expect } from 'vitest';
import type { World } from './open.ts';
import { makeEvent, openTeam } from './portal.ts';

/** An admin who made, by session and by a key of their own, what sends data out of the company. */
export const openLeaver = async (world: World) => {
  const { companyId, owner, join } = await openTeam(world);
  const leaver = await join('admin');
  const receiver = await testReceiver();
  const urlOf = (path: string) => `${receiver.url}/${path}`;
  const as = async (member: typeof owner, method: string, path: string, body?: unknown) => {
    const { status, json } = await member.browser.ask(method, path, body);
    expect([path, status]).toEqual([path, expect.toBeOneOf([200, 201, 202, 204])]);
    return json;
  };
  const subscribe = async (member: typeof owner, path: string): Promise<number> =>
    (await as(member, 'POST', '/subscriptions', { url: urlOf(path), eventTypes: ['lead.created'] })).id;
  const key = await as(leaver, 'POST', '/keys', { name: 'own', scopes: ['webhooks:write'] });
  const made = await subscribe(leaver, 'made');
  const moved = await subscribe(owner, 'before');
  await as(leaver, 'PATCH', `/subscriptions/${moved}`, { url: urlOf('moved') });
  const byKey = await world.ask('/webhooks/subscriptions', {
    method: 'POST',
    key: key.value,
    body: { url: urlOf('by-key'), eventTypes: ['lead.created'] },
  });
  const renamed = await subscribe(owner, 'others');
  await as(leaver, 'PATCH', `/subscriptions/${renamed}`, { name: 'Renamed' });
  await as(leaver, 'PATCH', '/notices/channels', { channel: 'slack', url: urlOf('slack') });
  await as(owner, 'PATCH', '/notices/channels', { channel: 'webhook', url: urlOf('operational') });
  const event = async () => (await makeEvent(world, { companyId }, 'lead.created')).id as number;
  const arrived = (id: number): readonly string[] => {
    const own = receiver.received.filter(({ headers }) => headers['webhook-id'] === String(id));
    return [...new Set(own.map(({ path }) => path))].sort();
  };
  const first = await event();
  await until('all get an event', () => arrived(first).length === 4);
  const shares = `/deliveries/${first}/${renamed}/0/shares`;
  // A delivery is stored with its first result.
  const share = (member: typeof owner): Promise<string> =>
    until('the delivery can be shared', async () => {
      const { status, json } = await member.browser.ask('POST', shares, { hours: 168 });
      return status === 201 && json.token;
    });
  const links = { leavers: await share(leaver), owners: await share(owner) };
  const open = async (token: string) =>
    (await owner.browser.ask('POST', '/shared-delivery', { token })).status;
  const enabled = async () =>
    (await as(owner, 'GET', '/subscriptions')).subscriptions
      .filter((one: { enabled: boolean }) => one.enabled)
      .map(({ id }: { id: number }) => id);
  const channels = async () =>
    (await as(owner, 'GET', '/notices/channels')).channels.map(({ channel }: { channel: string }) => channel);
  const audited = async (action: string) =>
    (await as(owner, 'GET', `/audit?action=${action}`)).entries as readonly {
      readonly actor: { readonly id: number };
      readonly target: { readonly id: string };
    }[];
  const ids = { made, moved, byKey: byKey.json.id as number, renamed };
  return {
    ...{ companyId, owner, leaver, ids, links, key, open, enabled, channels, audited, event, arrived },
    as: (method: string, path: string, body?: unknown) => as(owner, method, path, body),
  };
};
