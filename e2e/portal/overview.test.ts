import { testReceiver } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { until } from '../api/support/clock.ts';
import type { Json } from '../api/support/world.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

describe('The overview', () => {
  test('completes the first steps, and counts requests and deliveries, from real traffic', async () => {
    const { team, page } = await portal.openOwner();
    const ask = async (path: string): Promise<Json> => (await team.owner.browser.ask('GET', path)).json;
    const subscriber = openSubscriber(world, receiver, team);
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await visit(page, '', 'Overview');
    await see(page.getByText('0 of 5 done.')).toBeVisible();
    await subscriber.key();
    const { id } = await subscriber.subscribe();
    await team.owner.browser.ask('POST', `/subscriptions/${id}/test`, {});
    await page.reload();
    await see(page.getByText('3 of 5 done.')).toBeVisible();
    await see(step('Send a successful test delivery')).toContainText('(done)');
    await see(step('Receive your first event').getByRole('link', { name: 'Events' })).toBeVisible();

    await team.owner.browser.ask('POST', '/subscriptions', {
      name: 'Broken',
      url: `${receiver.url}/broken?status=503&retryAfter=3600`,
      eventTypes: ['client.created'],
    });
    await subscriber.createClients(5);
    // Gateways report every ten seconds.
    await until('the requests are counted', async () => (await ask('/first-steps')).firstCallUtc !== null);
    await until('the attempts are counted', async () => {
      const { total } = await ask('/deliveries/stats?range=24h');
      return total.succeeded === 5 && total.failed === 5;
    });
    await page.reload();
    const tile = (label: string) => page.locator('dl > div').filter({ hasText: label });
    await see(tile('API requests')).toContainText('5');
    await see(tile('Successful attempts')).toContainText('50%');
    await see(tile('Successful attempts')).toContainText('of 10 attempts');
    await see(tile('Failing or off').getByRole('link')).toHaveText('0 off, 1 failing');
    await see(page.getByText('1 subscription is failing')).toBeVisible();
    await see(
      page.getByRole('navigation').getByRole('link', { name: 'Subscriptions 1 need attention' }),
    ).toBeVisible();
    await see(page.getByRole('heading', { name: 'First steps' })).toBeHidden();
    const rows = page.getByRole('table', { name: 'Subscriptions by health' }).getByRole('row');
    await see(rows.nth(1)).toContainText('Broken');
    await see(rows.nth(2)).toContainText('Billing');

    await page.getByRole('radio', { name: '7 days' }).check();
    await see(page).toHaveURL(/range=7d/);
    await page.reload();
    await see(page.getByRole('radio', { name: '7 days' })).toBeChecked();
    await see(tile('API requests')).toContainText('5');
    await rows.nth(1).getByRole('link', { name: 'Broken' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Broken' })).toBeFocused();
  });

  test('asks for each of its answers once', async () => {
    const { page } = await portal.openOwner();
    await visit(page, '', 'Overview');
    await see(page.getByText('0 of 5 done.')).toBeVisible();
    await see(page.locator('[aria-busy="true"]')).toHaveCount(0);
    const entries = (await page.evaluate(
      `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/portal/api/'))
         .map(({ name, startTime }) => [name.split('/api/v1/')[1], startTime])`,
    )) as [string, number][];
    // Later ones are refreshed.
    const first = entries.filter(([, startTime]) => startTime < entries[0]![1] + 10_000);
    expect(first.map(([path]) => path).toSorted()).toEqual([
      'attention',
      'deliveries/stats?range=24h',
      'first-steps',
      'first-steps/deliveries',
      'session',
      'usage?range=1h',
      'usage?range=24h',
    ]);
  });

  test('can show a table in place of each chart', async () => {
    const { page } = await portal.openOwner();
    await visit(page, '', 'Overview');
    const switches = page.getByText('Show as table');
    await see(switches).toHaveCount(3);
    await switches.first().click();
    await see(page.getByRole('main').getByRole('columnheader', { name: 'Over the limit' })).toBeVisible();
  });
});
