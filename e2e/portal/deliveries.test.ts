import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

const open = async () => {
  const { team, page } = await portal.openOwner();
  const subscriber = openSubscriber(world, receiver, team);
  const subscription = await subscriber.subscribe();
  const log = async (query = ''): Promise<readonly { state: string }[]> =>
    (await team.owner.browser.ask('GET', `/deliveries?limit=100${query}`)).json.deliveries;
  return {
    team,
    page,
    subscriber,
    subscription,
    rows: page
      .getByRole('table', { name: 'Deliveries' })
      .getByRole('row')
      .filter({ hasText: 'client.created' }),
    /** Whether this many deliveries are in this state. */
    settled: (state: string, count: number) =>
      until(`${count} deliveries are ${state}`, async () => (await log(`&state=${state}`)).length === count),
    /** Puts a delivery in the state that the dispatcher leaves after ten attempts, which would take long. */
    giveUp: () =>
      world.sql("UPDATE deliveries SET state = 'failed', due_utc = NULL WHERE company_id = ?", [
        team.companyId,
      ]),
  };
};

describe('The log of deliveries', () => {
  test('is narrowed by filters that are in the URL and survive a reload', async () => {
    const { page, subscriber, settled, rows } = await open();
    await subscriber.createClients(2);
    await settled('succeeded', 2);
    await visit(page, 'deliveries', 'Deliveries');
    await see(rows).toHaveCount(2);
    await see(page.getByRole('radio', { name: 'All 2', exact: true })).toBeChecked();
    await page.getByRole('radio', { name: 'Not delivered 0' }).check({ force: true });
    await see(page.getByText('No delivery matches')).toBeVisible();
    await see(page).toHaveURL(/state=undelivered/);
    await page.reload();
    await see(page.getByText('No delivery matches')).toBeVisible();
    await see(page.getByRole('radio', { name: 'Not delivered 0' })).toBeChecked();
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await see(rows).toHaveCount(2);
    await page.getByRole('combobox', { name: 'Period' }).selectOption('Last 24 hours');
    await see(page).toHaveURL(/period=24h/);
    await see(rows).toHaveCount(2);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByLabel('Status code').fill('200');
    await page.getByLabel('Status code').press('Enter');
    await see(page).toHaveURL(/status=200/);
    await see(rows).toHaveCount(2);
    await page.getByLabel('Status code').fill('500');
    await page.getByLabel('Status code').press('Enter');
    await see(page.getByText('No delivery matches')).toBeVisible();
    // Typed while the page before is still on its way.
    for (const status of ['404', '200', '404']) {
      await page.getByLabel('Status code').fill(status);
      await page.getByLabel('Status code').press('Enter');
    }
    await see(page).toHaveURL(/status=404/);
    await see(page.getByLabel('Status code')).toHaveValue('404');
  });

  test('says how many came since, and shows them when asked', async () => {
    const { page, subscriber, settled, rows } = await open();
    await subscriber.createClients(1);
    await settled('succeeded', 1);
    await visit(page, 'deliveries', 'Deliveries');
    await see(rows).toHaveCount(1);
    await subscriber.createClients(2);
    const more = page.getByRole('button', { name: '2 new' });
    await see(more).toBeVisible();
    await see(rows).toHaveCount(1);
    await more.click();
    await see(rows).toHaveCount(3);
    await see(more).toBeHidden();
  });
});

describe('Finding by record', () => {
  test('works by email, with the keyboard alone', async () => {
    const { page, subscriber, settled, rows } = await open();
    await subscriber.createClients(3);
    await settled('succeeded', 3);
    await visit(page, 'deliveries', 'Deliveries');
    await see(rows).toHaveCount(3);
    const box = page.getByRole('combobox', { name: 'Find by record' });
    await box.fill('KAETHE2@example.com');
    await see(page.getByRole('option', { name: /Käthe Kollwitz 2/ })).toBeVisible();
    await box.press('Enter');
    await see(rows).toHaveCount(1);
    await see(rows).toContainText('Käthe Kollwitz 2');
    await see(page).toHaveURL(/client=\d+/);
    await page.getByRole('button', { name: /^Käthe Kollwitz 2/ }).click();
    await see(rows).toHaveCount(3);
  });
});

describe('Causes of failure', () => {
  test('group what fails, and lead to their deliveries', async () => {
    const { page, subscriber } = await open();
    subscriber.behave('status=503&retryAfter=3600');
    await subscriber.createClients(2);
    await until('the attempts', () => subscriber.received().length >= 2);
    await visit(page, 'deliveries?view=causes', 'Deliveries');
    const row = page.getByRole('row').filter({ hasText: 'The receiver failed (503)' });
    await see(async () => {
      await page.reload();
      await see(row).toContainText('2', { timeout: 1_000 });
    }).toPass();
    await row.getByRole('link', { name: 'The receiver failed (503)' }).click();
    await see(page).toHaveURL(/state=undelivered.*status=503|status=503.*state=undelivered/);
    await see(page.getByRole('table', { name: 'Deliveries' }).getByRole('row')).toHaveCount(3);
  });
});

