import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testReceiver } from '@causeway/runtime/testing';
import { describe, expect, test } from 'vitest';
import { command, tabTo } from './support/keyboard.ts';
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
    await visit(page, 'test', 'Test delivery');
    await page.getByLabel('Event type').selectOption('payment.failed');
    await page.getByLabel('Status override').fill('Client - Paused');
    await page.getByRole('button', { name: 'Send test delivery' }).click();
    await see(page.getByText('The receiver accepted the delivery.')).toBeVisible();
    await see(page.getByText('thank you')).toBeVisible();
    const [arrived] = subscriber.received();
    expect(arrived?.verdict).toBe('valid');
    const envelope = JSON.parse(String(arrived?.body));
    expect(envelope).toMatchObject({
      type: 'payment.failed',
      metadata: { test: true, status: 'Client - Paused' },
    });

    await page.getByRole('tab', { name: 'Request as sent' }).click();
    await see(page.getByText(`POST ${subscriber.url}`)).toBeVisible();
    const panel = page.getByRole('tabpanel');
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
    const { page, subscriber } = await open();
    subscriber.behave('status=401');
    await visit(page, 'test', 'Test delivery');
    await page.getByRole('button', { name: 'Send test delivery' }).click();
    await see(page.getByText('The receiver refused the delivery (401)')).toBeVisible();
    await see(page.getByText('It probably checks the signature with another secret.')).toBeVisible();
    await see(page.getByText('no, thank you')).toBeVisible();
    await page.getByRole('tab', { name: 'Timings' }).click();
    await see(page.getByRole('tabpanel')).toContainText(/ms/);
  });

  test('of custom JSON marks differences from the schema, refuses invalid JSON, and sends it unchanged', async () => {
    const { page, subscriber } = await open();
    await visit(page, 'test?type=client.created', 'Test delivery');
    await page.getByRole('radio', { name: 'Own JSON' }).check();
    const editor = page.getByRole('textbox', { name: 'Payload as JSON' });
    await see(editor).toContainText('client_id');
    /** Until the selection is in time: on a slow page, that of the click may come after the keys. */
    const replaceText = (text: string): Promise<void> =>
      see(async () => {
        await editor.click();
        await page.keyboard.press('Control+A');
        await page.keyboard.insertText(text);
        await see(editor).toHaveText(text, { timeout: 2_000 });
      }).toPass();
    await replaceText('{"client_id": "seven"}');
    const mark = page.locator('.cm-lint-marker-warning');
    await see(mark).toBeVisible();
    await mark.hover();
    await see(page.getByText(/client_id .*(number|integer)/)).toBeVisible();
    await page.getByRole('button', { name: 'Send test delivery' }).click();
    await see(page.getByText('The receiver accepted the delivery.')).toBeVisible();
    expect(JSON.parse(String(subscriber.received()[0]?.body)).payload).toEqual({ client_id: 'seven' });

    await replaceText('{"client_id": ');
    await page.getByRole('button', { name: 'Send test delivery' }).click();
    await see(page.getByRole('alert')).toContainText('The payload is not valid JSON');
    expect(subscriber.received()).toHaveLength(1);
  });

  test('is sent with the keyboard alone, and the editor does not trap the focus', async () => {
    const { page, subscriber } = await open();
    await visit(page, '', 'Overview');
    await command(page, 'test delivery');
    await see(page.getByRole('heading', { level: 1, name: 'Test delivery' })).toBeFocused();
    await tabTo(page, page.getByRole('radio', { name: 'Sample' }));
    await page.keyboard.press('ArrowRight');
    const editor = page.getByRole('textbox', { name: 'Payload as JSON' });
    await see(page.locator('.cm-content')).toBeVisible();
    await tabTo(page, editor);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await see(page.getByLabel('Status override')).toBeFocused();
    await page.keyboard.press('Enter');
    await see(page.getByText('The receiver accepted the delivery.')).toBeVisible();
    expect(subscriber.received()).toHaveLength(1);
  });
});
