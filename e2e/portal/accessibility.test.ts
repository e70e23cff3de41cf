import { testReceiver } from '@causeway/runtime/testing';
import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { desktop, overflow, violations } from './support/axe.ts';
import { furnish } from './support/furnish.ts';
import { dialogsOf, moveTo, type Place, pagesOf } from './support/pages.ts';
import { openPortal, type PageOptions, see, visit } from './support/portal.ts';

const portal = await openPortal();
const receiver = await testReceiver();
const team = await openTeam(portal.world);
const furnished = await furnish(portal.world, receiver, team);

/** The page behind an open menu is checked without the menu. */
const menuAndButton = ['[role="menu"]', '[aria-expanded="true"]'];

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
