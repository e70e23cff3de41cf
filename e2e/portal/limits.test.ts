import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { furnish } from './support/furnish.ts';
import { moveTo } from './support/pages.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();
const team = await openTeam(world);
const furnished = await furnish(world, receiver, team);

describe('A viewer', () => {
  test('sees personal data masked, in events and in deliveries', async () => {
    const team = await openTeam(world);
    const subscriber = openSubscriber(world, receiver, team);
    await subscriber.subscribe();
    await subscriber.createClients(1);
    await until('it arrives', () => subscriber.received().length === 1);
    const page = await portal.open(await team.join('viewer'));
    await visit(page, 'events', 'Events');
    await page.getByRole('link', { name: /client \d+$/i }).click();
    await see(page.getByText('Personal data is hidden from your role.')).toBeVisible();
    await see(page.getByRole('figure').first()).toContainText('client_id');
    expect(await page.content()).not.toMatch(/Käthe|Kollwitz|kaethe1@/);
    await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click();
    await see(page.getByText('Personal data is hidden from your role, so the signature')).toBeVisible();
    await page.getByRole('tab', { name: 'Request as sent' }).click();
    await see(page.getByRole('tabpanel')).toContainText('client_id');
    expect(await page.content()).not.toMatch(/Käthe|Kollwitz|kaethe1@/);
  });

  test('finds every control for changes disabled, with the reason', async () => {
    const { healthy, delivery } = furnished;
    const page = await portal.open(await team.join('viewer'));
    const reason = /Your role is viewer; this needs developer/;
    const off: [string, string, string[]][] = [
      ['keys', 'API keys', ['Create API key']],
      ['subscriptions', 'Subscriptions', ['Add subscription']],
      [`subscriptions/${healthy}`, 'Billing', ['Send test delivery', 'Edit', 'Rotate secret…']],
      [`deliveries/${delivery}`, 'Client 9000000000001042', ['Retry now']],
    ];
    for (const [path, heading, names] of off) {
      await moveTo(page, { name: path, path, heading });
      for (const name of names) {
        const button = page.getByRole('button', { name }).first();
        await see(button, name).toHaveAttribute('aria-disabled', 'true');
        await see(button, name).toHaveAccessibleDescription(reason);
      }
    }
    await moveTo(page, { name: 'audit', path: 'audit', heading: 'Audit log' });
    await see(page.getByText(/this needs admin/)).toBeVisible();
    await page.goto('keys?dialog=create');
    await see(page.getByRole('heading', { level: 1, name: 'API keys' })).toBeVisible();
    await see(page.getByRole('dialog')).toHaveCount(0);
  });
});

test('Pages of another company’s data are not found', async () => {
  const theirs = furnished;
  const { page } = await portal.openOwner();
  for (const path of [
    `subscriptions/${theirs.healthy}`,
    `subscriptions/${theirs.healthy}/edit`,
    `deliveries/${theirs.delivery}`,
    `events/${theirs.event}`,
  ]) {
    await page.goto(path);
    await see(page.getByText('This does not exist or was deleted').first(), path).toBeVisible();
    await see(page.getByText('Billing'), path).toHaveCount(0);
  }
  for (const path of ['nowhere', 'constructor', 'subscriptions/abc']) {
    await visit(page, path, 'Page not found');
    await see(page.getByRole('navigation', { name: 'Main' }), path).toBeVisible();
  }
  await page.goto(`keys?revoke=${theirs.key}`);
  await see(page.getByText('No API keys yet')).toBeVisible();
  await see(page.getByRole('dialog')).toHaveCount(0);
});
