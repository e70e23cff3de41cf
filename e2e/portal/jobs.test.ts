import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { testReceiver } from '@causeway/runtime/testing';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { makeEvent } from '../api/support/portal.ts';
import { tabTo } from './support/keyboard.ts';
import { clipboard, openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

const typeInMenu = async (page: Page, text: string): Promise<void> => {
  await page.keyboard.press('Control+K');
  await see(page.getByRole('combobox', { name: 'Search, or go to a page' })).toBeFocused();
  await page.keyboard.type(text);
};

/** As in a terminal into which the command of a page was pasted. */
const inTerminal = async (text: string): Promise<string> =>
  (await promisify(execFile)('bash', ['-c', `${text} -sS`])).stdout;

test('A first integration takes at most twelve actions of the keyboard alone, and every command has the key in it', async () => {
  const { page, team } = await portal.openOwner();
  let actions = 0;
  const press = async (target: Locator, key = 'Enter'): Promise<void> => {
    actions++;
    await tabTo(page, target);
    await page.keyboard.press(key);
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await visit(page, '', 'Overview');
  await see(page.getByRole('heading', { level: 2 })).toHaveText(['First steps']);
  await press(button('Create API key'));
  await press(button('Create key'));
  await press(button('Copy API key'));
  const key = await clipboard(page);
  await press(button('Done'));
  await see(page.getByText('Waiting for your first call…')).toBeVisible();
  const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
  await see(step('Make your first API call').getByRole('link', { name: 'reference' })).toBeVisible();
  await press(button('Copy command'));
  const firstCall = await clipboard(page);
  expect(firstCall).toContain(key);
  expect(JSON.parse(await inTerminal(firstCall))).toHaveProperty('employees');
  await press(page.getByRole('link', { name: 'Add subscription' }).last());
  await tabTo(page, page.getByLabel('URL'));
  await page.keyboard.type(`${receiver.url}/${team.companyId}`);
  await press(page.getByRole('checkbox', { name: /lead\.created/ }), 'Space');
  await press(button('Add subscription'));
  await press(button('Copy signing secret'));
  await press(button('Done'));
  await press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }));
  await see(page.getByText('3 of 4 done.')).toBeVisible();
  await see(step('Make your first API call')).toContainText('(done)');
  await press(button('Copy command'));
  await inTerminal(await clipboard(page));
  await see(page.getByRole('heading', { name: 'First steps' })).toBeHidden();
  expect(actions).toBeLessThanOrEqual(12);
  expect(receiver.received.map(({ headers }) => headers['x-webhook-event'])).toEqual(['lead.created']);
});

test('A key that leaked is replaced with the keyboard alone, and no call fails meanwhile', async () => {
  const { page, team } = await portal.openOwner();
  const make = (name: string) =>
    team.owner.browser.ask('POST', '/keys', { name, scopes: ['integrations:read'] });
  const { value } = (await make('SAP bridge')).json;
  await make('SAP bridge 45');
  const statusWith = async (key: string) =>
    (await world.ask('/integrations/lookups/employees', { key })).status;
  await visit(page, '', 'Overview');
  await typeInMenu(page, 'sap bridge');
  // The whole name before one that only begins with it.
  await see(page.getByRole('option').first()).toHaveText(/^SAP bridgeAPI key$|^SAP bridge\s*API key$/);
  await page.keyboard.press('Enter');
  await see(page.getByRole('heading', { level: 1, name: 'SAP bridge', exact: true })).toBeVisible();
  const enter = async (target: Locator): Promise<void> => {
    await tabTo(page, target);
    await page.keyboard.press('Enter');
  };
  await enter(page.getByRole('button', { name: 'Rotate…' }));
  await enter(page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }));
  await see(page.getByRole('button', { name: 'Copy API key' })).toBeFocused();
  await page.keyboard.press('Enter');
  await see(page.getByText('Copied to the clipboard')).toBeAttached();
  const newValue = await clipboard(page);
  await page.keyboard.press('Escape');
  expect([await statusWith(value), await statusWith(newValue)]).toEqual([200, 200]);
  const log = page.getByRole('table', { name: 'Requests' });
  await see(log.getByText('GET /integrations/lookups/employees')).toHaveCount(2);
  await see(log.getByText('old secret')).toHaveCount(1);
  await see(page.getByText('1 request in the last hour')).toBeVisible();
  await enter(page.getByRole('button', { name: 'End the old secret…' }));
  await enter(page.getByRole('dialog').getByRole('button', { name: 'End old secret' }));
  await see(page.getByText('Rotation ended')).toBeVisible();
  expect([await statusWith(value), await statusWith(newValue)]).toEqual([401, 200]);
});

