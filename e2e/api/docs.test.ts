import { gunzipSync } from 'node:zlib';
import { keyOperations } from '@causeway/proto';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { openWorld } from './support/world.ts';

const world = await openWorld();
const pages = [
  '/docs',
  '/docs/contract',
  '/docs/webhooks',
  '/docs/contract.md',
  '/llms.txt',
  '/docs/settings.schema.json',
  '/.well-known/api-catalog',
];

test.each(pages)('%s is read without a key, and asked again only if it changed', async (path) => {
  const page = await world.ask(`/${path}`);
  expect([page.status, page.headers['cache-control']]).toEqual([200, 'public, max-age=300']);
  expect(page.headers['x-ratelimit-limit']).toBeUndefined();
  const etag = String(page.headers.etag);
  const again = await world.ask(`/${path}`, { headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  expect((await world.ask(`/${path}`, { method: 'HEAD' })).headers.etag).toBe(etag);
  const { headers, body } = await request(world.baseUrl + path, { headers: { 'accept-encoding': 'gzip' } });
  expect(headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.from(await body.arrayBuffer())).toString()).toBe(page.text);
  expect((await world.ask(`/${path}`, { method: 'POST' })).status).toBe(404);
});

test('The catalog leads to the document and the reference, and llms.txt to what it names', async () => {
  const { headers, json } = await world.ask('//.well-known/api-catalog');
  expect(headers['content-type']).toMatch(/^application\/linkset\+json/);
  expect(headers.link).toContain('rel="api-catalog"');
  const [{ anchor, 'service-desc': described, 'service-doc': shown }] = json.linkset;
  expect(anchor).toBe('/api/v1');
  for (const { href, type } of [...described, ...shown]) {
    const linked = await world.ask(`/${href}`);
    expect([linked.status, String(linked.headers['content-type']).split(';')[0]]).toEqual([200, type]);
  }
  const { text } = await world.ask('//llms.txt');
  const links = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map(([, href]) => href!);
  expect(links.length).toBeGreaterThan(2);
  for (const href of links) expect((await world.ask(`/${href}`)).status, href).toBe(200);
});

test('The reference has every operation, and its links and those of the contract lead somewhere', async () => {
  const { text } = await world.ask('//docs');
  for (const { id } of keyOperations.filter((one) => !('operationId' in one)))
    expect(text).toContain(`id="${id}"`);
  for (const path of ['/docs', '/docs/contract', '/docs/webhooks']) {
    const { text: html } = await world.ask(`/${path}`);
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const missing = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id).filter((id) => !ids.has(id));
    expect(missing).toEqual([]);
    expect(html).not.toMatch(/__[A-Z]+__|<script|src=|https?:\/\/(?!hooks\.example|receiver|\*:)/);
  }
});

test('No page repeats what a client sent', async () => {
  const headers = { host: 'stranger.example', 'x-forwarded-host': 'stranger.example' };
  for (const path of pages) {
    const { status, text } = await world.ask(`/${path}?q=<stranger.example>`, { headers });
    expect([status, text.includes('stranger.example')]).toEqual([200, false]);
  }
});

describe('The pages of the portal', () => {
  test('Every path of the portal serves its page, with a policy that allows it to run and load only its own files', async () => {
    for (const path of ['//portal', '//portal/', '//portal/keys', '//portal/deliveries/1/2/0']) {
      const { status, headers, text } = await world.ask(path);
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
      for (const rule of ["frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"])
        expect(policy.split('; ')).toContain(rule);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers['permissions-policy']).toContain('camera=()');
      // Over plain http a browser would ignore it.
      expect(headers['strict-transport-security']).toBeUndefined();
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style| style=| on\w+=/i);
    }
  });

  test('The files of the page are served compressed and cached forever; other files are not found', async () => {
    const page = await world.ask('//portal/');
    const files = [...page.text.matchAll(/(?:src|href)="(\/portal\/assets\/[^"]+)"/g)].map(
      (match) => match[1]!,
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const { status, headers } = await world.ask(`/${file}`, { headers: { 'accept-encoding': 'br' } });
      expect([file, status]).toEqual([file, 200]);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      if (/\.(?:js|css)$/.test(file)) expect(headers['content-encoding']).toBe('br');
    }
    for (const path of [
      '//portal/assets/none.js',
      '//portal/.vite/manifest.json',
      '//portal/%2e%2e/package.json',
    ])
      expect((await world.ask(path)).status).toBe(404);
    const post = await world.ask('//portal/', { method: 'POST', body: '{}' });
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
