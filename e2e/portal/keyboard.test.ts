import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { describe, test } from 'vitest';
import { command } from './support/keyboard.ts';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();

describe('After a dialog the focus is', () => {
  const closeDialog = async (page: Page, name: string): Promise<void> => {
    const dialog = page.getByRole('dialog', { name });
    await see(dialog.locator(':focus')).toBeVisible();
    await page.keyboard.press('Escape');
    await see(dialog).toBeHidden();
  };

  test('where it was before, or on the heading of the page to which the command menu led', async () => {
    const { page } = await portal.openOwner();
    await visit(page, 'events', 'Events');
    await command(page, 'create an api key');
    await closeDialog(page, 'Create an API key');
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeFocused();

    const button = page.getByRole('button', { name: 'Create API key' }).first();
    await button.press('Enter');
    await closeDialog(page, 'Create an API key');
    await see(button).toBeFocused();

    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Team' });
    await link.focus();
    await command(page, 'create an api key');
    await closeDialog(page, 'Create an API key');
    await see(link).toBeFocused();
  });

  test('on the menu of the row whose entry opened it, and on the heading when the row is gone', async () => {
    const { page, team } = await portal.openOwner();
    await team.join('viewer');
    await visit(page, 'team', 'Team');
    const menu = page.getByRole('button', { name: 'Actions for Test viewer' });
    await menu.press('Enter');
    await page.getByRole('menuitem', { name: 'Change role…' }).press('Enter');
    await closeDialog(page, 'Change the role of Test viewer');
    await see(menu).toBeFocused();

    await menu.press('Enter');
    await page.getByRole('menuitem', { name: 'Remove…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Remove Test viewer?' });
    await page.route('**/team', async (route) => {
      // The row goes long after the dialog, which has given the focus back to it.
      if (route.request().method() === 'GET') await sleep(1000);
      await route.continue();
    });
    await dialog.getByRole('button', { name: 'Remove member' }).press('Enter');
    await see(page.getByRole('table', { name: 'Members' }).getByRole('row')).toHaveCount(2);
    await see(page.getByRole('heading', { level: 1, name: 'Team' })).toBeFocused();
  });
});
