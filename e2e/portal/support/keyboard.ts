import type { Locator, Page } from '@playwright/test';
import { see } from './portal.ts';

/** Presses Tab until the target has the focus. */
export const tabTo = async (page: Page, target: Locator): Promise<void> => {
  await see(target).toBeVisible();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${target}`);
};

/** Goes to a page or starts an action through the command menu. */
export const command = async (page: Page, words: string): Promise<void> => {
  await page.keyboard.press('Control+K');
  await see(page.getByRole('combobox', { name: 'Search, or go to a page' })).toBeFocused();
  await page.keyboard.type(words);
  await page.keyboard.press('Enter');
};
