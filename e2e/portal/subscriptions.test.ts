import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { openSubscriber } from './support/subscriber.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

const open = async () => {
  const { team, page } = await portal.openOwner();
  return { team, page, subscriber: openSubscriber(world, receiver, team) };
};

describe('A subscription', () => {
  test('is added, its secret shown once, and its deliveries verify with it', async () => {
    const { page, subscriber } = await open();
    await visit(page, 'subscriptions', 'Subscriptions');
    await page.getByRole('link', { name: 'Add subscription' }).first().click();
    const url = page.getByLabel('URL');
    await url.fill('https://me:secret@hooks.example.com/crm');
    await page.getByLabel('Name').fill('Billing');
    await page.getByLabel('Search event types').fill('agreement');
    await see(page.getByRole('group', { name: 'Events to send' }).getByRole('checkbox')).toHaveCount(1);
    await page.getByLabel('Search event types').fill('client created');
    await page.getByText('Sample of').first().click();
    await see(page.locator('details[open]')).toContainText('client_id');
    await page.getByRole('checkbox', { name: /client\.created/ }).check();
    await see(page.getByText('1 chosen')).toBeVisible();
    await page.getByRole('button', { name: 'Add subscription' }).click();
    await see(url).toBeFocused();
    await see(url).toHaveAccessibleDescription(/must not have a user name or password/);
    await url.fill(subscriber.url);
    await page.getByRole('button', { name: 'Add subscription' }).click();

    const dialog = page.getByRole('dialog', { name: 'The signing secret' });
    await see(dialog.getByRole('button', { name: 'Copy signing secret' })).toBeFocused();
    await dialog.getByRole('button', { name: 'Copy signing secret' }).click();
    const secret = await clipboard(page);
    expect(secret).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Billing' })).toBeVisible();

    await subscriber.createClients(1);
    const delivery = await until('the delivery', () => subscriber.received()[0]);
    // With a library that is independent of the portal.
    expect(() => new Webhook(secret).verify(delivery.body, delivery.headers)).not.toThrow();
  });

  test('is saved without reverting what another window saved; the same field asks', async () => {
    const { team, page, subscriber } = await open();
    const { id } = await subscriber.subscribe();
    const stored = async () => (await team.owner.browser.ask('GET', `/subscriptions/${id}`)).json;
    const save = page.getByRole('button', { name: 'Save changes' });
    await visit(page, `subscriptions/${id}/edit`, 'Edit subscription');
    await page.getByLabel('Description').fill('Mine');
    await team.owner.browser.ask('PATCH', `/subscriptions/${id}`, { name: 'Theirs' });
    await save.click();
    await see(page.getByRole('heading', { level: 1, name: 'Theirs' })).toBeVisible();
    expect(await stored()).toMatchObject({ name: 'Theirs', description: 'Mine' });

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Mine');
    await team.owner.browser.ask('PATCH', `/subscriptions/${id}`, { name: 'Theirs again' });
    await save.click();
    const question = page.getByRole('alert').filter({ hasText: 'someone else changed the same fields' });
    await see(question).toContainText('Theirs again');
    expect((await stored()).name).toBe('Theirs again');
    await question.getByRole('button', { name: 'Keep the saved value' }).click();
    await see(page.getByLabel('Name')).toHaveValue('Theirs again');
    await page.getByLabel('Name').fill('Mine');
    await team.owner.browser.ask('PATCH', `/subscriptions/${id}`, { name: 'Theirs at last' });
    await save.click();
    await question.getByRole('button', { name: 'Keep yours' }).click();
    await save.click();
    await see(page.getByRole('heading', { level: 1, name: 'Mine' })).toBeVisible();
  });

  test('has a filter, a pace and headers, whose values are never kept, and asks about conflicts', async () => {
    const { team, page, subscriber } = await open();
    await subscriber.createEvents(2);
    await visit(page, 'subscriptions/new', 'Add a subscription');
    await page.getByLabel('URL').fill(subscriber.url);
    await page.getByLabel('Name').fill('Billing');
    await page.getByRole('checkbox', { name: /client\.created/ }).check();
    await page.getByText('Filter', { exact: true }).click();
    await page.getByRole('button', { name: 'Add condition' }).click();
    await page.getByLabel('Field', { exact: true }).selectOption('status');
    await page.getByLabel('Operator').selectOption('exists');
    await see(page.getByText('2 of your last 2 events would have matched')).toBeVisible();
    await page.getByLabel('Operator').selectOption('at least');
    await page.getByLabel('Value', { exact: true }).fill('5');
    await see(page.getByLabel('Field', { exact: true })).toHaveAccessibleDescription(/status is a string/i);
    await page.getByLabel('Operator').selectOption('starts with');
    await page.getByLabel('Value', { exact: true }).fill('Nobody');
    await see(page.getByText('0 of your last 2 events would have matched')).toBeVisible();
    await page.getByText('Pace', { exact: true }).click();
    await page.getByLabel('Limit').selectOption('Per minute');
    await page.getByLabel('At most').fill('30');
    await page.getByText('Headers', { exact: true }).click();
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.getByLabel('Header name').fill('Host');
    await page.getByLabel('Header value').fill('s3cret-value');
    await page.getByRole('button', { name: 'Add subscription' }).click();
    await see(page.getByLabel('Header name')).toHaveAccessibleDescription(/is set by Causeway/);
    await page.getByLabel('Header name').fill('X-Token');
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain('s3cret-value');
    await page.getByRole('button', { name: 'Add subscription' }).click();
    const dialog = page.getByRole('dialog', { name: 'The signing secret' });
    await dialog.getByRole('button', { name: 'Copy signing secret' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Billing' })).toBeVisible();

    const { subscriptions } = (await team.owner.browser.ask('GET', '/subscriptions')).json;
    const path = `/subscriptions/${subscriptions[0].id}`;
    const stored = async () => (await team.owner.browser.ask('GET', path)).json;
    const rules = {
      conditions: [{ field: 'status', startsWith: 'Nobody' }],
      pace: { limit: 30, per: 'minute' },
    };
    expect(await stored()).toMatchObject({ ...rules, headerNames: ['X-Token'] });

    await page.getByRole('button', { name: 'Edit' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Edit subscription' })).toBeVisible();
    await see(page.getByText('X-Token')).toBeVisible();
    await page.getByLabel('At most').fill('40');
    await team.owner.browser.ask('PATCH', path, { pace: { limit: 7, per: 'second' } });
    await page.getByRole('button', { name: 'Save changes' }).click();
    const question = page.getByRole('alert').filter({ hasText: 'someone else changed the same fields' });
    await see(question).toContainText('At most 7 a second');
    await question.getByRole('button', { name: 'Keep yours' }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Billing' })).toBeVisible();
    const now = { ...rules, pace: { limit: 40, per: 'minute' }, headerNames: ['X-Token'] };
    expect(await stored()).toMatchObject(now);
  });

  test('is disabled and enabled; events in between are delivered on request', async () => {
    const { page, team, subscriber } = await open();
    const { id, createdUtc } = await subscriber.subscribe();
    await visit(page, `subscriptions/${id}`, 'Billing');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Disable…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable subscription' }).click();
    await see(page.getByText('This subscription is disabled')).toBeVisible();
    await subscriber.createClients(2);
    await until('both are counted', async () => {
      const missed = { kind: 'missed', subscriptionId: id, since: createdUtc };
      return (await team.owner.browser.ask('POST', '/replays/preview', missed)).json.count === 2;
    });
    // The page looks every half a minute.
    await page.reload();
    await page.getByRole('button', { name: 'Enable only' }).click();
    await see(page.getByText('This subscription is disabled')).toBeHidden();
    await visit(page, '', 'Overview');
    await see(page.getByText('2 deliveries held or missed of 1 enabled subscription')).toBeVisible();
    expect(subscriber.received()).toHaveLength(0);
    await page.getByRole('link', { name: 'Decide' }).click();
    await page.getByRole('link', { name: 'Billing' }).click();
    await see(page.getByText('2 deliveries have not arrived.')).toBeVisible();
    await page.getByRole('button', { name: 'Deliver 2' }).click();
    await until('both arrive', () => subscriber.received().length === 2);
  });

  test('that fails says how many attempts have failed, also those that do not count', async () => {
    const { page, team, subscriber } = await open();
    const { id } = await subscriber.subscribe();
    const stored = async () => (await team.owner.browser.ask('GET', `/subscriptions/${id}`)).json;
    subscriber.behave('status=503');
    await subscriber.createEvents(30);
    await until('it fails', async () => (await stored()).failedAttempts > 5);
    await visit(page, `subscriptions/${id}`, 'Billing');
    const many = /(?:[6-9]|\d\d) attempts have failed since the last success/;
    await see(page.getByRole('alert')).toContainText(many);
  });

  test('has its secret rotated with or without an overlap', async () => {
    const { page, team, subscriber } = await open();
    const { id } = await subscriber.subscribe();
    await visit(page, `subscriptions/${id}`, 'Billing');
    for (const how of ['Keeps working for a while', 'Stops working at once']) {
      await page.getByRole('button', { name: 'Rotate secret…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Rotate the signing secret' });
      await dialog.getByRole('radio', { name: how }).check();
      await dialog.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('button', { name: 'Copy signing secret' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      const signsWithBoth = how.startsWith('Keeps');
      const both = page.getByText('the signatures of the new and the old secret until');
      await see(both).toBeVisible({ visible: signsWithBoth });
      const { json } = await team.owner.browser.ask('GET', `/subscriptions/${id}`);
      expect(json.previousSecretUntilUtc !== null).toBe(signsWithBoth);
    }
  });

  test('is deleted at once without traffic, and by typing its name with traffic', async () => {
    const { team, page, subscriber } = await open();
    const { id } = await subscriber.subscribe();
    const { id: unused } = await subscriber.subscribe({ name: 'Unused', eventTypes: ['lead.created'] });
    const ask = async (which: number, name: string) => {
      await visit(page, `subscriptions/${which}`, name);
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      return page.getByRole('dialog', { name: `Delete “${name}”?` });
    };
    await (await ask(unused, 'Unused')).getByRole('button', { name: 'Delete subscription' }).click();
    await see(page.getByText('“Unused” deleted')).toBeVisible();
    await see(page.getByRole('heading', { level: 1, name: 'Subscriptions' })).toBeVisible();

    await subscriber.createClients(1);
    await until('it arrives', () => subscriber.received().length === 1);
    await until('its success is written down', async () => {
      const { json } = await team.owner.browser.ask('GET', `/subscriptions/${id}`);
      return json.health.lastSuccessUtc;
    });
    const dialog = await ask(id, 'Billing');
    const remove = dialog.getByRole('button', { name: 'Delete subscription' });
    await see(remove).toHaveAttribute('aria-disabled', 'true');
    await see(remove).toHaveAccessibleDescription('Type “delete” first');
    await dialog.getByLabel('Type “delete” to confirm').fill('delete');
    await remove.click();
    await see(page.getByText('No subscriptions yet')).toBeVisible();
    await page.goto(`subscriptions/${id}`);
    await see(page.getByText('This does not exist or was deleted')).toBeVisible();
  });

  test('that a tool manages says so, and cannot be edited here', async () => {
    const { team, page, subscriber } = await open();
    const { id } = await subscriber.subscribe();
    await world.sql(
      "UPDATE subscriptions SET managed_by = 'zapier' WHERE company_id = ? AND subscription_id = ?",
      [team.companyId, id],
    );
    await visit(page, 'subscriptions', 'Subscriptions');
    await see(page.getByRole('row').filter({ hasText: 'Billing' })).toContainText('zapier');
    await page.getByRole('link', { name: 'Billing' }).click();
    const edit = page.getByRole('button', { name: 'Edit' });
    await see(edit).toHaveAttribute('aria-disabled', 'true');
    await see(edit).toHaveAccessibleDescription('zapier manages this subscription; change it there');
    await edit.click({ force: true });
    expect(page.url()).toMatch(new RegExp(`/subscriptions/${id}$`));
    await see(page.getByRole('button', { name: 'Rotate secret…' })).toHaveAttribute('aria-disabled', 'true');
  });
});
