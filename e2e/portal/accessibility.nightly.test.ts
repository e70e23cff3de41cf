import { testReceiver } from '@causeway/runtime/testing';
import { expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { desktop, overflow, violations } from './support/axe.ts';
import { furnish } from './support/furnish.ts';
import { hardNames } from './support/furnish-hard.ts';
import { openPortal, see, visit } from './support/portal.ts';

// States of pages that are accessible in both themes, beside those of every page and dialog, which are looked at by day.

const portal = await openPortal();
const receiver = await testReceiver();
const team = await openTeam(portal.world);
const furnished = await furnish(portal.world, receiver, team);

test('an import of settings: its problems, its plan, and what was done, on a narrow screen too', async () => {
  const { page } = await portal.openOwner();
  const plan = async (file: object): Promise<void> => {
    await page.setViewportSize(desktop);
    await page.getByRole('textbox', { name: 'Settings file' }).fill(JSON.stringify(file));
    await page.getByRole('button', { name: 'Show plan' }).click();
  };
  await visit(page, 'developers', 'Developers');
  await plan({ version: 2, [`long${'x'.repeat(200)}`]: 1 });
  await see(page.getByRole('alert')).toBeVisible();
  expect([await violations(page), await overflow(page, {})]).toEqual([[], undefined]);
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
  expect([await violations(page), await overflow(page, {})]).toEqual([[], undefined]);
  await page.getByRole('button', { name: 'Apply plan…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply plan' }).click();
  const secrets = page.getByRole('dialog', { name: 'New secrets' });
  await see(secrets).toBeVisible();
  expect(await violations(page, ['[role="dialog"]'])).toEqual([]);
  await secrets.getByRole('button', { name: 'Copy list of secrets' }).click();
  await secrets.getByRole('button', { name: 'Done' }).click();
  await see(secrets).toBeHidden();
  expect([await violations(page), await overflow(page, {})]).toEqual([[], undefined]);
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
