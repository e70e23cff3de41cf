import { expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();

test('The page leads to the reference, the contract and the programs of receivers', async () => {
  const { page } = await portal.openOwner();
  for (const name of ['reference', 'contract', 'Receive and verify a webhook']) {
    await visit(page, 'developers', 'Developers');
    await page.getByRole('link', { name, exact: true }).click();
    await see(page.getByRole('heading', { level: 1 })).toHaveText(new RegExp(name, 'i'));
  }
  await see(page.getByRole('heading', { level: 3, name: 'Python' })).toBeVisible();
  expect(await page.locator('pre').count()).toBe(9);
});
