import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

/** The build that the cluster serves. */
const dist = new URL('../../admin-ui/dist/', import.meta.url);
const chunks: Readonly<Record<string, Chunk>> = JSON.parse(
  readFileSync(new URL('.vite/manifest.json', dist), 'utf8'),
);

/** A chunk and all that it imports. */
const withImports = (name: string): string[] => [
  name,
  ...(chunks[name]?.imports ?? []).flatMap((imported) => withImports(imported)),
];

/** Gzipped. Menus and dialogs load when the page is shown. */
const weigh = (...names: readonly string[]): number =>
  [...new Set(names.flatMap(withImports))]
    .map((name) => gzipSync(readFileSync(new URL(chunks[name]!.file, dist)), { level: 9 }).length)
    .reduce((sum, bytes) => sum + bytes, 0);

test.each([
  ['the overview', 'src/pages/overview/overview-page.tsx'],
  ['the sign-in page', 'src/pages/sign-in/sign-in-page.tsx'],
])('The script of %s, the first page for many, weighs at most 160 KiB', (_, page) => {
  expect(weigh('index.html', page)).toBeLessThanOrEqual(160 * 1024);
});

test.each(['', 'sign-in', 'password'])(
  '/%s asks for the session once, before its script has loaded',
  async (path) => {
    const { page } = await portal.openOwner();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/api/v1/session')) asked++;
    });
    const first = page.waitForRequest('**/api/v1/session');
    await page.route(/\/assets\/index-/, async (route) => {
      await first;
      await route.continue();
    });
    await page.goto(path);
    await see(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect(asked).toBe(1);
  },
);

test.each([
  ['', 'Overview', 'deliveries/stats'],
  ['subscriptions', 'Subscriptions', 'subscriptions'],
  ['deliveries', 'Deliveries', 'deliveries'],
  ['events', 'Events', 'events'],
  ['keys', 'API keys', 'keys'],
  ['team', 'Team', 'team'],
  ['notifications', 'Notifications', 'notices'],
  ['security', 'Your security', 'profile/sessions'],
])('/%s asks for what it shows once, before its script has loaded', async (path, heading, first) => {
  const { page } = await portal.openOwner();
  const asked: string[] = [];
  page.on('request', (request) => {
    const [, call] = request.url().split('/portal/api/v1/');
    if (call !== undefined && request.method() === 'GET') asked.push(call);
  });
  const early = page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(`/v1/${first}`));
  await page.route(/\/assets\/index-/, async (route) => {
    await early;
    await route.continue();
  });
  await visit(page, path, heading);
  await page.waitForLoadState('networkidle');
  expect(asked.filter((call, at) => asked.indexOf(call) !== at)).toEqual([]);
});

test('/subscriptions/new, which looks like a subscription, asks for none', async () => {
  const { page } = await portal.openOwner();
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  await visit(page, 'subscriptions/new', 'Add a subscription');
  await page.waitForLoadState('networkidle');
  expect(refused).toEqual([]);
});

test.each([
  ['menu', 'audit', 'Audit log', 'Export', 'menu'],
  ['dialog', 'team', 'Team', 'Invite member', 'dialog'],
] as const)(
  'A %s that is asked for before its code is there opens with it',
  async (what, path, heading, button, role) => {
    const { page } = await portal.openOwner();
    const code = Promise.withResolvers<void>();
    await page.route(new RegExp(`/assets/${what}-popup-`), async (route) => {
      await code.promise;
      await route.continue();
    });
    await visit(page, path, heading);
    await page.getByRole('button', { name: button }).click();
    expect(await page.getByRole(role).count()).toBe(0);
    code.resolve();
    await see(page.getByRole(role)).toBeVisible();
  },
);
