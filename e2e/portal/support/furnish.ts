import { type EventType, scopes } from '@causeway/proto';
import type { Receiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import type { Team } from '../../api/support/portal.ts';
import type { Json, World } from '../../api/support/world.ts';
import { openSubscriber } from './subscriber.ts';

/** IDs of the data of a company that has used the portal for a while. */
export interface Furnished {
  readonly healthy: number;
  readonly failing: number;
  readonly off: number;
  /** A delivery that failed and is retried in an hour, as it appears in URLs. */
  readonly delivery: string;
  readonly event: number;
  /** A person with events and deliveries. */
  readonly client: number;
  readonly key: number;
  readonly member: number;
}

/** Creates real traffic and members, so that every page has successes and failures to show. */
export const furnish = async (world: World, receiver: Receiver, team: Team): Promise<Furnished> => {
  const { browser } = team.owner;
  const subscriber = openSubscriber(world, receiver, team);
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const { status, json, text } = await browser.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json;
  };
  const subscribe = async (
    name: string,
    eventTypes: readonly EventType[],
    behaviour?: string,
  ): Promise<Json> => {
    const path = `/${name.toLowerCase().replaceAll(' ', '-')}-${team.companyId}`;
    receiver.behave(path, behaviour);
    return ask('POST', '/subscriptions', { name, url: `${receiver.url}${path}`, eventTypes });
  };
  const subscription = (id: number): Promise<Json> => ask('GET', `/subscriptions/${id}`);

  const key = await ask('POST', '/keys', { name: 'Zapier', scopes: [...scopes] });
  const old = await ask('POST', '/keys', { name: 'Old website', scopes: ['integrations:read'] });
  await ask('POST', `/keys/${old.id}/revoke`);
  const { id: member } = await team.join('developer');
  await ask('POST', '/team/invitations', { email: `grace-${team.companyId}@example.com`, role: 'viewer' });

  const healthy = await subscribe('Billing', ['client.created', 'payment.succeeded', 'invoice.created']);
  const failing = await subscribe('Newsletter', ['payment.failed'], 'status=503&retryAfter=3600');
  const off = await subscribe('Old bridge', ['agreement.signed'], 'status=410');
  const managed = await subscribe('Lead sheet', ['lead.created']);
  await world.sql(
    "UPDATE subscriptions SET managed_by = 'zapier' WHERE company_id = ? AND subscription_id = ?",
    [team.companyId, managed.id],
  );
  await ask('POST', `/subscriptions/${healthy.id}/test`, {});
  await subscriber.createClients(6);
  await subscriber.createEvents(24, 'payment.succeeded');
  await subscriber.createEvents(9, 'invoice.created');
  await subscriber.createEvents(1, 'agreement.signed');
  await until(
    'the subscription of a gone receiver is disabled',
    async () => !(await subscription(off.id)).enabled,
  );
  await subscriber.createEvents(3, 'agreement.signed');
  await subscriber.createEvents(3, 'payment.failed');
  await until(
    'the first attempts have failed',
    async () => (await subscription(failing.id)).health.failed24h >= 3,
  );
  await until(
    'the others have arrived',
    async () => (await subscription(healthy.id)).health.succeeded24h >= 39,
  );
  await resendOne(ask, healthy.id);
  const { deliveries } = await ask('GET', `/deliveries?subscriptionId=${failing.id}`);
  const { eventId } = deliveries[0];
  const people = await ask('GET', '/people?q=Kollwitz');
  return {
    healthy: healthy.id,
    failing: failing.id,
    off: off.id,
    delivery: `${eventId}/${failing.id}/0`,
    event: eventId,
    client: people.people[0].id,
    key: key.id,
    member,
  };
};

const resendOne = async (
  ask: (method: string, path: string, body?: unknown) => Promise<Json>,
  subscriptionId: number,
): Promise<Json> => {
  const { deliveries } = await ask('GET', `/deliveries?subscriptionId=${subscriptionId}&limit=1`);
  return ask('POST', `/deliveries/${deliveries[0].id.replaceAll('-', '/')}/resend`);
};
