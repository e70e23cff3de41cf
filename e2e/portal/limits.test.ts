import { testReceiver } from '@causeway/runtime/testing';
import { test } from 'vitest';
import { openTeam } from '../api/support/portal.ts';
import { moveTo } from './support/pages.ts';
import { attemptedDelivery } from './support/places.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();
const team = await openTeam(world);
const delivery = await attemptedDelivery('status=503&retryAfter=3600')(
  team,
  openSubscriber(world, receiver, team),
);
const [, , subscription] = delivery.split('/');

test('A viewer finds every control for changes disabled, with the reason', async () => {
  const page = await portal.open(await team.join('viewer'));
  const reason = /Your role is viewer; this needs developer/;
  const off: [string, string | RegExp, string[]][] = [
    ['keys', 'API keys', ['Create API key']],
    ['subscriptions', 'Subscriptions', ['Add subscription']],
    [`subscriptions/${subscription}`, 'Billing', ['Send test delivery', 'Edit', 'Rotate secret…']],
    [delivery, /client \d+$/i, ['Retry now']],
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

test('Paths that lead nowhere and records of another company are not found', async () => {
  const { page } = await portal.openOwner();
  await page.goto(`subscriptions/${subscription}/edit`);
  await see(page.getByText('This does not exist or was deleted').first()).toBeVisible();
  for (const path of ['nowhere', 'constructor', 'subscriptions/abc']) {
    await visit(page, path, 'Page not found');
    await see(page.getByRole('navigation', { name: 'Main' }), path).toBeVisible();
  }
});
