import { gunzipSync } from 'node:zlib';
import { keyOperations } from '@causeway/proto';
import { request } from 'undici';
import { expect, test } from 'vitest';
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
