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

  await page.getByRole('button', { name: 'Export' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Export as CSV' }).click();
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
  await page.getByRole('button', { name: 'Export' }).click();
  const savedJson = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Export as JSON' }).click();
  const entries = JSON.parse(readFileSync(await (await savedJson).path(), 'utf8'));
  expect(entries.map(({ action }: { action: string }) => action)).toEqual(['key.created']);

  await page.getByRole('link', { name: '=HYPERLINK("http://x")' }).click();
  await see(page).toHaveURL(new RegExp(`/keys/${key.json.id}$`));
  await visit(page, 'audit?period=24h', 'Audit log');
  await see(page.getByLabel('Period', { exact: true })).toHaveValue('24h');
  await page.getByRole('button', { name: 'Dates' }).click();
  await page.getByLabel('Until').fill('2020-01-01T00:00');
  await see(page.getByText('No entries match')).toBeVisible();
  await see(page).toHaveURL(/until=/);
});
