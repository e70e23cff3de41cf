import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '@causeway/runtime';
import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { openBrowser, type Team } from '../../api/support/portal.ts';
import { furnish } from '../support/furnish.ts';
import { dialogsOf, goTo, type Place, pagesOf } from '../support/pages.ts';
import { openPortal } from '../support/portal.ts';

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
const signIn: Place = { name: 'sign-in', path: 'sign-in', heading: 'Sign in' };

test.each([
  { colorScheme: 'light', width: 1280, height: 800 },
  { colorScheme: 'dark', width: 1280, height: 800 },
  { colorScheme: 'light', width: 390, height: 844 },
  { colorScheme: 'dark', width: 390, height: 844 },
] as const)('$colorScheme at $width px', async ({ colorScheme, width, height }) => {
  const options = { colorScheme, viewport: { width, height } };
  const shoot = async (places: readonly Place[], member?: typeof team.owner): Promise<void> => {
    const page = await portal.open(member, options);
    for (const place of places) {
      await goTo(page, place);
      await page.evaluate('document.fonts.ready.then(() => undefined)');
      // Makes the whole page visible, so that sticky elements stay at its edges.
      const whole = Number(await page.evaluate('document.documentElement.scrollHeight'));
      if (place.dialog === undefined) await page.setViewportSize({ width, height: Math.max(whole, height) });
      const path = join(folder, `${place.name}-${width}-${colorScheme}.png`);
      const bytes = await page.screenshot({ path, animations: 'disabled' });
      await page.setViewportSize({ width, height });
      expect(bytes.length).toBeGreaterThan(1000);
    }
  };
  await shoot([signIn]);
  await shoot([...pagesOf(furnished), ...dialogsOf(furnished)], team.owner);
});
