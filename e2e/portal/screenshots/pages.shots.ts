import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { testReceiver } from '@causeway/runtime/testing';
import type { Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { openBrowser, openTeam, type Team } from '../../api/support/portal.ts';
import { furnish } from '../support/furnish.ts';
import { furnishHard } from '../support/furnish-hard.ts';
import { dialogsOf, goTo, type Place, pagesOf } from '../support/pages.ts';
import { openPortal, type PageOptions, type SignedIn, see } from '../support/portal.ts';

const folder = readEnv().SCREENSHOTS_FOLDER ?? 'screenshots';
mkdirSync(folder, { recursive: true });
const portal = await openPortal();
const receiver = await testReceiver();

/** The demo company, which has people with names. */
const openDemo = async (): Promise<Team> => {
  const { portalEmail: email, portalPassword: password } = portal.world.stack();
  const browser = openBrowser(portal.world);
  const { json } = await browser.signIn({ email, password });
  const companyId: number = json.company.id;
  await browser.ask('PATCH', '/profile', { name: 'Ada Lovelace' });
  const owner = { email, password, browser, id: json.user.id };
  return {
    companyId,
    owner,
    join: async (role) => {
      const joining = { email: 'grace@brightwater.example', password: 'seven otters juggle lanterns' };
      const { json: invited } = await browser.ask('POST', '/team/invitations', {
        email: joining.email,
        role,
      });
      const joined = openBrowser(portal.world);
      const { json: accepted } = await joined.ask('POST', '/invitation/accept', {
        token: String(invited.link).split('#')[1],
        name: 'Grace Hopper',
        password: joining.password,
      });
      return { ...joining, browser: joined, id: accepted.user.id };
    },
  };
};

const team = await openDemo();
const furnished = await furnish(portal.world, receiver, team);
await furnishHard(portal.world, team);
const empty = await openTeam(portal.world);
const viewer = await empty.join('viewer');

const names = new RegExp(readEnv().SCREENSHOTS_NAMES ?? '');
const matching = (places: readonly Place[]): readonly Place[] =>
  places.filter(({ name }) => names.test(name));

const signedOut: readonly Place[] = [{ name: 'sign-in', path: 'sign-in', heading: 'Sign in' }];
const emptyPages: readonly Place[] = [
  { name: 'empty-overview', path: '', heading: 'Overview' },
  { name: 'empty-subscriptions', path: 'subscriptions', heading: 'Subscriptions' },
  { name: 'empty-deliveries', path: 'deliveries', heading: 'Deliveries' },
  { name: 'empty-keys', path: 'keys', heading: 'API keys' },
];
const viewerPages: readonly Place[] = [
  { name: 'viewer-team', path: 'team', heading: 'Team' },
  { name: 'viewer-keys', path: 'keys', heading: 'API keys' },
];
const filteredPages: readonly Place[] = [
  { name: 'subscriptions-off', path: 'subscriptions?state=off', heading: 'Subscriptions' },
  { name: 'keys-search', path: 'keys?q=ledger&sort=unused', heading: 'API keys' },
];

test.each(
  (['light', 'dark'] as const).flatMap((colorScheme) =>
    [1440, 390, 320].map((width) => ({ colorScheme, width, height: width > 600 ? 900 : 844 })),
  ),
)('$colorScheme at $width px', async ({ colorScheme, width, height }) => {
  const options: PageOptions = {
    colorScheme,
    viewport: { width, height },
    mayLog: /ERR_INTERNET_DISCONNECTED|could not be reached/,
  };
  const take = async (page: Page, name: string, whole: boolean): Promise<void> => {
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    // Makes the whole page visible, so that sticky elements stay at its edges.
    const full = Number(await page.evaluate('document.documentElement.scrollHeight'));
    if (whole) await page.setViewportSize({ width, height: Math.max(full, height) });
    const path = join(folder, `${name}-${width}-${colorScheme}.png`);
    const bytes = await page.screenshot({ path, animations: 'disabled' });
    await page.setViewportSize({ width, height });
    expect(bytes.length).toBeGreaterThan(1000);
  };
  const shoot = async (places: readonly Place[], member?: SignedIn): Promise<void> => {
    if (places.length === 0) return;
    const page = await portal.open(member, options);
    for (const place of places) {
      await goTo(page, place);
      await take(page, place.name, place.dialog === undefined);
    }
  };
  await shoot(matching(signedOut));
  await shoot(matching([...pagesOf(furnished), ...filteredPages, ...dialogsOf(furnished)]), team.owner);
  await shoot(matching(emptyPages), empty.owner);
  await shoot(matching(viewerPages), viewer);
  if (!names.test('offline')) return;
  const page = await portal.open(team.owner, options);
  await goTo(page, { name: 'offline', path: 'subscriptions', heading: 'Subscriptions' });
  await page.context().setOffline(true);
  await page.evaluate(
    "history.pushState({}, '', '/portal/audit'); dispatchEvent(new PopStateEvent('popstate'))",
  );
  await see(page.getByText('The server cannot be reached')).toBeVisible();
  await page.goBack();
  await see(page.getByRole('heading', { level: 1, name: 'Subscriptions' })).toBeVisible();
  await take(page, 'offline', false);
});
