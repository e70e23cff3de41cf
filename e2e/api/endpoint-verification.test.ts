import { unverifiedReason } from '@causeway/proto';
import type { Received } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { openTeam } from './support/portal.ts';
import { startPublishedReceiver } from './support/published.ts';
import { type Json, openWorld, type Reply } from './support/world.ts';

const world = await openWorld();
const receiver = await startPublishedReceiver(world);

/** A company that requires endpoint verification, and a path of the receiver for it. */
const openCompany = async () => {
  const team = await openTeam(world);
  const { browser } = team.owner;
  const on = await browser.ask('PATCH', '/subscription-settings', { verifyEndpoints: true });
  expect([on.status, on.json]).toEqual([200, { verifyEndpoints: true }]);
  const { json: key } = await browser.ask('POST', '/keys', {
    name: 'integration',
    scopes: ['webhooks:write', 'integrations:write'],
  });
  const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
    world.ask(path, { method, key: key.value, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const path = `/${team.companyId}`;
  const received = (type: string): readonly Received[] =>
    receiver.received.filter((one) => one.path === path && one.type === type);
  return {
    browser,
    path,
    url: `${receiver.url}${path}`,
    ask,
    challenges: () => received('endpoint.verification'),
    deliveries: () => received('client.created'),
    subscribe: async (more: object): Promise<Json> => {
      const body = { eventTypes: ['client.created'], ...more };
      const { status, json, text } = await ask('POST', '/webhooks/subscriptions', body);
      expect(status, text).toBe(201);
      return json;
    },
    read: async (id: number): Promise<Json> => (await ask('GET', `/webhooks/subscriptions/${id}`)).json,
    createClient: async (): Promise<number> => {
      const person = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' };
      const { status, json } = await ask('POST', '/integrations/clients', person);
      expect(status).toBe(201);
      return json.client_id;
    },
  };
};
const clientOf = ({ body }: Received): number => JSON.parse(body.toString()).payload.client_id;

describe('in a company that requires endpoint verification', () => {
  test('a receiver that echoes the signed challenge gets the deliveries after it, and none before', async () => {
    const company = await openCompany();
    receiver.behave(company.path, 'status=404');
    const { id, signingSecret, ...made } = await company.subscribe({ url: company.url });
    expect(made).toMatchObject({ enabled: false, disabledReason: unverifiedReason });
    await until('the challenge', () => company.challenges().length === 1);
    await company.createClient();

    receiver.behave(company.path, 'echo');
    const enabled = await company.ask('PATCH', `/webhooks/subscriptions/${id}`, { enabled: true });
    expect([enabled.status, enabled.json]).toMatchObject([200, { enabled: true, disabledReason: null }]);
    const clientId = await company.createClient();
    const delivery = await until('a delivery', () => company.deliveries()[0]);
    expect(clientOf(delivery)).toBe(clientId);

    const challenges = company.challenges();
    expect(challenges).toHaveLength(2);
    for (const { headers, body } of challenges) new Webhook(signingSecret).verify(body, headers);
    const log = await company.browser.ask('GET', '/audit?action=subscription.verified');
    expect(log.json.entries).toMatchObject([{ actor: { kind: 'key' }, after: { enabled: true } }]);
  });
});
