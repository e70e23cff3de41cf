import type { Page } from '@playwright/test';
import { describe, expect, test } from 'vitest';
import { clipboard, openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();
const { world } = portal;

/** Fills in the form, up to the dialog that shows the key. */
const createKey = async (page: Page, name: string, scope = /Look up records/): Promise<void> => {
  await visit(page, 'keys', 'API keys');
  await page.getByRole('button', { name: 'Create API key' }).first().click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name').fill(name);
  await form.getByRole('checkbox', { name: scope }).check();
  await form.getByRole('button', { name: 'Create key' }).click();
  await see(page.getByRole('dialog', { name: 'Your new API key' })).toBeVisible();
};

/** Two clicks, and two Enters, within one tick. */
const clickTwice = `{
  const button = document.querySelector('[role="dialog"] button[type="submit"]');
  button.click();
  button.click();
}`;
const pressTwice = (page: Page) => Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')]);

/** The status of a lookup with the key. */
const statusWith = async (key: string): Promise<number> =>
  (await world.ask('/integrations/lookups/employees', { key })).status;

describe('An API key', () => {
  test('leads from a request to the record and to what the audit log has of it', async () => {
    const { team, page } = await portal.openOwner();
    const { json } = await team.owner.browser.ask('POST', '/keys', {
      name: 'Tool',
      scopes: ['webhooks:write'],
    });
    const subscription = {
      url: 'https://hooks.example.com/crm',
      name: 'Billing',
      eventTypes: ['lead.created'],
    };
    const made = await world.ask('/webhooks/subscriptions', {
      ...{ method: 'POST', key: json.value, body: JSON.stringify(subscription) },
    });
    const changed = await world.ask(`/webhooks/subscriptions/${made.json.id}`, {
      ...{ method: 'PATCH', key: json.value, body: JSON.stringify({ name: 'Accounting' }) },
    });
    await visit(page, `keys/${json.id}`, 'Tool');
    const row = page.getByRole('row').filter({ hasText: 'PATCH' });
    await row.getByRole('link', { name: `/subscriptions/${made.json.id}` }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Accounting' })).toBeVisible();
    await page.goBack();
    await row.getByRole('link', { name: /^Audit entries of request/ }).click();
    await see(page).toHaveURL(new RegExp(String(changed.headers['x-request-id'])));
    const entries = page.getByRole('table', { name: 'Audit log' }).getByRole('row');
    await see(entries.filter({ hasText: 'Billing → Accounting' })).toBeVisible();
    await see(entries.filter({ hasText: 'added the subscription' })).toBeHidden();
  });

  test('is created, copied, works at once, is listed without its secret, and ends when it is revoked', async () => {
    const { team, page } = await portal.openOwner();
    await createKey(page, 'Website form');
    const dialog = page.getByRole('dialog', { name: 'Your new API key' });
    const copy = dialog.getByRole('button', { name: 'Copy API key' });
    await see(copy).toBeFocused();
    await copy.click();
    await see(dialog.getByText('Copied to the clipboard')).toBeAttached();
    const key = await clipboard(page);
    expect(key).toMatch(new RegExp(`^crm_${team.companyId}_[A-Za-z0-9]{40}$`));
    expect(await statusWith(key)).toBe(200);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await see(dialog).toBeHidden();

    const row = page
      .getByRole('table', { name: 'API keys' })
      .getByRole('row')
      .filter({ hasText: 'Website form' });
    await see(row).toContainText('Read only');
    expect(await page.content()).not.toContain(key);
    expect(await row.locator('code').textContent()).toContain(`crm_${team.companyId}_`);

    // As the gateways report some seconds later.
    await world.sql('UPDATE api_keys SET last_used_utc = UTC_TIMESTAMP() WHERE company_id = ?', [
      team.companyId,
    ]);
    await page.reload();
    await see(row.getByRole('cell').nth(3)).toContainText(/this minute|1 min\. ago/);
    await row.getByRole('button', { name: 'Actions for Website form' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    const question = page.getByRole('dialog', { name: 'Revoke “Website form”?' });
    await see(question.getByText('This key is in use')).toBeVisible();
    await question.getByRole('button', { name: 'Revoke key' }).click({ force: true });
    expect(await statusWith(key)).toBe(200);
    await question.getByLabel('Type “revoke” to confirm').fill('revoke');
    await question.getByRole('button', { name: 'Revoke key' }).click();
    await see(page.getByText('Key “Website form” revoked')).toBeVisible();
    await see(page.getByText('No API keys yet')).toBeVisible();
    await see.poll(() => statusWith(key)).toBe(401);
    await page.getByRole('radio', { name: 'Revoked' }).check();
    await see(row).toContainText('Revoked');
  });

  test('asks before its dialog is closed without a copy, and is revoked without typing its name if it was never used', async () => {
    const { page } = await portal.openOwner();
    await createKey(page, 'Unused');
    const dialog = page.getByRole('dialog', { name: 'Your new API key' });
    const question = dialog.getByText('Close without copying the API key?');
    await page.keyboard.press('Escape');
    await see(question).toBeVisible();
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await see(dialog.getByRole('button', { name: 'Copy API key' })).toBeFocused();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await dialog.getByRole('button', { name: 'Close anyway' }).click();
    await see(dialog).toBeHidden();
    await see(page.getByRole('row').filter({ hasText: 'Unused' })).toContainText('Never used');
    await page.getByRole('button', { name: 'Actions for Unused' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    const revoke = page.getByRole('dialog', { name: 'Revoke “Unused”?' });
    // The safe button has the focus.
    await see(revoke.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await revoke.getByRole('button', { name: 'Revoke key' }).click();
    await see(page.getByText('No API keys yet')).toBeVisible();

    await createKey(page, 'Zapier');
    const asked = page.waitForEvent('dialog');
    await page.evaluate('setTimeout(() => location.reload())');
    const warning = await asked;
    expect(warning.type()).toBe('beforeunload');
    await warning.dismiss();
    await page.evaluate('history.back()');
    await see(question).toBeVisible();
    await dialog.getByRole('button', { name: 'Stay' }).click();
    // A copied command has the key in it.
    await dialog.getByRole('button', { name: 'Copy command' }).click();
    await see(dialog.getByRole('button', { name: 'Done' })).toBeVisible();
    await page.keyboard.press('Escape');
    await see(dialog).toBeHidden();
  });

  test('needs a name and a scope, and is created once by a double click, and by pressing Enter twice', async () => {
    const { team, page } = await portal.openOwner();
    const form = page.getByRole('dialog', { name: 'Create an API key' });
    const create = form.getByRole('button', { name: 'Create key' });
    const count = async (): Promise<number> =>
      (await team.owner.browser.ask('GET', '/keys')).json.keys.length;
    const twice = [() => create.dblclick(), () => page.evaluate(clickTwice), () => pressTwice(page)];
    await page.goto('keys?dialog=create');
    await create.click();
    const name = form.getByLabel('Name');
    await see(name).toHaveAttribute('aria-invalid', 'true');
    await see(name).toBeFocused();
    await see(name).toHaveAccessibleDescription(/name/i);
    await name.fill('Named');
    await create.click();
    const choice = form.getByRole('group', { name: 'What it may do' });
    await see(choice).toContainText('Choose at least one permission.');
    await see(form.getByRole('checkbox').first()).toBeFocused();
    await page.keyboard.press('Escape');
    await see(form).toBeHidden();
    for (const [at, send] of twice.entries()) {
      await page.getByRole('button', { name: 'Create API key' }).first().click();
      await form.getByRole('checkbox').first().check();
      await name.fill(`Key ${at}`);
      await send();
      await page.getByRole('button', { name: 'Copy API key' }).click();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.waitForLoadState('networkidle');
      expect(await count()).toBe(at + 1);
    }
  });

  test('that reached its limit is marked, and the badge leads to it', async () => {
    const { team, page } = await portal.openOwner();
    const make = (name: string) =>
      world.operator.ask('createKey', { company_id: team.companyId, name, scopes: ['admin'] });
    const { id } = await make('Busy');
    await make('Calm');
    await world.sql(
      `INSERT INTO request_minutes (company_id, minute_utc, key_id, bucket, answered, limited)
       VALUES (?, DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:%i:00'), ?, 'read', 60, 42)`,
      [team.companyId, id],
    );
    await visit(page, 'keys?sort=x', 'API keys');
    await see(page.getByLabel('Order')).toHaveValue('newest');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await see(row('Busy')).toContainText('42 refused');
    await see(row('Calm')).toBeVisible();
    await page.getByRole('link', { name: 'API usage 1 need attention' }).click();
    await see(page.getByRole('radio', { name: 'Refused' })).toBeChecked();
  });
});
