import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import type { Json } from '../api/support/world.ts';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

/** Three deliveries that arrived, and one that did not. */
const addDayBefore = async (companyId: number, subscriptionId: number): Promise<void> => {
  const ids = [companyId, subscriptionId];
  await world.sql(
    `INSERT INTO delivery_minutes (company_id, subscription_id, minute_utc, succeeded)
     VALUES (?, ?, DATE_FORMAT(UTC_TIMESTAMP() - INTERVAL 30 HOUR, '%Y-%m-%d %H:%i:00'), 3)`,
    ids,
  );
  await world.sql(
    `INSERT INTO deliveries (company_id, subscription_id, event_id, replay_id, created_utc, event_type, state,
       attempts, last_status, last_error, updated_utc)
     VALUES (?, ?, 900001, 0, UTC_TIMESTAMP() - INTERVAL 30 HOUR, 'client.created', 'failed', 11, 503, 'status',
       UTC_TIMESTAMP() - INTERVAL 30 HOUR)`,
    ids,
  );
};

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
    await see(step('Make your first API call').getByRole('link', { name: 'reference' })).toBeVisible();

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
    await addDayBefore(team.companyId, id);
    await page.reload();
    const tile = (label: string) => page.locator('dl > div').filter({ hasText: label });
    await see(tile('API requests')).toContainText('5');
    await see(tile('Delivered')).toContainText('50%');
    await see(tile('Delivered')).toContainText('50% of 10 attempts succeeded');
    await see(tile('Delivered')).toContainText('75% in the 24 hours before');
    await see(tile('Delivered').getByRole('link')).toHaveText('5 failing');
    await see(tile('Failing or off').getByRole('link')).toHaveText('0 off, 1 failing');
    await see(page.getByText('1 subscription is failing')).toBeVisible();
    await see(
      page.getByRole('navigation').getByRole('link', { name: 'Subscriptions 1 need attention' }),
    ).toBeVisible();
    await see(page.getByRole('heading', { name: 'First steps' })).toBeHidden();
    const rows = page.getByRole('table', { name: 'Subscriptions by health' }).getByRole('row');
    await see(rows.nth(1)).toContainText('Broken');
    await see(rows.nth(2)).toContainText('Billing');

    const keyRows = page.getByRole('table', { name: 'API keys by load' }).getByRole('row');
    await see(keyRows.nth(1)).toContainText('Write');
    const switches = page.getByText('Show as table');
    await see(switches).toHaveCount(2);
    await switches.nth(1).click();
    const counted = page.getByRole('region', { name: 'Delivery attempts as a table' }).getByRole('row');
    await counted.filter({ hasText: '5' }).getByRole('link').last().click();
    await see(page).toHaveURL(/deliveries\?since=.*until=/);
    await see(page.getByRole('button', { name: 'Remove filter: Period' })).toBeVisible();
    await see(page.getByRole('table', { name: 'Deliveries' }).getByRole('row')).toHaveCount(11);
    await page.goBack();

    await page.getByRole('radio', { name: '7 days' }).check();
    await see(page).toHaveURL(/range=7d/);
    await page.reload();
    await see(page.getByRole('radio', { name: '7 days' })).toBeChecked();
    await see(tile('API requests')).toContainText('5');
    await rows.nth(1).getByRole('link', { name: 'Broken' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Broken' })).toBeFocused();
  });

  test('shows a new company its next step alone, and notices the first call', async () => {
    const { team, page } = await portal.openOwner();
    const subscriber = openSubscriber(world, receiver, team);
    await visit(page, '', 'Overview');
    await see(page.getByRole('link', { name: 'Create API key' })).toBeVisible();
    await see(page.getByRole('heading', { level: 2 })).toHaveText(['First steps']);
    const key = await subscriber.key();
    const waiting = page.getByText('Waiting for your first call…');
    await see(waiting).toBeVisible();
    await page.getByRole('button', { name: 'Copy command' }).click();
    expect(await clipboard(page)).toContain('/api/v1/integrations/');
    expect((await world.ask('/integrations/lookups/employees', { key })).status).toBe(200);
    await see(waiting).toBeHidden();
    await see(page.getByRole('link', { name: 'Add subscription' }).first()).toBeVisible();
    await see(page.getByText('2 of 5 done.')).toBeVisible();
  });
});
