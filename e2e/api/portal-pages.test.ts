import { expect, test } from 'vitest';
import { openWorld } from './support/world.ts';

const world = await openWorld();

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
