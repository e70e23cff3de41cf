import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cleanUp } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Client } from 'undici';
import { expect, test } from 'vitest';
import { startGateway } from './support/gateway.ts';
import { metric } from './support/processes.ts';
import { openWorld, send } from './support/world.ts';

const world = await openWorld();
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Starts an additional gateway behind this many proxies; the test acts as the innermost one. */
const gatewayBehind = async (proxies: number) => {
  const gateway = await startGateway(world, `behind-${proxies}`, { TRUSTED_PROXIES: String(proxies) });
  const client = new Client(gateway.url);
  cleanUp(() => client.destroy());
  return {
    /** @returns the status, and the increase of the failures of an address. */
    refuse: async (address: string, forwardedFor: string | string[]) => {
      const failures = () => metric(gateway.process, 'gateway_authentication_failures_total', `"${address}"`);
      const before = await failures();
      const headers = { 'x-api-key': 'guess', 'x-forwarded-for': forwardedFor as string };
      const { status } = await send(client, '/events', { headers });
      return [status, (await failures()) - before];
    },
    /** @returns the address in the log entry of a request, and the trace that it continues. */
    logged: async (path: string, forwardedFor: string) => {
      const requestId = randomUUID();
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
      const headers = { 'x-forwarded-for': forwardedFor, 'x-request-id': requestId, traceparent };
      await send(client, path, { headers });
      const line = () =>
        readFileSync(gateway.logFile, 'utf8')
          .split('\n')
          .find((one) => one.includes(requestId));
      await until('the request is in the log', () => line() !== undefined);
      const entry = JSON.parse(line()!) as { readonly address?: unknown; readonly traceparent: string };
      return [entry.address, entry.traceparent.split('-')[1]];
    },
  };
};

test('Without trusted proxies, a failed authentication counts for the address of the connection', async () => {
  const gateway = await gatewayBehind(0);
  expect(await gateway.refuse('127.0.0.1', '203.0.113.7')).toEqual([401, 1]);
  expect(await gateway.refuse('203.0.113.7', '203.0.113.7')).toEqual([401, 0]);
});

test('Behind a proxy it counts for the client that the proxy names, and not for an address that the client sends', async () => {
  const gateway = await gatewayBehind(1);
  expect(await gateway.refuse('203.0.113.7', '203.0.113.7')).toEqual([401, 1]);
  expect(await gateway.refuse('203.0.113.7', '198.51.100.1, 203.0.113.7')).toEqual([401, 1]);
  // A header sent by the client, before that of the proxy.
  expect(await gateway.refuse('203.0.113.7', ['198.51.100.1', '203.0.113.7'])).toEqual([401, 1]);
  expect(await gateway.refuse('198.51.100.1', '198.51.100.1, 203.0.113.7')).toEqual([401, 0]);
  expect(await gateway.refuse('127.0.0.1', 'neither name nor number')).toEqual([401, 1]);
});

test('The log entry of a request names its client and its trace, at the interface and at the portal', async () => {
  const direct = await gatewayBehind(0);
  const behind = await gatewayBehind(1);
  for (const path of ['/events', '//portal/api/v1/session']) {
    expect(await direct.logged(path, '203.0.113.7')).toEqual(['127.0.0.1', traceId]);
    expect(await behind.logged(path, '198.51.100.1, 203.0.113.7')).toEqual(['203.0.113.7', traceId]);
  }
});
