import { testReceiver } from '@causeway/runtime/testing';
import type { Page } from '@playwright/test';
import axe, { type AxeResults, type RunOptions } from 'axe-core';
import { describe, expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { furnish } from './support/furnish.ts';
import { hardNames } from './support/furnish-hard.ts';
import { dialogsOf, moveTo, type Place, pagesOf } from './support/pages.ts';
import { openPortal, type PageOptions, see, visit } from './support/portal.ts';

const portal = await openPortal();
const receiver = await testReceiver();
const team = await openTeam(portal.world);
const furnished = await furnish(portal.world, receiver, team);

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Invisible focus guards around a menu, which pass the focus on at once. */
const focusGuards = '[data-base-ui-focus-guard]';

/** The page behind an open menu is checked without the menu. */
const menuAndButton = ['[role="menu"]', '[aria-expanded="true"]'];

const rulesOf = (theme: 'light' | 'dark', without: readonly string[]): RunOptions =>
  theme === 'light'
    ? { runOnly: tags, rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])) }
    : { runOnly: ['color-contrast', 'link-in-text-block'] };

/**
 * The findings of axe, one line for each element. The second theme is checked for colours only, because all else is the
 * same.
 * @param within selectors of the parts to check; the whole page by default.
 */
const violations = async (
  page: Page,
  within: readonly string[] = [],
  without: readonly string[] = [],
): Promise<string[]> => {
  const found: string[] = [];
  // The library is half a megabyte of script, so a page loads it once.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    // Describing what is all right would take longer than finding it.
    const options = JSON.stringify({ ...rulesOf(theme, without), resultTypes: ['violations'] });
    const parts = JSON.stringify({ exclude: [focusGuards], ...(within.length > 0 && { include: within }) });
    const results = (await page.evaluate(`axe.run(${parts}, ${options})`)) as AxeResults;
    for (const { id, help, nodes } of results.violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${theme}: ${id} (${help}) at ${target.join(' ')}: ${failureSummary}`);
  }
  return found;
};

/**
 * Visits all pages with two windows in parallel: one loads while the other is checked. Opening a window for each page
 * would take most of the time.
 */
const inWindows = async (
  places: readonly Place[],
  options: PageOptions,
  look: (page: Page, place: Place) => Promise<void>,
): Promise<void> => {
  const rest = [...places];
  const windows = await Promise.all([portal.open(team.owner, options), portal.open(team.owner, options)]);
  await Promise.all(
    windows.map(async (page) => {
      for (let place = rest.shift(); place; place = rest.shift()) await look(page, place);
    }),
  );
};

const desktop = { width: 1280, height: 800 };
const phone = { width: 320, height: 640 };

/** The elements of a page that do not fit on a narrow screen. */
const overflow = async (page: Page, { dialog }: Place): Promise<string | undefined> => {
  await page.setViewportSize(phone);
  if (dialog === undefined) {
    const scrolls = '(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.documentElement)';
    return (await page.evaluate(scrolls)) ? 'scrolls sideways' : undefined;
  }
  const box = await page.getByRole('dialog').boundingBox();
  return box!.x + box!.width > phone.width ? 'is wider than the screen' : undefined;
};

describe('Every page and dialog is accessible in both themes, and fits on a narrow screen', () => {
  test.each([
    ['pages', pagesOf(furnished)],
    ['dialogs', dialogsOf(furnished)],
  ])('%s', { timeout: 600_000 }, async (_, places) => {
    const found: string[] = [];
    await inWindows(places, { viewport: desktop }, async (page, place) => {
      await page.setViewportSize(desktop);
      await moveTo(page, place);
      // The page behind a dialog is checked by itself, and behind the dialogs below.
      const within = place.dialog === undefined ? [] : ['[role="dialog"]'];
      for (const violation of await violations(page, within)) found.push(`${place.name}, ${violation}`);
      const wide = await overflow(page, place);
      if (wide) found.push(`${place.name} ${wide}`);
    });
    expect(found).toEqual([]);
  });
});

describe('Other states of pages are accessible in both themes', () => {
  test('an import of settings: its problems, its plan, and what was done, on a narrow screen too', async () => {
    const { page } = await portal.openOwner();
    const narrow = { name: 'import', path: '' };
    const plan = async (file: object): Promise<void> => {
      await page.setViewportSize(desktop);
      await page.getByRole('textbox', { name: 'Settings file' }).fill(JSON.stringify(file));
      await page.getByRole('button', { name: 'Show plan' }).click();
    };
    await visit(page, 'developers', 'Developers');
    await plan({ version: 2, [`long${'x'.repeat(200)}`]: 1 });
    await see(page.getByRole('alert')).toBeVisible();
    expect([await violations(page), await overflow(page, narrow)]).toEqual([[], undefined]);
    const subscriptions = hardNames.map((name) => ({
      ...{ name, url: `https://hooks.example.com/${'x'.repeat(300)}`, eventTypes: ['lead.created'] },
      headerNames: ['X-Token'],
    }));
    await plan({ version: 1, subscriptions, keys: [] });
    await see(page.getByRole('table', { name: 'Plan' })).toBeVisible();
    await page
      .getByText(/^\d fields$/)
      .first()
      .click();
    expect([await violations(page), await overflow(page, narrow)]).toEqual([[], undefined]);
    await page.getByRole('button', { name: 'Apply plan…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply plan' }).click();
    const secrets = page.getByRole('dialog', { name: 'New secrets' });
    await see(secrets).toBeVisible();
    expect(await violations(page, ['[role="dialog"]'])).toEqual([]);
    await secrets.getByRole('button', { name: 'Copy list of secrets' }).click();
    await secrets.getByRole('button', { name: 'Done' }).click();
    await see(secrets).toBeHidden();
    expect([await violations(page), await overflow(page, narrow)]).toEqual([[], undefined]);
  });

  test('the sign-in, an error in it, and an invitation', async () => {
    const page = await portal.open();
    await visit(page, 'sign-in', 'Sign in');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await see(page.getByLabel('Email')).toHaveAttribute('aria-invalid', 'true');
    expect(await violations(page)).toEqual([]);
    await visit(page, 'invitation#not-a-token', 'Invitation');
    await see(page.getByText('This invitation is no longer valid')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await visit(page, 'sign-in', 'Sign in');
    await page.getByText('Lost your password?').click();
    expect(await violations(page)).toEqual([]);
    const { json } = await team.owner.browser.ask('POST', `/team/members/${furnished.member}/password-reset`);
    await page.goto(`${portal.world.baseUrl}${json.link}`);
    await see(page.getByLabel('New password')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });

  test('values that are shown once: a key, a secret, a link, the second factor', async () => {
    const page = await portal.open(team.owner);
    const shown = async (name: string): Promise<void> => {
      await see(page.getByRole('dialog', { name })).toBeVisible();
      expect(await violations(page), name).toEqual([]);
    };
    await page.goto('keys?dialog=create');
    await page.getByLabel('Name').fill('Looked at');
    await page.getByRole('checkbox').first().check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await shown('Your new API key');
    await page.keyboard.press('Escape');
    await see(page.getByRole('button', { name: 'Close anyway' })).toBeVisible();
    await shown('Your new API key');
    await page.goto(`subscriptions/${furnished.healthy}?dialog=rotate`);
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
    await shown('New signing secret');
    await page.goto(`team?dialog=password&member=${furnished.member}`);
    await page.getByRole('button', { name: 'Create reset link' }).click();
    await shown('Password reset link');
    await page.goto('security?dialog=totp-on');
    await page.getByRole('button', { name: 'Continue' }).click();
    await see(page.getByLabel('The code that the app shows')).toBeVisible();
    await shown('Turn on two-factor sign-in');
  });

  test('a message, and a test with a mistake in its JSON', async () => {
    const page = await portal.open(team.owner);
    await page.goto(`team?dialog=role&member=${furnished.member}`);
    await page.getByRole('radio', { name: 'Viewer' }).check();
    await page.getByRole('button', { name: 'Change role' }).click();
    await see(page.getByText('Test developer now has the role viewer')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.goto(`subscriptions/${furnished.healthy}?dialog=test`);
    await page.getByRole('radio', { name: 'Own JSON' }).check();
    await page.getByRole('textbox', { name: 'Payload as JSON' }).fill('{ "client_id": "none" ');
    await page.getByRole('dialog').getByRole('button', { name: 'Send test delivery' }).click();
    await see(page.getByRole('alert')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });

  test('the menus of the account and of a page', async () => {
    const page = await portal.open(team.owner);
    await visit(page, `subscriptions/${furnished.healthy}`, 'Billing');
    for (const name of [/^Your account/, 'More actions']) {
      await page.getByRole('button', { name }).click();
      await see(page.getByRole('menuitem').first()).toBeVisible();
      expect(await violations(page, menuAndButton)).toEqual([]);
      await page.keyboard.press('Escape');
      await see(page.getByRole('menuitem')).toHaveCount(0);
    }
  });

  test('the command menu, a menu, and what a viewer sees', async () => {
    const page = await portal.open(await team.join('viewer'));
    await visit(page, 'keys', 'API keys');
    await page.getByRole('button', { name: 'Actions for Zapier' }).click();
    await see(page.getByRole('menuitem', { name: 'Revoke…' })).toBeVisible();
    // A menu floats above the page, outside its landmarks.
    expect(await violations(page, [], ['region'])).toEqual([]);
    await page.keyboard.press('Escape');
    await see(page.getByRole('menuitem')).toHaveCount(0);
    await page.keyboard.press('Control+K');
    await see(page.getByRole('combobox')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
});

describe('A page', () => {
  test('focuses its heading after navigation', async () => {
    const page = await portal.open(team.owner);
    await visit(page, '', 'Overview');
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const names = (await links.allTextContents())
      .slice(1)
      .map((text) => text.replace(/\d+ need attention$/, ''));
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      await links.filter({ hasText: name }).click();
      await see(page.getByRole('heading', { level: 1, name, exact: true })).toBeFocused();
      await see(page).toHaveTitle(`${name} · Causeway`);
    }
  });

  test('has the chosen theme from its first paint', async () => {
    const page = await portal.open(team.owner, { colorScheme: 'light' });
    await visit(page, '', 'Overview');
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Dark theme' }).click();
    await see.poll(ground).not.toBe(light);
    const dark = await ground();
    await page.addInitScript(`document.addEventListener('DOMContentLoaded', () => {
      window.atFirst = getComputedStyle(document.body).backgroundColor;
    })`);
    await page.reload();
    expect(await page.evaluate('atFirst')).toBe(dark);
  });
});