test('The key of a form creates leads and reads nothing; a second one of its name asks first', async () => {
  const { page } = await portal.openOwner();
  await page.goto('keys?dialog=create');
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('For').selectOption('Website form');
  await form.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Copy API key' }).click();
  const key = await clipboard(page);
  await page.getByRole('button', { name: 'Done' }).click();
  const body = JSON.stringify({ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' });
  expect((await world.ask('/integrations/leads', { method: 'POST', key, body })).status).toBe(201);
  expect((await world.ask('/integrations/leads/find?email=ada@example.com', { key })).status).toBe(403);

  await page.getByRole('button', { name: 'Create API key' }).first().click();
  await form.getByLabel('For').selectOption('Website form');
  await form.getByRole('button', { name: 'Create key' }).click();
  await see(form.getByText('A key of this name exists.')).toBeVisible();
  await form.getByRole('button', { name: 'Create another' }).click();
  await page.getByRole('button', { name: 'Copy API key' }).click();
  expect(await clipboard(page)).not.toBe(key);
});

test('Which keys were over their limits on a day of the reader’s clock, and a file of it', async () => {
  const { page, team } = await portal.openOwner({ timezoneId: 'Pacific/Kiritimati' });
  const bridge = (
    await team.owner.browser.ask('POST', '/keys', { name: '=SAP', scopes: ['integrations:read'] })
  ).json.id;
  // As the gateways report them. Midnight on Kiritimati is ten o’clock in UTC.
  const midnight = new Date(Date.now() + 14 * 3_600_000);
  midnight.setUTCHours(-14, 0, 0, 0);
  const log = (ms: number, status: number, requests: number) =>
    world.sql(
      `INSERT INTO request_log (company_id, key_id, created_utc, serial, operation, method, ids, status, duration_ms,
       request_id, address, is_previous, requests) VALUES (?, ?, ?, ?, 'findLeads', 'GET', '', ?, 1, '', '', 0, ?)`,
      [team.companyId, bridge, new Date(midnight.getTime() + ms), requests, status, requests],
    );
  await log(-1, 200, 60);
  await log(-2, 429, 35);
  await log(-86_400_001, 429, 7);
  await visit(page, 'usage', 'API usage');
  const rows = page.getByRole('table', { name: 'API usage' }).getByRole('row');
  await page.getByLabel('Day', { exact: true }).selectOption('Yesterday');
  await page.getByRole('radio', { name: 'Refused' }).check();
  await see(rows).toHaveCount(2);
  await see(rows.nth(1)).toContainText('GET /integrations/leads/find');
  await see(rows.nth(1)).toContainText('35 of 95');
  await page.reload();
  await see(rows.nth(1)).toContainText('35 of 95');
  await page.getByRole('button', { name: 'Remove filter: Day' }).click();
  await see(rows).toHaveCount(3);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const csv = readFileSync(await (await download).path(), 'utf8');
  expect(csv).toContain(`"'=SAP","GET","/api/v1/integrations/leads/find","findLeads","95","35"`);
  await see(page.getByText('2 rows exported')).toBeVisible();
  await rows.nth(1).getByRole('link', { name: '=SAP' }).click();
  await page.getByRole('link', { name: 'Usage by operation' }).click();
  await see(page.getByLabel('Key', { exact: true })).toHaveValue(String(bridge));
  await see(rows).toHaveCount(3);
});

test('The command menu opens the best hit, finds an invoice by its number, and guesses last', async () => {
  const { page, team } = await portal.openOwner();
  await team.owner.browser.ask('POST', '/keys', { name: 'ERP', scopes: ['events:read'] });
  await makeEvent(world, team, 'invoice.created');
  await visit(page, '', 'Overview');
  const opens = async (text: string, hit: string, heading: string): Promise<void> => {
    await typeInMenu(page, text);
    // A hurried Enter finds no guess before the answers: the first option is a hit.
    await see(page.getByRole('option').first()).toContainText(hit);
    await page.keyboard.press('Enter');
    await see(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
  };
  await opens('invite', 'Team', 'Team');
  await opens('erp', 'ERP', 'ERP');
  await opens('INV-3001', 'Invoice 3001', 'Events');
  await see(page).toHaveURL(/invoice=3001/);
});
