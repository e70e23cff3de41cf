import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { cleanUp } from '@causeway/runtime/testing';
import { Client } from 'undici';
import { expect, test } from 'vitest';
import { freePort } from '../../deploy/local/ports.ts';
import { runService } from '../../deploy/local/service-run.ts';
import { metric } from './support/processes.ts';
import { openWorld, send } from './support/world.ts';

const world = await openWorld();

/** One more gateway of the cluster, which stands behind so many proxies: this test is the innermost of them. */
const gatewayBehind = async (proxies: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-gateway-'));
  const port = await freePort();
  const name = `behind-${proxies}`;
  const run = await runService({
    name,
    entry: resolve(import.meta.dirname, '../../services/gateway/main.ts'),
    env: {
      PATH: process.env.PATH,
      INSTANCE: name,
      NATS_URL: world.stack().natsUrl,
      HOST: '127.0.0.1',
      PORT: String(port),
      TRUSTED_PROXIES: String(proxies),
    },
    logFile: join(folder, 'gateway.log'),
  });
  const client = new Client(`http://127.0.0.1:${port}`);
  cleanUp(async () => {
    await client.destroy();
    await run.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const metricsUrl = await run.ready;
  return {
    /** @returns the status, and by how much the failures of an address went up. */
    refuse: async (address: string, forwardedFor: string | string[]) => {
      const failures = () =>
        metric({ name, pid: run.pid, metricsUrl }, 'gateway_authentication_failures_total', `"${address}"`);
      const before = await failures();
      const headers = { 'x-api-key': 'guess', 'x-forwarded-for': forwardedFor as string };
      const { status } = await send(client, '/events', { headers });
      return [status, (await failures()) - before];
    },
  };
};

test('A failed authentication counts for the address of the connection, where no proxy is trusted', async () => {
  const gateway = await gatewayBehind(0);
  expect(await gateway.refuse('127.0.0.1', '203.0.113.7')).toEqual([401, 1]);
  expect(await gateway.refuse('203.0.113.7', '203.0.113.7')).toEqual([401, 0]);
});

test('Behind a proxy it counts for the client that the proxy names, and for nobody whom the client names', async () => {
  const gateway = await gatewayBehind(1);
  expect(await gateway.refuse('203.0.113.7', '203.0.113.7')).toEqual([401, 1]);
  expect(await gateway.refuse('203.0.113.7', '198.51.100.1, 203.0.113.7')).toEqual([401, 1]);
  // A header of the client's own, before that of the proxy.
  expect(await gateway.refuse('203.0.113.7', ['198.51.100.1', '203.0.113.7'])).toEqual([401, 1]);
  expect(await gateway.refuse('198.51.100.1', '198.51.100.1, 203.0.113.7')).toEqual([401, 0]);
  expect(await gateway.refuse('127.0.0.1', 'neither name nor number')).toEqual([401, 1]);
});
