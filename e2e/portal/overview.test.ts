import { describe, expect, test } from 'vitest';
import { until } from '../api/support/clock.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openReceiver, openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await openReceiver();

describe('The overview', () => {
  test('ticks the first steps off by what really happened', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    const steps = page.getByRole('listitem').filter({ hasText: /key|call|subscription|test|event/ });
    const step = (name: string) => steps.filter({ hasText: name });
    await visit(page, '', 'Overview');
    await see(page.getByText('0 of 5 done.')).toBeVisible();
    const key = await subscriber.key();
    const { id } = await subscriber.subscribe();
    await team.owner.browser.ask('POST', `/subscriptions/${id}/test`, {});
    await page.reload();
    await see(page.getByText('3 of 5 done.')).toBeVisible();
    await see(step('Send a test that arrives')).toContainText('(done)');
    await see(step('Receive a first real event').getByRole('link', { name: 'Events' })).toBeVisible();
    await world.ask('/integrations/lookups/employees', { key });
    await subscriber.createClients(1);
    await until('it arrives', () => subscriber.received().length === 1);
    // The gateways' report of the first call comes some seconds later.
    await see(async () => {
      await page.reload();
      await see(page.getByRole('heading', { name: 'First steps' })).toBeHidden({ timeout: 1000 });
      await see(page.getByText('API requests', { exact: true })).toBeVisible({ timeout: 1000 });
    }).toPass({ timeout: 30_000 });
  });

  test('counts real requests and deliveries, the failing subscription first', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    await subscriber.subscribe();
    await team.owner.browser.ask('POST', '/subscriptions', {
      name: 'Broken',
      url: `${receiver.url}/broken?status=500&retryAfter=3600`,
      eventTypes: ['client.created'],
    });
    await subscriber.createClients(4);
    await until('all have arrived', () => subscriber.received().length === 4);
    const tile = (label: string) => page.locator('dl > div').filter({ hasText: label });
    await see(async () => {
      await visit(page, '', 'Overview');
      await see(tile('API requests')).toContainText('4', { timeout: 1500 });
      await see(tile('Deliveries that arrived')).toContainText('of 8 attempts', { timeout: 1500 });
    }).toPass({ timeout: 30_000 });
    await see(tile('Deliveries that arrived')).toContainText('50%');
    await see(tile('Failing now')).toContainText('1');
    const rows = page.getByRole('table', { name: 'Subscriptions by health' }).getByRole('row');
    await see(rows.nth(1)).toContainText('Broken');
    await see(rows.nth(2)).toContainText('Billing');

    await page.getByRole('radio', { name: '7 days' }).check();
    await see(page).toHaveURL(/range=7d/);
    await page.reload();
    await see(page.getByRole('radio', { name: '7 days' })).toBeChecked();
    await see(tile('API requests')).toContainText('4');
    await rows.nth(1).getByRole('link', { name: 'Broken' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Broken' })).toBeFocused();
  });

  test('has a table in the place of each chart for whoever wants numbers', async () => {
    const { page } = await portal.openOwner();
    await visit(page, '', 'Overview');
    const buttons = page.getByRole('button', { name: /table/i });
    await see(buttons.first()).toBeVisible();
    await buttons.first().click();
    await see(page.getByRole('main').getByRole('table').first()).toBeVisible();
    expect(await buttons.count()).toBeGreaterThan(1);
  });
});
