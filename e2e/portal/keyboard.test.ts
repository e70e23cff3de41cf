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

  test('where it was, when a button opened it', async () => {
    const { page } = await portal.openOwner();
    await visit(page, 'keys', 'API keys');
    const button = page.getByRole('button', { name: 'Create API key' }).first();
    await button.press('Enter');
    await closeDialog(page, 'Create an API key');
    await see(button).toBeFocused();
  });

  test('on the page’s heading, when the command menu led there and opened it', async () => {
    const { page } = await portal.openOwner();
    await visit(page, 'events', 'Events');
    await command(page, 'create an api key');
    await closeDialog(page, 'Create an API key');
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeFocused();
  });

  test('where it was before the command menu, when that opened it on the same page', async () => {
    const { page } = await portal.openOwner();
    await visit(page, 'keys', 'API keys');
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Team' });
    await link.focus();
    await command(page, 'create an api key');
    await closeDialog(page, 'Create an API key');
    await see(link).toBeFocused();
  });

  test('on the menu of the row, when an entry of it opened it', async () => {
    const { page, team } = await portal.openOwner();
    await team.join('viewer');
    await visit(page, 'team', 'Team');
    const menu = page.getByRole('button', { name: 'Actions for Test viewer' });
    await menu.press('Enter');
    await page.getByRole('menuitem', { name: 'Change role…' }).press('Enter');
    await closeDialog(page, 'Change the role of Test viewer');
    await see(menu).toBeFocused();
  });

  test('on the heading, when what opened it is gone', async () => {
    const { page, team } = await portal.openOwner();
    await team.join('viewer');
    await visit(page, 'team', 'Team');
    await page.getByRole('button', { name: 'Actions for Test viewer' }).press('Enter');
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
