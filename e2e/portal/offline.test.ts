import { describe, expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();
const mayLog =
  /status of 503|ERR_INTERNET_DISCONNECTED|Failed to fetch|dynamically imported module|could not be reached/;

describe('While the server cannot be reached', () => {
  test('the shell stays, pages open, a bar says how old the data is, and everything resumes by itself', async () => {
    const { page } = await portal.openOwner({ mayLog, loadsAhead: true });
    let loads = 0;
    await visit(page, '', 'Overview');
    page.on('load', () => loads++);
    // The code of all pages is loaded ahead for a person who is there.
    await page.mouse.move(5, 5);
    await see
      .poll(() =>
        page.evaluate(
          "performance.getEntriesByType('resource').some(({ name }) => name.includes('/team-page-'))",
        ),
      )
      .toBe(true);
    await page.context().setOffline(true);
    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
    const bar = page.getByText('The server cannot be reached. You see data from');
    await see(bar).toBeVisible();
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeVisible();
    await see(page.getByText('The server could not be reached')).toBeVisible();
    await page.context().setOffline(false);
    await see(bar).toBeHidden();
    await see(page.getByText('No API keys yet')).toBeVisible();
    expect(loads).toBe(0);
  });

  test('a page whose code is not loaded yet opens when the server answers again', async () => {
    const { page } = await portal.openOwner({ mayLog });
    await visit(page, '', 'Overview');
    await page.mouse.move(5, 5);
    await see
      .poll(() =>
        page.evaluate(
          "performance.getEntriesByType('resource').some(({ name }) => name.includes('/overlays-'))",
        ),
      )
      .toBe(true);
    await page.context().setOffline(true);
    await page.getByRole('navigation').getByRole('link', { name: 'Team' }).press('Enter');
    await see(page.getByText('The page opens as soon as it answers again')).toBeVisible();
    await page.keyboard.press('Control+K');
    await see(page.getByRole('combobox', { name: 'Search, or go to a page' })).toBeVisible();
    await page.keyboard.press('Escape');
    await page.context().setOffline(false);
    await see(page.getByRole('heading', { level: 1, name: 'Team' })).toBeVisible();
  });

  test('the page stays without its menus, whose code loads when the server answers again', async () => {
    const { page } = await portal.openOwner({ mayLog });
    await page.route(/\/assets\/header-menus-|theme-init/, (route) => route.abort('internetdisconnected'));
    let loads = 0;
    page.on('load', () => loads++);
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(request.url()));
    await visit(page, 'keys', 'API keys');
    await see(page.getByText('No API keys yet')).toBeVisible();
    const account = page.getByRole('button', { name: /^Your account/ });
    // The page's own, and the question whether the server answers.
    await see.poll(() => failed.filter((url) => url.includes('theme-init')).length).toBeGreaterThan(1);
    await see(account).toHaveCount(0);
    await page.unrouteAll();
    await see(account).toBeVisible();
    expect(loads).toBe(1);
  });
});

test.each([
  ['', 'Overview', ['attention', 'usage']],
  ['', 'Overview', ['first-steps', 'first-steps/deliveries']],
  ['subscriptions/new', 'Add a subscription', ['event-types']],
])(
  'Page “%s” (%s) is there though %j fail, which are not asked for again and again',
  async (path, heading, failing) => {
    const { page } = await portal.openOwner({ mayLog: /status of 500/ });
    const asked = new Map(failing.map((one) => [one, 0]));
    await page.route(
      (url) => asked.has(url.pathname.split('/portal/api/v1/')[1] ?? ''),
      (route) => {
        const [, one] = new URL(route.request().url()).pathname.split('/portal/api/v1/');
        asked.set(one!, asked.get(one!)! + 1);
        return route.fulfill({ status: 500, json: { error: 'broken', reason: 'internal_error' } });
      },
    );
    await visit(page, path, heading);
    await see(page.getByRole('main').locator('[aria-busy=true]')).toHaveCount(0);
    const isThere =
      path === ''
        ? page
            .getByRole('main')
            .getByText(/First steps|none over the limit/)
            .first()
        : page.getByLabel('URL');
    await see(isThere).toBeVisible();
    await page.waitForLoadState('networkidle');
    for (const count of asked.values()) expect(count).toBeLessThanOrEqual(6);
    expect(Math.min(...asked.values())).toBeGreaterThan(0);
  },
);

test('A page that opens while the server is away for a moment is there as soon as the server answers', async () => {
  const { page } = await portal.openOwner({ mayLog });
  let refusals = 0;
  // More often than a query is retried.
  await page.route('**/portal/api/v1/session', (route) =>
    ++refusals <= 5
      ? route.fulfill({ status: 503, json: { error: 'access could not be reached' } })
      : route.fallback(),
  );
  await page.goto('keys');
  await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeVisible();
  expect(refusals).toBeGreaterThan(5);
});
