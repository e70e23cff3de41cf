import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const receiver = await testReceiver();

const open = async () => {
  const { team, page } = await portal.openOwner();
  return { team, page, subscriber: openSubscriber(portal.world, receiver, team) };
};

describe('The events', () => {
  test('are paged from the newest to the oldest, and narrowed to a type', async () => {
    const { page, subscriber } = await open();
    await subscriber.createEvents(55, 'payment.succeeded');
    await subscriber.createEvents(1, 'lead.created');
    await visit(page, 'events', 'Events');
    const rows = page.getByRole('table', { name: 'Events' }).getByRole('row');
    await see(rows.nth(1)).toContainText('lead.created');
    await see(rows).toHaveCount(51);
    await page.getByRole('button', { name: 'Older' }).click();
    await see(page).toHaveURL(/cursor=/);
    await see(rows).toHaveCount(7);
    await page.getByRole('button', { name: 'Newest' }).click();
    await see(rows.nth(1)).toContainText('lead.created');
    await page.getByRole('combobox', { name: 'Event type' }).selectOption('lead.created');
    await see(page).toHaveURL(/type=lead\.created/);
    await see(rows).toHaveCount(2);
  });

  test('show their payload and where they were delivered to, and lead to erasing the person that they are about', async () => {
    const { page, subscriber } = await open();
    await subscriber.subscribe();
    await subscriber.createClients(1);
    await until('it arrives', () => subscriber.received().length === 1);
    await visit(page, 'events', 'Events');
    await page.getByRole('link', { name: /client \d+$/ }).click();
    await see(page.getByRole('heading', { level: 1, name: /client \d+$/ })).toBeFocused();
    const payload = page.getByRole('figure').first();
    await see(payload).toContainText('Käthe');
    const delivery = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').nth(1);
    await see(delivery).toContainText('Billing');
    await see(delivery).toContainText('Delivered');
    await delivery.getByRole('link').first().click();
    await see(page).toHaveURL(/\/deliveries\/\d+\/\d+\/0/);
    await see(page.getByRole('heading', { level: 1, name: /client \d+$/ })).toBeVisible();
    await page.goBack();
    await page.getByRole('button', { name: 'Erase person…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Erase person \d+\?$/ });
    await dialog.getByLabel('Type “erase” to confirm').fill('erase');
    await dialog.getByRole('button', { name: 'Erase person' }).click();
    await see(page.getByText('The person was erased, and the payload with it.')).toBeVisible();
    await until('the payload is gone', async () => {
      await page.reload();
      await see(payload).toContainText('client_id');
      return !(await payload.textContent())?.includes('Käthe');
    });
    await visit(page, 'audit', 'Audit log');
    await see(page.getByRole('main')).toContainText(/erased.*person \d+/);
  });
});
