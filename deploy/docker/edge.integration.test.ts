import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readEnv } from '@causeway/runtime';
import { cleanUp, startProgram } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { pagePermissions, pagePolicy, securityHeaders } from '../../services/gateway/portal/answers.ts';
import { providePrograms } from '../local/toolchain/provide.mjs';

const { nginx } = await providePrograms(dirname(readEnv().CAUSEWAY_TOOLCHAIN ?? ''), { nginx: 'nginx' });

const startGateway = async (): Promise<number> => {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

/** @param gateway the address of the gateway; without one nginx serves only files, as in Kubernetes. */
const startNginx = async (gateway?: number): Promise<string> => {
  const home = mkdtempSync(join(tmpdir(), 'causeway-nginx-'));
  cleanUp(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
  // If root starts it, nginx runs its workers as another user.
  chmodSync(home, 0o755);
  const pages = join(home, 'html/portal');
  mkdirSync(join(pages, 'assets'), { recursive: true });
  mkdirSync(join(pages, '.vite'));
  writeFileSync(join(pages, 'index.html'), '<!doctype html><style nonce="__CSP_NONCE__"></style><p>portal');
  writeFileSync(join(pages, 'index.html.gz'), gzipSync('a stale twin'));
  writeFileSync(join(pages, 'assets/main-4f2a.js'), 'export const main = 1;');
  writeFileSync(join(pages, 'assets/main-4f2a.js.gz'), gzipSync('export const main = 1;'));
  writeFileSync(join(pages, 'icon.svg'), '<svg/>');
  writeFileSync(join(pages, '.vite/manifest.json'), '{}');

  const conf = join(home, 'conf');
  cpSync(join(import.meta.dirname, 'nginx'), conf, { recursive: true });
  writeFileSync(join(conf, 'mime.types'), 'types { text/html html; text/javascript js; image/svg+xml svg; }');
  if (gateway !== undefined) {
    cpSync(join(import.meta.dirname, 'edge'), join(conf, 'edge.d'), { recursive: true });
    // The name server of the compose network does not exist here.
    const upstream = `upstream gateway { server 127.0.0.1:${gateway}; keepalive 64; keepalive_timeout 5s; }`;
    writeFileSync(join(conf, 'edge.d/gateway.upstream.conf'), upstream);
  }
  const port = await freePort();
  const main = join(conf, 'nginx.conf');
  const placed = readFileSync(main, 'utf8')
    .replaceAll('/tmp/', `${home}/`)
    .replace('/usr/share/nginx/html', `${home}/html`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('worker_processes auto', 'worker_processes 1')
    .replace('/dev/stdout', `${home}/access.log`);
  writeFileSync(main, placed);

  const args = [...nginx.args, '-e', 'stderr', '-p', home, '-c', main, '-g', 'daemon off;'];
  const { child, isRunning, end } = startProgram(nginx.command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let words = '';
  child.stderr!.on('data', (text) => (words += text));
  cleanUp(async () => void (await end('SIGTERM')));
  const url = `http://127.0.0.1:${port}`;
  for (const endMs = Date.now() + 10_000; Date.now() < endMs && isRunning(); await sleep(20)) {
    if ((await fetch(`${url}/healthz`).catch(() => undefined))?.ok) return url;
  }
  throw new Error(`nginx did not start:\n${words}`);
};

const alone = await startNginx();
const edge = await startNginx(await startGateway());

describe('the pages', () => {
  test.each(['/portal', '/portal/', '/portal/deliveries/17?tab=attempts'])(
    '%s is the portal',
    async (path) => {
      const response = await fetch(alone + path);
      expect(response.status).toBe(200);
      expect(await response.text()).toMatch(/<p>portal/);
      expect(response.headers.get('cache-control')).toBe('no-cache');
    },
  );

  test('have the headers that the gateway gives them', async () => {
    const response = await fetch(`${alone}/portal`, { headers: { 'X-Forwarded-Proto': 'https' } });
    const nonce = /nonce="([0-9a-f]{32})"/.exec(await response.text())?.[1];
    const client = { address: '192.0.2.1', https: true, host: 'crm.example.com' };
    for (const [name, value] of [...securityHeaders(client), pagePolicy(nonce), pagePermissions]) {
      expect([name, response.headers.get(name)]).toEqual([name, value]);
    }
  });

  test('have a new nonce each time, and no Strict-Transport-Security over plain http', async () => {
    const [first, second] = await Promise.all([0, 1].map(async () => fetch(`${alone}/portal`)));
    expect(first!.headers.get('content-security-policy')).not.toBe(
      second!.headers.get('content-security-policy'),
    );
    expect(first!.headers.get('strict-transport-security')).toBeNull();
  });

  test('files with a hash may be cached forever, and are sent compressed', async () => {
    const response = await fetch(`${alone}/portal/assets/main-4f2a.js`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe('export const main = 1;');
    const icon = await fetch(`${alone}/portal/icon.svg`);
    expect([icon.status, icon.headers.get('cache-control')]).toEqual([200, 'no-cache']);
  });

  test.each([
    ['/portal/.vite/manifest.json'],
    ['/portal/assets/gone-1111.js'],
    ['/portal/gone.svg'],
    ['/portal/api/session'],
    ['/api/v1/integrations/lookups/employees'],
    ['/../etc/passwd'],
  ])('%s is not found', async (path) => {
    expect((await fetch(alone + path)).status).toBe(404);
  });
});

describe('the edge', () => {
  interface Asked {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  }

  test.each(['/api/v1/openapi.json', '/portal/api/session', '/mcp'])(
    'passes %s to the gateway unchanged',
    async (path) => {
      const response = await fetch(`${edge}${path}?q=a%20b`);
      expect(((await response.json()) as Asked).url).toBe(`${path}?q=a%20b`);
    },
  );

  test('sends the gateway the address of the client, whatever the client claims', async () => {
    const headers = {
      'X-Forwarded-For': '10.9.8.7',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
    };
    const asked = ((await (await fetch(`${edge}/api/v1/x`, { headers })).json()) as Asked).headers;
    expect(asked).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': edge.replace('http://', ''),
      'x-forwarded-proto': 'http',
    });
  });

  test('passes on large bodies, so that the gateway itself refuses them', async () => {
    const body = 'x'.repeat(1_100_000);
    expect((await fetch(`${edge}/api/v1/x`, { method: 'POST', body })).status).toBe(200);
  });

  test('still serves the pages', async () => {
    expect(await (await fetch(`${edge}/portal/keys`)).text()).toMatch(/<p>portal/);
  });
});
