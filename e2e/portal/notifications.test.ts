import { setTimeout as sleep } from 'node:timers/promises';
import { testReceiver } from '@causeway/runtime/testing';
import { Webhook } from 'standardwebhooks';
import { describe, expect, inject, test } from 'vitest';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const receiver = await testReceiver();

interface InboxMail {
  readonly subject: string;
  readonly recipients: readonly string[];
  readonly text: string;
}
const mailsTo = async (address: string): Promise<readonly InboxMail[]> => {
  const mails = (await (await fetch(`${inject('stack').inboxUrl}mails.json`)).json()) as InboxMail[];
  return mails.filter(({ recipients }) => recipients.includes(address));
};

describe('Notifications', () => {
  test('tell of a subscription that is switched off, in the bell, by mail and to the webhook', async () => {
    const { page, team } = await portal.openOwner();
    const subscriber = openSubscriber(portal.world, receiver, team);
    const { id } = await subscriber.subscribe();
    const path = `/operational-${team.companyId}`;
    const made = await team.owner.browser.ask('PATCH', '/notices/channels', {
      channel: 'webhook',
      url: `${receiver.url}${path}`,
    });
    expect(made.status, made.text).toBe(200);
    subscriber.behave('status=410');
    await subscriber.createClients(1);

    const slack = { channel: 'slack', url: `${receiver.url}${path}-slack` };
    expect((await team.owner.browser.ask('PATCH', '/notices/channels', slack)).status).toBe(200);
    await visit(page, '', 'Overview');
    const bell = page.getByRole('button', { name: /^Notifications, \d+ unread/ });
    await see(bell).toBeVisible();
    await see(page.getByRole('status').filter({ hasText: 'unread notification' })).toBeAttached();
    const title = '“Billing” is failing';
    await expect
      .poll(async () => {
        const { json } = await team.owner.browser.ask('GET', '/notices');
        return json.notices.map((one: { title: string }) => one.title);
      })
      .toContain(title);
    await page.reload();
    await bell.focus();
    await page.keyboard.press('Enter');
    const item = page.getByRole('menuitem', { name: title });
    await see(item).toBeVisible();
    await item.press('Enter');
    await see(page.getByRole('heading', { level: 1, name: 'Billing' })).toBeVisible();
    expect(page.url()).toContain(`/portal/subscriptions/${id}`);
    await see(page.getByRole('button', { name: 'Notifications', exact: true })).toBeVisible();

    const mail = async () => (await mailsTo(team.owner.email)).find(({ subject }) => subject.includes(title));
    await expect.poll(mail).toBeDefined();
    expect((await mail())!.text).toContain(`/portal/subscriptions/${id}`);
    const posted = () => receiver.received.filter((one) => one.path === path);
    const failing = () =>
      posted().find(({ headers }) => headers['x-webhook-event'] === 'operational.subscription_failing');
    await expect.poll(failing).toBeDefined();
    const { body, headers } = failing()!;
    const said = () =>
      receiver.received
        .filter((one) => one.path === `${path}-slack`)
        .map((one) => JSON.parse(String(one.body)).text.split('\n'))
        .find(([line]) => line.endsWith(title));
    await expect.poll(said).toBeDefined();
    const company = (await team.owner.browser.ask('GET', '/session')).json.company.name;
    expect(said()).toEqual([
      `${company}: ${title}`,
      expect.stringMatching(/^410 since \d{4}-\d\d-\d\d \d\d:\d\d UTC. Deliveries wait/),
      expect.stringMatching(new RegExp(`/portal/subscriptions/${id}$`)),
    ]);
    const message = new Webhook(made.json.signingSecret).verify(
      String(body),
      headers as Record<string, string>,
    );
    expect(message).toMatchObject({
      payload: { count: 1, notices: [{ subject: { id, name: 'Billing' }, title }] },
    });
  });

  test('come by mail as the member chooses', async () => {
    const { page, team } = await portal.openOwner();
    const viewer = await team.join('viewer');
    await visit(page, 'notifications?tab=settings', 'Notifications');
    const problems = page.getByRole('checkbox', { name: 'Problems' });
    await see(problems).toBeChecked();
    const mailed = async () =>
      (await team.owner.browser.ask('GET', '/notices/settings')).json.kinds
        .filter(({ mail }: { mail: boolean }) => mail)
        .map(({ kind }: { kind: string }) => kind);
    await page.route('**/notices/settings', async (route) => {
      // What has been chosen is shown however late the page hears of it.
      await sleep(route.request().method() === 'GET' ? 2000 : 500);
      await route.continue();
    });
    for (const [on, times] of [
      [false, 0],
      [true, 4],
    ] as const) {
      await problems.press('Space');
      await see(problems).toBeChecked({ checked: on });
      await expect
        .poll(async () => (await mailed()).filter((kind: string) => /^sub|^del/.test(kind)))
        .toHaveLength(times);
    }
    const access = page.getByRole('checkbox', { name: 'Access' });
    for (const box of [problems, access]) await box.press('Space');
    for (const box of [problems, access]) await see(box).not.toBeChecked({ timeout: 400 });
    await problems.press('Space');
    await see(problems).toBeChecked({ timeout: 400 });
    await expect
      .poll(async () => (await mailed()).filter((kind: string) => /^sub|^del|^key|^acc/.test(kind)))
      .toHaveLength(4);
    await see(access).not.toBeChecked();
    const theirs = await portal.open(viewer);
    await visit(theirs, 'notifications?tab=settings', 'Notifications');
    await see(theirs.getByRole('checkbox', { name: 'Problems' })).not.toBeChecked();
    await see(theirs.getByRole('link', { name: 'Company settings' })).toBeHidden();
  });

  test('go to channels that an admin adds, tests and removes', async () => {
    const { page, team } = await portal.openOwner();
    const path = `/channel-${team.companyId}`;
    await visit(page, 'company', 'Company settings');
    const card = page.locator('section').filter({ hasText: 'Operational webhook' });
    await card.getByRole('button', { name: 'Add channel…' }).click();
    const form = page.getByRole('dialog', { name: 'Operational webhook' });
    const url = form.getByLabel('URL of Operational webhook');
    await url.fill('https://127.0.0.1:99999/');
    await form.getByRole('button', { name: 'Add channel' }).click();
    await see(form.getByText(/invalid URL/i)).toBeVisible();
    await page.reload();
    await see(url).toHaveValue('https://127.0.0.1:99999/');
    await url.fill(`${receiver.url}${path}`);
    await form.getByRole('button', { name: 'Add channel' }).click();
    await page.getByRole('button', { name: 'Copy secret' }).click();
    const secret = await clipboard(page);
    await page.getByRole('button', { name: 'Done' }).click();
    await card.getByRole('button', { name: 'Send test' }).click();
    await see(page.getByText('Test accepted')).toBeVisible();
    const [post] = receiver.received.filter((one) => one.path === path);
    const headers = post!.headers as Record<string, string>;
    expect(new Webhook(secret).verify(String(post!.body), headers)).toMatchObject({
      type: 'operational.test',
    });
    receiver.behave(path, 'status=500');
    await card.getByRole('button', { name: 'Send test' }).click();
    await see(page.getByText('The test failed: status 500.').first()).toBeVisible();
    await see(card.getByText('Failed: 500')).toBeVisible();
    await card.getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove channel' }).click();
    await see(page.getByText('Channel removed')).toBeVisible();
    await see(card.getByRole('button', { name: 'Add channel…' })).toBeVisible();
    const { json } = await team.owner.browser.ask('GET', '/audit?q=webhook');
    expect(json.entries.map(({ action }: { action: string }) => action)).toEqual([
      'notices.channel_removed',
      'notices.channel_tested',
      'notices.channel_tested',
      'notices.channel_changed',
    ]);
  });
});
