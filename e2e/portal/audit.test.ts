import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();

test('The audit log hides sign-ins, links what still exists, and exports what it shows', async () => {
  const { page, team } = await portal.openOwner();
  const { browser } = team.owner;
  const key = await browser.ask('POST', '/keys', { name: '=HYPERLINK("http://x")', scopes: ['events:read'] });
  await browser.ask('PATCH', '/profile', { name: 'Łukasz' });
  await visit(page, 'audit', 'Audit log');
  const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row');
  await see(rows).toHaveCount(5);
  await see(rows.filter({ hasText: 'signed in' })).toHaveCount(0);

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const csv = readFileSync(await (await saved).path(), 'utf8');
  expect(csv.split('\r\n')).toHaveLength(6);
  expect(csv).toContain(`"'=HYPERLINK(""http://x"")"`);
  expect(csv).not.toContain('session.started');
  await see(page.getByText('4 entries exported')).toBeVisible();

  await page.getByRole('button', { name: 'Sign-ins' }).click();
  await see(rows.filter({ hasText: 'signed in' })).toHaveCount(1);
  await see(page).toHaveURL(/signIns=shown/);
  await page.getByLabel('Kind').selectOption('key');
  await see(rows).toHaveCount(2);
  const savedKeys = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const [, ...entries] = readFileSync(await (await savedKeys).path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(entries).toEqual([expect.stringContaining('key.created')]);

  await page.getByRole('link', { name: '=HYPERLINK("http://x")' }).click();
  await see(page).toHaveURL(new RegExp(`/keys/${key.json.id}$`));
  await visit(page, 'audit?period=24h', 'Audit log');
  await see(page.getByLabel('Period', { exact: true })).toHaveValue('24h');
  await page.getByRole('button', { name: 'Dates' }).click();
  await page.getByLabel('Until').fill('2020-01-01T00:00');
  await see(page.getByText('No entries match')).toBeVisible();
  await see(page).toHaveURL(/until=/);
});

test('A change is reverted while its values are the present ones; otherwise both are shown', async () => {
  const { page, team } = await portal.openOwner();
  const { browser } = team.owner;
  const { json } = await browser.ask('POST', '/keys', {
    name: 'Zapier',
    scopes: ['events:read', 'webhooks:write'],
  });
  const change = (body: object) => browser.ask('PATCH', `/keys/${json.id}`, body);
  await change({ name: 'Zapier 2', note: 'of Ada' });
  await change({ scopes: ['events:read'] });
  await visit(page, 'audit', 'Audit log');
  const buttons = page.getByRole('button', { name: /^Revert the change/ });
  // Fewer permissions do not become more again.
  await see(buttons).toHaveCount(1);
  await buttons.click();
  const dialog = page.getByRole('dialog', { name: 'Revert this change?' });
  await see(dialog.locator('ins')).toHaveText(['Zapier', 'none']);
  await dialog.getByRole('button', { name: 'Revert change' }).click();
  await see(page.getByText('Change reverted')).toBeVisible();
  const { keys } = (await browser.ask('GET', `/keys?ids=${json.id}`)).json;
  expect(keys).toMatchObject([{ name: 'Zapier', note: null, scopes: ['events:read'] }]);
  await see(buttons).toHaveCount(2);
  await buttons.last().click();
  const late = page.getByRole('dialog', { name: 'This change cannot be reverted' });
  await see(late).toContainText('changed again since');

  // What is gone does not come back.
  const url = 'https://hooks.example.com/gone';
  const made = await browser.ask('POST', '/subscriptions', {
    url,
    eventTypes: ['lead.created'],
    name: 'Soon gone',
  });
  const path = `/subscriptions/${made.json.id}`;
  expect((await browser.ask('PATCH', path, { description: 'Gone' })).status).toBe(200);
  expect((await browser.ask('DELETE', path)).status).toBe(204);
  await visit(page, 'audit', 'Audit log');
  await page.getByRole('button', { name: 'Revert the change of Soon gone' }).click();
  await see(late).toContainText('no longer exists');
});
