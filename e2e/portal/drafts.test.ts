import { testReceiver } from '@causeway/runtime/testing';
import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';
import { fillSignIn } from './support/sign-in.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const receiver = await testReceiver();

const keptBy = async (page: Page): Promise<string[]> =>
  (await page.evaluate(
    `Object.entries(sessionStorage).filter(([key]) => key.startsWith('causeway.draft.')).map(([key, value]) => key + value)`,
  )) as string[];

const restored = (page: Page) => page.getByText('Your unsaved changes were restored');

describe('Unsaved changes', () => {
  test('survive a link, Back, Forward and a reload, until they are discarded or saved', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(portal.world, receiver, team);
    const { id } = await subscriber.subscribe();
    const name = page.getByLabel('Name');
    await visit(page, `subscriptions/${id}/edit`, 'Edit subscription');
    await see(restored(page)).toBeHidden();
    await name.fill('سجل 🧾 Rechnungen');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Events' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Events' })).toBeVisible();
    await page.goBack();
    await see(name).toHaveValue('سجل 🧾 Rechnungen');
    await page.goForward();
    await see(page.getByRole('heading', { level: 1, name: 'Events' })).toBeVisible();
    await page.goBack();
    await page.reload();
    await see(name).toHaveValue('سجل 🧾 Rechnungen');
    await see(restored(page)).toBeVisible();
    await page.getByRole('button', { name: 'Discard' }).click();
    await see(name).toHaveValue('Billing');
    await see(restored(page)).toBeHidden();
    await page.reload();
    await see(name).toHaveValue('Billing');

    await name.fill('Accounting');
    await page.reload();
    await see(restored(page)).toBeVisible();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Accounting' })).toBeVisible();
    expect(await keptBy(page)).toEqual([]);
  });

  test('are shown beside what someone else saved before a reload', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(portal.world, receiver, team);
    const { id } = await subscriber.subscribe();
    await visit(page, `subscriptions/${id}/edit`, 'Edit subscription');
    await page.getByLabel('Name').fill('Mine');
    await team.owner.browser.ask('PATCH', `/subscriptions/${id}`, {
      name: 'Theirs',
      description: 'Also theirs',
    });
    await page.reload();
    await see(page.getByLabel('Description')).toHaveValue('Also theirs');
    const question = page.getByRole('group', { name: 'Name' });
    await see(question).toContainText('Theirs');
    await see(question).toContainText('Mine');
    await see(page.getByRole('button', { name: 'Save changes' })).toHaveAttribute('aria-disabled', 'true');
    await question.getByRole('button', { name: 'Keep yours' }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Mine' })).toBeVisible();
    const { json } = await team.owner.browser.ask('GET', `/subscriptions/${id}`);
    expect(json).toMatchObject({ name: 'Mine', description: 'Also theirs' });
  });

  test('outlast the session, and are gone for another member and after a sign-out', async () => {
    const { team, page } = await portal.openOwner({ mayLog: /401/ });
    const colleague = await team.join('admin');
    const subscriber = openSubscriber(portal.world, receiver, team);
    const { id } = await subscriber.subscribe();
    const path = `subscriptions/${id}/edit`;
    const endSession = async (): Promise<void> => {
      await page.context().clearCookies();
      // What the page refreshes by itself may be refused before.
      await page
        .getByRole('button', { name: 'Save changes' })
        .click({ timeout: 5_000 })
        .catch(() => {});
      await see(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    };
    await visit(page, path, 'Edit subscription');
    await page.getByLabel('Description').fill('Owned by finance');
    await endSession();
    await fillSignIn(page, team.owner);
    await see(page.getByRole('heading', { level: 1, name: 'Edit subscription' })).toBeVisible();
    await see(page.getByLabel('Description')).toHaveValue('Owned by finance');
    await see(restored(page)).toBeVisible();

    await endSession();
    await fillSignIn(page, colleague);
    await see(page.getByRole('heading', { level: 1, name: 'Edit subscription' })).toBeVisible();
    await see(page.getByLabel('Description')).toHaveValue('');
    expect(await keptBy(page)).toEqual([]);

    await page.getByLabel('Description').fill('Owned by sales');
    await see.poll(() => keptBy(page)).toHaveLength(1);
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await see(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect(await keptBy(page)).toEqual([]);
  });

  test('of a role is restored in its dialog', async () => {
    const { team, page } = await portal.openOwner();
    const { id } = await team.join('developer');
    await page.goto(`team?dialog=role&member=${id}`);
    await page.getByRole('radio', { name: 'Viewer' }).check();
    await page.reload();
    await see(restored(page)).toBeVisible();
    await see(page.getByRole('radio', { name: 'Viewer' })).toBeChecked();
  });

  test('hold no password', async () => {
    const { page } = await portal.openOwner();
    await page.goto('security?dialog=password');
    await page.getByLabel('Current password').fill('never to be kept');
    await page.reload();
    await see(page.getByLabel('Current password')).toHaveValue('');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('never to be kept');
  });
});