describe('A shared delivery', () => {
  test('opens without a session, shows no personal data and nothing else, and ends when it is revoked', async () => {
    const { page, subscriber, settled } = await open();
    await subscriber.createClients(1);
    await settled('succeeded', 1);
    await visit(page, 'deliveries', 'Deliveries');
    await page.getByRole('link', { name: /client \d+$/ }).click();
    await page.getByRole('button', { name: 'Share…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share delivery' });
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const made = page.getByRole('dialog', { name: 'Link to the delivery' });
    const link = String(await made.locator('code').textContent());
    expect(link).toMatch(/\/portal\/shared#\d+-\d+-[\w-]{43}$/);
    const stranger = await portal.open(undefined, { mayLog: /404/ });
    await stranger.goto(link);
    await see(stranger.getByRole('heading', { level: 1, name: /^Delivery \d+-\d+-0$/ })).toBeVisible();
    await stranger.getByRole('tab', { name: 'Request as sent' }).click();
    await see(stranger.getByRole('region', { name: 'Request headers' })).toContainText('X-Webhook-Signature');
    await see(stranger.getByRole('main')).not.toContainText(/Käthe|kaethe/);
    await made.getByRole('button', { name: 'Copy link' }).click();
    await made.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Share…' }).click();
    await see(dialog.getByText('Opened')).toBeVisible();
    await dialog.getByRole('button', { name: 'Revoke link' }).click();
    await see(page.getByText('Link revoked')).toBeVisible();
    await stranger.reload();
    await see(stranger.getByText('This link does not work')).toBeVisible();
  });
});

describe('A delivery', () => {
  test('that fails shows each attempt, its error and the next attempt, and can be resent when the receiver works', async () => {
    const { page, subscriber, rows, giveUp } = await open();
    subscriber.behave('status=503&retryAfter=3600');
    await subscriber.createClients(1);
    await until('the first attempt', () => subscriber.received().length > 0);
    await visit(page, 'deliveries', 'Deliveries');
    await see(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      await see(rows).toContainText('503', { timeout: 500 });
    }).toPass();
    await rows.getByRole('link', { name: /client \d+$/ }).click();
    await see(page.getByRole('heading', { level: 1, name: /client \d+$/ })).toBeFocused();
    const timeline = page.getByRole('list').filter({ has: page.getByRole('button', { name: /^Attempt 1/ }) });
    await see(timeline).toContainText('The receiver failed (503)');
    await see(timeline).toContainText(/Next attempt (in|0)/);
    await see(page.getByText('Check the receiver’s logs')).toBeVisible();
    await see(page.getByText('no, thank you')).toBeVisible();
    await page.getByRole('tab', { name: 'Request as sent' }).click();
    await page.getByRole('button', { name: 'Raw' }).click();
    await see(page.getByRole('tabpanel').locator('pre')).toHaveText(String(subscriber.received()[0]?.body));
    await page.getByRole('tab', { name: 'Response' }).click();
    await see(page.getByRole('region', { name: 'Response headers' })).toContainText('3600');

    await see(page.getByRole('button', { name: 'Resend' })).toHaveCount(0);
    await page.getByRole('button', { name: 'Retry now' }).click();
    await see(page.getByText('Retry started')).toBeVisible();
    await until('it is retried', () => subscriber.received().length === 2);
    await see(timeline.getByRole('button', { name: /^Attempt 2/ })).toBeVisible();

    const resend = page.getByRole('button', { name: 'Resend' });
    await giveUp();
    subscriber.behave();
    await page.reload();
    await see(page.getByText('Failed', { exact: true })).toBeVisible();
    await resend.click();
    await see(page.getByText('Delivery resent')).toBeVisible();
    await see(page.getByText('Delivered', { exact: true }).first()).toBeVisible();
    await until('it arrived again', () => subscriber.received().length === 3);
    const [first, second] = subscriber.received().slice(1);
    expect(second?.id).toBe(first?.id);
    expect(String(second?.body)).toBe(String(first?.body));
  });

  test('that waits for a retry can be cancelled', async () => {
    const { page, subscriber, rows } = await open();
    subscriber.behave('status=503&retryAfter=3600');
    await subscriber.createClients(1);
    await until('the first attempt', () => subscriber.received().length > 0);
    await visit(page, 'deliveries?status=503', 'Deliveries');
    await see(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      await see(rows).toHaveCount(1, { timeout: 500 });
    }).toPass();
    await rows.getByRole('link', { name: /client \d+$/ }).click();
    await page.getByRole('button', { name: 'Cancel delivery' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel delivery?' });
    await dialog.getByRole('button', { name: 'Cancel delivery' }).click();
    await see(page.getByText('Discarded', { exact: true })).toBeVisible();
    await see(page.getByRole('button', { name: 'Resend' })).toBeVisible();
  });
});
