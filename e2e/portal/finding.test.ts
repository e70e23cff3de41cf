import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

// What people look for, from the question to the end.

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

describe('“Why is this client not in our ERP?”', () => {
  test('is answered from their email: which delivery, why, and when it is tried again', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    await subscriber.subscribe();
    await subscriber.subscribe({ name: 'ERP', url: `${receiver.url}/erp?status=503&retryAfter=3600` });
    await subscriber.createClients(2);
    await until('the attempts', async () => {
      const { total } = (await team.owner.browser.ask('GET', '/deliveries/stats?range=24h')).json;
      return total.succeeded === 2 && total.failed === 2;
    });
    await visit(page, '', 'Overview');
    await page.keyboard.press('Control+K');
    const menu = page.getByRole('combobox', { name: 'Search, or go to a page' });
    await menu.fill('kollwitz 1');
    await see(page.getByRole('option', { name: /Kollwitz 1/ })).toBeVisible();
    await menu.fill('kaethe2@example.com');
    await see(page.getByRole('option', { name: /Kollwitz 2/ })).toBeVisible();
    await menu.press('Enter');
    await see(page.getByRole('heading', { level: 1, name: /^Käthe Kollwitz 2/ })).toBeFocused();
    const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').filter({ hasText: 'ERP' });
    await see(row).toContainText('Pending');
    await see(row).toContainText(/endpoint fails|in/);
    await row.getByRole('link').first().click();
    await see(page.getByText('The receiver failed (503)').first()).toBeVisible();
    await see(page.getByText(/Next attempt (in|0)/)).toBeVisible();
  });
});

describe('“Who changed the URL?”', () => {
  test('is answered by the subscription’s page, and undone, and deliveries go to the former URL', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    const { id } = await subscriber.subscribe();
    const developer = await team.join('developer');
    await developer.browser.ask('PATCH', `/subscriptions/${id}`, { url: `${receiver.url}/elsewhere` });
    await visit(page, `subscriptions/${id}`, 'Billing');
    const activity = page.locator('section', { has: page.getByRole('heading', { name: 'Activity' }) });
    await see(activity).toContainText('Test developer');
    await see(activity).toContainText('/elsewhere');
    await activity
      .getByRole('link', { name: /audit log|All|changes/i })
      .last()
      .click();
    await page.getByRole('button', { name: /^Revert the change/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Revert this change?' });
    await see(dialog.locator('ins')).toHaveText(subscriber.url);
    await dialog.getByRole('button', { name: 'Revert change' }).click();
    await see(page.getByText('Change reverted')).toBeVisible();
    await subscriber.createClients(1);
    await until('it arrives where it did before', () => subscriber.received().length === 1);
  });
});

describe('A list of deliveries', () => {
  test('is where it was after Back, though it is long', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    await subscriber.subscribe();
    await subscriber.createEvents(50);
    await until('they arrive', () => subscriber.received().length === 50);
    await visit(page, 'deliveries', 'Deliveries');
    const links = page.getByRole('table', { name: 'Deliveries' }).locator('tbody tr a').first();
    await see(page.getByRole('table', { name: 'Deliveries' }).getByRole('row')).toHaveCount(51);
    await see(links).toBeVisible();
    const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(48);
    await row.scrollIntoViewIfNeeded();
    const place = await page.evaluate('scrollY');
    expect(place).toBeGreaterThan(500);
    await row.getByRole('link').first().click();
    await see(page.getByRole('heading', { level: 2, name: 'Attempts' })).toBeVisible();
    await page.goBack();
    await see(page.getByRole('table', { name: 'Deliveries' }).getByRole('row')).toHaveCount(51);
    await expect.poll(() => page.evaluate('scrollY')).toBe(place);
  });

  test('is of the last hour though the computer’s clock is hours ahead or behind', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    await subscriber.subscribe();
    await subscriber.createClients(1);
    await until('it arrives', () => subscriber.received().length === 1);
    for (const hours of [2, -2]) {
      await page.addInitScript(`{
        window.now ??= Date.now.bind(Date);
        Date.now = () => now() + ${hours} * 3_600_000;
      }`);
      await visit(page, 'deliveries', 'Deliveries');
      await page.getByRole('combobox', { name: 'Period' }).selectOption('Last hour');
      const row = page.getByRole('row').filter({ hasText: 'client.created' });
      await see(row).toHaveCount(1);
      await see(row.locator('time').last()).toHaveText(/just now|sec|min/);
      await see(row.locator('time').last()).not.toHaveText(/^in/);
    }
  });
});
