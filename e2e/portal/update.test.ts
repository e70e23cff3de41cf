import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();

/** Simulates a release: the file is missing for the next `times` requests. */
const takeAway = async (page: Page, file: RegExp, times: number): Promise<void> => {
  await page.route(file, (route) => route.fulfill({ status: 404, body: 'not found' }), { times });
};
/** No code is loaded ahead, so the next page's is missing when it is opened. */
const openPage = async (): Promise<Page> => (await portal.openOwner({ mayLog })).page;
const mayLog = /404|dynamically imported module/;
const always = 1000;

describe('A page that was open during a release', () => {
  test('reloads once when the code of the next page is missing', async () => {
    const page = await openPage();
    await visit(page, '', 'Overview');
    let loads = 0;
    page.on('load', () => loads++);
    await takeAway(page, /\/assets\/keys-page-/, 1);
    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).press('Enter');
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeVisible();
    expect(loads).toBe(1);
  });

  test('says so when the code stays missing, and offers a retry', async () => {
    const page = await openPage();
    await visit(page, '', 'Overview');
    let loads = 0;
    page.on('load', () => loads++);
    await takeAway(page, /\/assets\/keys-page-/, always);
    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).press('Enter');
    await see(page.getByText('The portal may be updating')).toBeVisible();
    await see.poll(() => loads).toBe(1);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeVisible();
  });

  test('does the same for the code of menus and dialogs', async () => {
    const page = await openPage();
    let loads = 0;
    page.on('load', () => loads++);
    await takeAway(page, /\/assets\/overlays-/, 1);
    await visit(page, 'keys', 'API keys');
    await page.mouse.move(5, 5);
    await see.poll(() => loads).toBe(2);
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeVisible();
    await page.keyboard.press('Control+K');
    await see(page.getByRole('combobox', { name: 'Search, or go to a page' })).toBeFocused();
    expect(loads).toBe(2);
  });
});
