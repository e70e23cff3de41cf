import type { Page } from '@playwright/test';
import type { Credentials } from '../../api/support/portal.ts';

/** Fills the sign-in form and sends it. */
export const fillSignIn = async (page: Page, { email, password }: Credentials): Promise<void> => {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};
