import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Client } from 'undici';
import { expect, test } from 'vitest';
import { startGateway } from './support/gateway.ts';
import { openTeam } from './support/portal.ts';
import { metric } from './support/processes.ts';
import { openWorld, send } from './support/world.ts';

const world = await openWorld();
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Starts an additional gateway behind this many proxies; the test acts as the innermost one. */
const gatewayBehind = async (proxies: number) => {
  const gateway = await startGateway(world, `behind-${proxies}`, { TRUSTED_PROXIES: String(proxies) });
  const client = new Client(gateway.url);
  cleanUp(() => client.destroy());
  const get = (forwardedFor: string | string[], headers: object, path = '/events') =>
    send(client, path, { headers: { ...headers, 'x-forwarded-for': forwardedFor as string } });
  return {
    get,
    /** @returns the status, and the increase of the failures of an address. */
    refuse: async (address: string, forwardedFor: string | string[]) => {
      const failures = () => metric(gateway.process, 'gateway_authentication_failures_total', `"${address}"`);
      const before = await failures();
      const { status } = await get(forwardedFor, { 'x-api-key': 'guess' });
      return [status, (await failures()) - before];
    },
    /** @returns the log entry of a request. */
    logged: async (forwardedFor: string, headers: object, path?: string) => {
      const requestId = randomUUID();
      await get(forwardedFor, { ...headers, 'x-request-id': requestId }, path);
      const line = () =>
        readFileSync(gateway.logFile, 'utf8')
          .split('\n')
          .find((one) => one.includes(requestId));
      await until('the request is in the log', () => line() !== undefined);
      return JSON.parse(line()!);
    },
  };
};
const direct = await gatewayBehind(0);
const behind = await gatewayBehind(1);

test('A failed authentication counts for the client that the proxy names, and not for an address that the client sends', async () => {
  expect(await direct.refuse('203.0.113.7', '203.0.113.7')).toEqual([401, 0]);
  expect(await behind.refuse('203.0.113.7', '203.0.113.7')).toEqual([401, 1]);
  expect(await behind.refuse('203.0.113.7', '198.51.100.1, 203.0.113.7')).toEqual([401, 1]);
  // A header sent by the client, before that of the proxy.
  expect(await behind.refuse('203.0.113.7', ['198.51.100.1', '203.0.113.7'])).toEqual([401, 1]);
  expect(await behind.refuse('198.51.100.1', '198.51.100.1, 203.0.113.7')).toEqual([401, 0]);
  expect(await behind.refuse('127.0.0.1', 'neither name nor number')).toEqual([401, 1]);
});

test('The log entry of a request names its client and its trace, at the interface and at the portal', async () => {
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const traced = expect.stringContaining(traceId);
  for (const path of ['/events', '//portal/api/v1/session']) {
    const logged = await direct.logged('203.0.113.7', { traceparent }, path);
    expect(logged).toMatchObject({ address: '127.0.0.1', traceparent: traced });
    const proxied = await behind.logged('198.51.100.1, 203.0.113.7', { traceparent }, path);
    expect(proxied).toMatchObject({ address: '203.0.113.7', traceparent: traced });
  }
});

const { owner } = await openTeam(world);
const scopes = ['integrations:read', 'events:read'];
const make = (networks: unknown) => owner.browser.ask('POST', '/keys', { name: 'Zapier', scopes, networks });
const change = (id: number, networks: string[]) => owner.browser.ask('PATCH', `/keys/${id}`, { networks });
const refused = { reason: 'network_not_allowed', error: expect.stringContaining('127.0.0.1') };

test('A key is refused from elsewhere with 403 and a code, wherever it is used, and works from its networks', async () => {
  const { id, value: key, networks } = (await make(['10.0.0.0/8', '2001:DB8::/32', '10.0.0.0/8'])).json;
  expect(networks).toEqual(['10.0.0.0/8', '2001:db8::/32']);
  expect(await world.ask('/events', { key })).toMatchObject({ status: 403, json: refused });
  expect(await world.ask('/nowhere', { key })).toMatchObject({ status: 403, json: refused });
  expect(await world.ask('/integrations/me', { key })).toMatchObject({ status: 403, json: refused });
  expect(await world.ask('/integrations/lookups/employees', { key })).toMatchObject({
    status: 403,
    json: { error_code: 'network_not_allowed' },
  });
  const agent = { method: 'POST', key, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } };
  expect(await world.ask('//mcp', agent)).toMatchObject({ status: 403, json: refused });
  // From the answer on, at every gateway.
  expect((await change(id, ['127.0.0.0/8', '::1'])).json.networks).toEqual(['127.0.0.0/8', '::1/128']);
  const many = () => Promise.all(Array.from({ length: 16 }, () => world.ask('/events', { key })));
  expect(new Set((await many()).map(({ status }) => status))).toEqual(new Set([200]));
  await change(id, ['192.0.2.1']);
  expect(new Set((await many()).map(({ status }) => status))).toEqual(new Set([403]));
  await change(id, []);
  expect((await world.ask('/events', { key })).status).toBe(200);
});

test('A held request ends with 403 if its address is no longer allowed', async () => {
  const { id, value: key } = (await make(['127.0.0.1'])).json;
  const { nextCursor } = (await world.ask('/events?order=asc&cursor=latest', { key })).json;
  const held = world.ask(`/events?order=asc&cursor=${nextCursor}&wait=3`, { key });
  await change(id, ['192.0.2.1']);
  expect(await held).toMatchObject({ status: 403, json: refused });
});

test('Behind a proxy, the address is the one that the log names', async () => {
  const { id, value: key } = (await make(['203.0.113.0/24', '2001:db8::/64'])).json;
  const headers = { 'x-api-key': key };
  const statusFrom = async (address: string) => (await behind.get(address, headers)).status;
  expect(await statusFrom('203.0.113.9')).toBe(200);
  expect(await statusFrom('::ffff:203.0.113.9')).toBe(200);
  expect(await statusFrom('2001:db8::7')).toBe(200);
  expect(await statusFrom('2001:db8:0:1::7')).toBe(403);
  // What the client sends itself, before the proxy's entry.
  expect(await behind.logged('203.0.113.9, 198.51.100.7', headers)).toMatchObject({
    ...{ keyId: id, address: '198.51.100.7', status: 403, refusal: 'network_not_allowed' },
  });
});

test('Networks that are none are refused', async () => {
  for (const network of [
    '10.0.0.0/33',
    'example.com',
    '::ffff:10.0.0.0/104',
    '10.0.0/8',
    '1.2.3.4/8/8',
    'fe80::1%eth0',
  ])
    expect((await make([network])).status).toBe(400);
  expect((await make(Array.from({ length: 51 }, (_, at) => `10.0.0.${at}`))).status).toBe(400);
});
