import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { furnish } from './support/furnish.ts';
import { dialogsOf, goTo, pagesOf } from './support/pages.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openReceiver } from './support/subscriber.ts';

const portal = await openPortal();
const receiver = await openReceiver();
const team = await openTeam(portal.world);
const furnished = await furnish(portal.world, receiver, team);

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Unseen stops around a menu that hand the focus on at once; nobody rests on them. */
const focusGuards = '[data-base-ui-focus-guard]';

/** What axe finds, in a line for each place; colours anew in the other theme, as all else is the same there. */
const violations = async (page: Page, without: readonly string[] = []): Promise<string[]> => {
  const found: string[] = [];
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    const axe = new AxeBuilder({ page }).setLegacyMode(true).exclude(focusGuards);
    if (theme === 'light') axe.withTags(tags).disableRules([...without]);
    else axe.withRules(['color-contrast', 'link-in-text-block']);
    for (const { id, help, nodes } of (await axe.analyze()).violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${theme}: ${id} (${help}) at ${target.join(' ')}: ${failureSummary}`);
  }
  return found;
};

describe('No page breaks a rule of accessibility, in either theme', () => {
  // One window goes to all of them: opening one for each would take most of the time.
  test.each([
    ['pages', pagesOf(furnished)],
    ['dialogs', dialogsOf(furnished)],
  ])('%s', { timeout: 150_000 }, async (_, places) => {
    const page = await portal.open(team.owner);
    const found: string[] = [];
    for (const place of places) {
      await goTo(page, place);
      for (const violation of await violations(page)) found.push(`${place.name}, ${violation}`);
    }
    expect(found).toEqual([]);
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
  });

  test('the command menu, a menu, and what a viewer sees', async () => {
    const page = await portal.open(await team.join('viewer'));
    await visit(page, 'keys', 'API keys');
    await page.getByRole('button', { name: 'Actions for Zapier' }).click();
    await see(page.getByRole('menuitem', { name: 'Revoke…' })).toBeVisible();
    // A menu floats above the page, outside of its landmarks.
    expect(await violations(page, ['region'])).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+K');
    await see(page.getByRole('combobox')).toBeVisible();
    expect(await violations(page)).toEqual([]);
  });
});

describe('A page', () => {
  test('like a dialog does not scroll sideways on a narrow screen', async () => {
    const page = await portal.open(team.owner, { viewport: { width: 320, height: 640 } });
    const over = (selector: string) =>
      page.evaluate(`(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(${selector})`);
    for (const place of pagesOf(furnished)) {
      await goTo(page, place);
      expect(await over('document.documentElement'), place.name).toBe(0);
    }
    for (const place of dialogsOf(furnished)) {
      await goTo(page, place);
      const dialog = await page.getByRole('dialog').boundingBox();
      expect(dialog!.x + dialog!.width, place.name).toBeLessThanOrEqual(320);
    }
  });

  test('gets the focus on its heading when it is gone to', async () => {
    const page = await portal.open(team.owner);
    await visit(page, '', 'Overview');
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
    const names = (await links.allTextContents()).slice(1);
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) {
      await links.filter({ hasText: name }).click();
      await see(page.getByRole('heading', { level: 1, name, exact: true })).toBeFocused();
      await see(page).toHaveTitle(`${name} · Causeway`);
    }
  });

  test('is in the theme that was chosen from its first paint on', async () => {
    const page = await portal.open(team.owner, { colorScheme: 'light' });
    await visit(page, '', 'Overview');
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    await page.getByRole('button', { name: /^Theme/ }).click();
    await page.getByRole('menuitem', { name: 'Dark' }).click();
    await see.poll(ground).not.toBe(light);
    const dark = await ground();
    await page.addInitScript(`document.addEventListener('DOMContentLoaded', () => {
      window.atFirst = getComputedStyle(document.body).backgroundColor;
    })`);
    await page.reload();
    expect(await page.evaluate('atFirst')).toBe(dark);
  });
});
