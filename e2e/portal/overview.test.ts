import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import type { Json } from '../api/support/world.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

describe('The overview', () => {
  test('counts requests and deliveries, from real traffic', async () => {
    const { team, page } = await portal.openOwner();
    const ask = async (path: string): Promise<Json> => (await team.owner.browser.ask('GET', path)).json;
    const subscriber = openSubscriber(world, receiver, team);
    await subscriber.subscribe();
    await team.owner.browser.ask('POST', '/subscriptions', {
      name: 'Broken',
      url: `${receiver.url}/broken?status=503&retryAfter=3600`,
      eventTypes: ['client.created'],
    });
    await subscriber.createClients(5);
    // Gateways report every ten seconds, and the page looks every half a minute.
    await until('the requests are counted', async () => {
      const { buckets } = await ask('/usage?range=24h');
      return buckets.reduce((sum: number, { answered }: Json) => sum + answered, 0) === 5;
    });
    await until('the attempts are counted', async () => {
      const { total } = await ask('/deliveries/stats?range=24h');
      return total.succeeded === 5 && total.failed === 5;
    });
    await visit(page, '', 'Overview');
    const tile = (label: string) => page.locator('dl > div').filter({ hasText: label });
    await see(tile('API requests')).toContainText('5');
    await see(tile('Delivered')).toContainText('50%');
    await see(tile('Delivered')).toContainText('50% of 10 attempts succeeded');
    await see(tile('Delivered').getByRole('link')).toHaveText(/^5 not yet, oldest \d+ s$/);
    await see(tile('Failing or off').getByRole('link')).toHaveText('0 off, 1 failing');
    await see(page.getByText('Broken: The receiver failed (503) since')).toBeVisible();
    await see(
      page.getByRole('navigation').getByRole('link', { name: 'Subscriptions 1 need attention' }),
    ).toBeVisible();
    await see(page.getByRole('heading', { name: 'First steps' })).toBeHidden();

    const switches = page.getByText('Show as table');
    await see(switches).toHaveCount(2);
    await switches.nth(1).click();
    const counted = page.getByRole('region', { name: 'Delivery attempts as a table' }).getByRole('row');
    // Not any row with a five in its time, of a table that is still being drawn.
    await counted
      .filter({ hasText: /:00\s*5\s*5$/ })
      .getByRole('link')
      .click();
    await see(page).toHaveURL(/deliveries\?since=.*until=/);
    await see(page.getByRole('button', { name: 'Remove filter: Period' })).toBeVisible();
    await see(page.getByRole('table', { name: 'Deliveries' }).getByRole('row')).toHaveCount(11);
    await page.goBack();

    await page.getByRole('radio', { name: '7 days' }).check();
    await see(page).toHaveURL(/range=7d/);
    await page.reload();
    await see(page.getByRole('radio', { name: '7 days' })).toBeChecked();
    await see(tile('API requests')).toContainText('5');
    await page.getByRole('main').getByRole('link', { name: 'Broken' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Broken' })).toBeFocused();

    // Attempts are counted later than deliveries, and never if the dispatcher was killed before.
    await world.sql('DELETE FROM delivery_minutes WHERE company_id = ?', [team.companyId]);
    await visit(page, '', 'Overview');
    await see(tile('Delivered')).toContainText('no attempts');
    await see(tile('Delivered')).toContainText('50%');
  });

  test('counts what has not arrived as every other page and the database do', async () => {
    const { team, page } = await portal.openOwner();
    const { ask } = team.owner.browser;
    const subscriber = openSubscriber(world, receiver, team);
    const make = async (name: string, behaviour: string, more: object = {}): Promise<number> =>
      (await subscriber.subscribe({ name, url: `${receiver.url}/${name}?${behaviour}`, ...more })).id;
    await make('Works', 'status=200');
    const failing = await make('Fails', 'status=503&retryAfter=3600');
    const off = await make('Off', 'status=503&retryAfter=3600');
    const paused = await make('Paused', 'status=200');
    const gone = await make('Gone', 'status=410');
    await make('Paced', 'status=503&retryAfter=3600', { pace: { limit: 1, per: 'minute' } });
    expect((await ask('PATCH', `/subscriptions/${paused}`, { paused: true })).status).toBe(200);
    await subscriber.createClients(8);
    const database = async (): Promise<number> => {
      const [row] = await world.sql(
        `SELECT COUNT(*) + (SELECT COALESCE(SUM(missed), 0) FROM missed_events WHERE company_id = ?) AS count
         FROM deliveries WHERE company_id = ? AND state IN ('waiting', 'held', 'failed')`,
        [team.companyId, team.companyId],
      );
      return Number((row as { count: number }).count);
    };
    await until('all receivers are broken', async () => {
      const { json } = await ask('GET', '/subscriptions');
      const of = (id: number) => json.subscriptions.find((one: Json) => one.id === id);
      const fanOut = await world.sql('SELECT 1 FROM event_outbox WHERE company_id = ?', [team.companyId]);
      const fails = [failing, off].every((id) => of(id).consecutiveFailures >= 5);
      return fails && of(gone).autoDisabled && fanOut.length === 0;
    });
    expect((await ask('PATCH', `/subscriptions/${off}`, { enabled: false })).status).toBe(200);
    // What came while it was off is missed.
    expect((await ask('PATCH', `/subscriptions/${gone}`, { enabled: true })).status).toBe(200);
    const sum = (all: readonly Json[], countOf: (one: Json) => number) =>
      all.reduce((total, one) => total + countOf(one), 0);
    const count = 5 * 8;
    await expect
      .poll(async () => [
        await database(),
        (await ask('GET', '/deliveries/counts')).json.undelivered.count,
        sum((await ask('GET', '/subscriptions')).json.subscriptions, (one) => one.health.undelivered.count),
        sum((await ask('GET', '/failure-causes')).json.causes, (one) => one.count),
      ])
      .toEqual([count, count, count, count]);
    await visit(page, '', 'Overview');
    const link = page.getByRole('link', { name: `${count} not yet, oldest` });
    await see(link).toBeVisible();
    await link.click();
    await see(page.getByRole('radio', { name: `Not delivered ${count}` })).toBeChecked();
  });
});
