import { expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();
const { owner } = await openTeam(portal.world);

test('The overview and the sign-in load at most 200 KB before anybody moves the pointer', async () => {
  const loadsAhead = true;
  const opened = [
    await portal.open(owner, { loadsAhead }),
    await portal.open(undefined, { loadsAhead }),
  ] as const;
  await visit(opened[0], '', 'Overview');
  await visit(opened[1], 'sign-in', 'Sign in');
  // What loads by a timer, after the page, is loaded by then.
  await opened[1].waitForTimeout(4000);
  for (const page of opened) {
    await page.waitForLoadState('networkidle');
    const sizes = (await page.evaluate(
      'performance.getEntries().flatMap(({ name, transferSize }) => (transferSize ? [[name, transferSize]] : []))',
    )) as [name: string, bytes: number][];
    const sum = sizes.reduce((all, [, bytes]) => all + bytes, 0);
    expect(sizes.some(([name]) => name.includes('.woff2'))).toBe(true);
    expect(sum, sizes.join('\n')).toBeLessThanOrEqual(200_000);
    expect(sum).toBeGreaterThan(100_000);
  }
});

test('A page asks for the session once, before its script has loaded', async () => {
  const page = await portal.open(owner);
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/api/v1/session')) asked++;
  });
  for (const path of ['', 'sign-in', 'password']) {
    asked = 0;
    const first = page.waitForRequest('**/api/v1/session');
    await page.route(/\/assets\/index-/, async (route) => {
      await first;
      await route.continue();
    });
    await page.goto(path);
    await see(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect(asked, path).toBe(1);
    await page.unrouteAll();
  }
});

const pages = [
  ['', 'Overview', 'deliveries/stats'],
  ['subscriptions', 'Subscriptions', 'subscriptions'],
  ['deliveries', 'Deliveries', 'deliveries'],
  ['events', 'Events', 'events'],
  ['keys', 'API keys', 'keys'],
  ['team', 'Team', 'team'],
  ['notifications', 'Notifications', 'notices'],
  ['security', 'Your security', 'profile/sessions'],
  ['audit', 'Audit log', 'audit'],
  ['company', 'Company settings', 'subscription-settings'],
  ['developers', 'Developers', 'keys'],
  ['usage', 'API usage', 'attention'],
] as const;

test('A page asks for its code and what it shows once, before its script has loaded', async () => {
  const page = await portal.open(owner);
  let asked: string[] = [];
  page.on('request', (request) => {
    const [, call] = request.url().split('/portal/api/v1/');
    if (call !== undefined && request.method() === 'GET') asked.push(call);
  });
  for (const [path, heading, first] of pages) {
    asked = [];
    const early = Promise.all([
      page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(`/v1/${first}`)),
      page.waitForRequest(`**/assets/${path || 'overview'}-page-*`),
    ]);
    await page.route(/\/assets\/index-/, async (route) => {
      await early;
      await route.continue();
    });
    await visit(page, path, heading);
    await page.waitForLoadState('networkidle');
    expect(
      asked.filter((call, at) => asked.indexOf(call) !== at),
      path,
    ).toEqual([]);
    await page.unrouteAll();
  }
});

test('/subscriptions/new, which looks like a subscription, asks for none', async () => {
  const page = await portal.open(owner);
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(response.url());
  });
  await visit(page, 'subscriptions/new', 'Add a subscription');
  await page.waitForLoadState('networkidle');
  expect(refused).toEqual([]);
});

test.each([
  ['menu', '', 'Overview', /^Your account/, 'menu'],
  ['dialog', 'team', 'Team', 'Invite member', 'dialog'],
] as const)(
  'A %s that is asked for before its code is there opens with it',
  async (what, path, heading, button, role) => {
    const page = await portal.open(owner);
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

test('a press opens its menu, though the menu’s code arrives before the release', async () => {
  const { page, team } = await portal.openOwner();
  await team.join('admin');
  const { promise: pressed, resolve: press } = Promise.withResolvers<void>();
  const arrived = page.waitForResponse(/\/assets\/menu-popup-/);
  await page.route(/\/assets\/menu-popup-/, async (route) => {
    await pressed;
    await route.continue();
  });
  await visit(page, 'team', 'Team');
  await page.getByRole('button', { name: 'Actions for Test admin' }).hover();
  await page.mouse.down();
  press();
  await (await arrived).finished();
  // The module has run, and React has had its frames to replace what stood for it.
  await page.waitForTimeout(500);
  await page.mouse.up();
  await see(page.getByRole('menuitem', { name: 'Remove…' })).toBeVisible();
});
