import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@causeway/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { portalFiles } from './files.ts';
import type { PortalHead } from './visit.ts';

const { log } = createLog({ name: 'test', instance: 'test', level: 'silent' });
const asks = (more: Partial<PortalHead> = {}) =>
  ({ acceptEncoding: '', ifNoneMatch: '', ...more }) as PortalHead;

const build = (files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-portal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};
const site = {
  'index.html': '<!doctype html><title>Portal</title>',
  'assets/app-1a2b.js': 'run()',
  'assets/app-1a2b.js.br': 'brotli',
  'assets/app-1a2b.js.gz': 'gzip',
  '.vite/manifest.json': '{}',
  'notes.exe': 'no',
};
const headersOf = (answer: { headers: Iterable<readonly [string, string]> }) =>
  Object.fromEntries(answer.headers);

test('a file that the browser has is not sent again', () => {
  const files = portalFiles(build(site), log);
  const etag = headersOf(files.answer('/', asks())).ETag!;
  const again = files.answer('/', asks({ ifNoneMatch: etag }));
  expect([again.status, again.body]).toEqual([304, null]);
});

test.each([
  '/assets/gone-0000.js',
  '/.vite/manifest.json',
  '/notes.exe',
  '/../package.json',
  '/%2e%2e/package.json',
  '/assets/app-1a2b.js.br',
])('%s is not found', (path) => {
  expect(portalFiles(build(site), log).answer(path, asks()).status).toBe(404);
});

test('a page may run only the files of its own origin', () => {
  const policy = headersOf(portalFiles(build(site), log).answer('/', asks()))['Content-Security-Policy'];
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
});

test('after a new build, pages of the previous one still find their files', async () => {
  const folder = build({ 'index.html': 'one', 'assets/one.js': '1' });
  const files = portalFiles(folder, log);
  for (const [at, next] of ['two', 'three'].entries()) {
    rmSync(join(folder, 'assets'), { recursive: true });
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, `assets/${next}.js`), '');
    writeFileSync(join(folder, 'index.html'), next);
    utimesSync(join(folder, 'index.html'), new Date(), new Date(Date.now() + (at + 1) * 5000));
    const found = (): number[] => {
      files.present();
      return ['one', 'two', 'three'].map((name) => files.answer(`/assets/${name}.js`, asks()).status);
    };
    await expect.poll(found).toEqual(next === 'two' ? [200, 200, 404] : [404, 200, 200]);
  }
});

test('without a build nothing is found, and a later build is', async () => {
  expect(portalFiles(undefined, log).present()).toBe(false);
  const folder = build({});
  const files = portalFiles(folder, log);
  expect(files.present()).toBe(false);
  writeFileSync(join(folder, 'index.html'), 'new');
  await expect.poll(() => files.present()).toBe(true);
  writeFileSync(join(folder, 'index.html'), 'newer');
  utimesSync(join(folder, 'index.html'), new Date(), new Date(Date.now() + 5000));
  const page = (): string => {
    files.present();
    return String(files.answer('/', asks()).body);
  };
  await expect.poll(page).toBe('newer');
});
