import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testReceiver } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { tabTo } from './support/keyboard.ts';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const receiver = await testReceiver();
const run = promisify(execFile);

const open = async () => {
  const { team, page } = await portal.openOwner();
  const subscriber = openSubscriber(portal.world, receiver, team);
  const subscription = await subscriber.subscribe({ eventTypes: ['client.created', 'payment.failed'] });
  return { team, page, subscriber, subscription };
};

describe('A test delivery', () => {
  test('of a sample shows the response and the exact request, with a command that repeats it', async () => {
    const { page, subscriber, subscription } = await open();
    receiver.trust(subscription.signingSecret);
    await visit(page, 'subscriptions', 'Subscriptions');
    await page.getByRole('button', { name: 'Actions for Billing' }).click();
    await page.getByRole('menuitem', { name: 'Send test delivery' }).click();
    const dialog = page.getByRole('dialog', { name: 'Test “Billing”' });
    await dialog.getByLabel('Event type').selectOption('payment.failed');
    await dialog.getByRole('button', { name: 'Send test delivery' }).click();
    await see(dialog.getByText('The receiver accepted the delivery.')).toBeVisible();
    await see(dialog.getByText('thank you')).toBeVisible();
    const [arrived] = subscriber.received();
    expect(arrived?.verdict).toBe('valid');
    expect(JSON.parse(String(arrived?.body))).toMatchObject({
      type: 'payment.failed',
      metadata: { test: true },
    });

    await dialog.getByRole('tab', { name: 'Request as sent' }).click();
    await see(dialog.getByText(`POST ${subscriber.url}`)).toBeVisible();
    const panel = dialog.getByRole('tabpanel');
    await panel.getByRole('button', { name: 'Raw' }).click();
    await see(panel.locator('pre')).toHaveText(String(arrived?.body));
    await see(panel.getByRole('region', { name: 'Request headers' })).toContainText(
      arrived?.headers['x-webhook-signature'] ?? 'a signature',
    );
    await panel.getByRole('button', { name: 'Copy as curl' }).click();
    await run('bash', ['-c', await clipboard(page)]);
    const [, again] = subscriber.received();
    expect(String(again?.body)).toBe(String(arrived?.body));
    expect(again?.verdict).toBe('valid');
    expect(again?.headers['x-webhook-signature']).toBe(arrived?.headers['x-webhook-signature']);
  });

  test('to a failing receiver says what happened and what to do', async () => {
    const { page, subscriber, subscription } = await open();
    subscriber.behave('status=401');
    await page.goto(`subscriptions/${subscription.id}?dialog=test`);
    await page.getByRole('dialog').getByRole('button', { name: 'Send test delivery' }).click();
    await see(page.getByText('The receiver refused the delivery (401)')).toBeVisible();
    await see(page.getByText('It probably checks the signature with another secret.')).toBeVisible();
    await see(page.getByText('no, thank you')).toBeVisible();
    await page.getByRole('tab', { name: 'Timings' }).click();
    await see(page.getByRole('tabpanel')).toContainText(/ms/);
  });

  test('of custom JSON is written and sent with the keyboard alone, unchanged; invalid JSON is not sent', async () => {
    const { page, subscriber, subscription } = await open();
    await visit(page, `subscriptions/${subscription.id}`, 'Billing');
    await tabTo(page, page.getByRole('button', { name: 'Send test delivery' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Test “Billing”' });
    await tabTo(page, dialog.getByRole('radio', { name: 'Sample' }));
    await page.keyboard.press('ArrowRight');
    const payload = dialog.getByRole('textbox', { name: 'Payload as JSON' });
    await see(payload).toHaveValue(/client_id/);
    const write = async (text: string): Promise<void> => {
      await tabTo(page, payload);
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText(text);
      await tabTo(page, dialog.getByRole('button', { name: 'Send test delivery' }));
      await page.keyboard.press('Enter');
    };
    await write('{"client_id": ');
    await see(dialog.getByRole('alert')).toContainText('The payload is not valid JSON');
    expect(subscriber.received()).toHaveLength(0);
    await write('{"client_id": "seven"}');
    await see(dialog.getByText('The receiver accepted the delivery.')).toBeVisible();
    expect(JSON.parse(String(subscriber.received()[0]?.body)).payload).toEqual({ client_id: 'seven' });
  });
});
