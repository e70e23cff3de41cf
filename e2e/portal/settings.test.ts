import { testReceiver } from '@causeway/runtime/testing';
import type { Page } from '@playwright/test';
import { expect, test } from 'vitest';
import { openTeam, type Team } from '../api/support/portal.ts';
import type { Json } from '../api/support/world.ts';
import { clipboard, openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();
const { world } = portal;
const receiver = await testReceiver();

const open = (page: Page): Promise<void> => visit(page, 'developers', 'Developers');
const plan = async (page: Page, file: Json | string): Promise<void> => {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  await page.getByRole('textbox', { name: 'Settings file' }).fill(text);
  await page.getByRole('button', { name: 'Show plan' }).click();
};
const summary = (page: Page, text: string) => see(page.getByRole('status').getByText(text)).toBeVisible();
const apply = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Apply plan…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply plan' }).click();
};
const exported = async (page: Page): Promise<Json> => {
  await page.getByRole('button', { name: 'Copy settings', exact: true }).click();
  return JSON.parse(await clipboard(page));
};
const stored = async ({ owner }: Team) => {
  const [{ json }, keys] = await Promise.all([
    owner.browser.ask('GET', '/subscriptions'),
    owner.browser.ask('GET', '/keys?state=active'),
  ]);
  return { subscriptions: json.subscriptions as Json[], keys: keys.json.keys as Json[] };
};

const rich = {
  url: `${receiver.url}/rich`,
  name: 'سجل 🧾 Rechnungen',
  description: 'For the books.\nAsk finance.',
  eventTypes: ['client.created', 'lead.created'],
  conditions: [{ field: 'email', startsWith: 'a' }],
  pace: { limit: 5, per: 'second' },
  headerNames: ['X-Token'],
  paused: true,
};
const plain = { url: `${receiver.url}/plain`, eventTypes: ['invoice.created'], enabled: false };
const key = { name: 'Zapier', scopes: ['events:read'], networks: ['203.0.113.5'], note: 'On the server' };
const file = { version: 1, subscriptions: [rich, plain], keys: [key] };

test('A file makes what it says, with secrets shown once, and its export changes nothing anywhere', async () => {
  const { team, page } = await portal.openOwner();
  await open(page);
  await plan(page, file);
  await summary(page, '3 new, 0 changed, 0 as they are');
  await see(page.getByText('1 new subscription arrives switched off')).toBeVisible();
  await page.getByLabel(/^Value of X-Token for/).fill('a secret of the receiver');
  await apply(page);
  const dialog = page.getByRole('dialog', { name: 'New secrets' });
  await dialog.getByRole('button', { name: 'Copy list of secrets' }).click();
  const secrets = (await clipboard(page)).split('\n');
  expect(secrets).toEqual([
    expect.stringMatching(/^Zapier: crm_\w+$/),
    expect.stringMatching(/^سجل 🧾 Rechnungen: whsec_/),
    expect.stringMatching(/^http.*\/plain: whsec_/),
  ]);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await see(page.getByText('3 of 3 done')).toBeVisible();
  const { subscriptions, keys } = await stored(team);
  const byUrl = (url: string) => subscriptions.find((one) => one.url === url);
  const { headerNames, ...shown } = rich;
  expect(byUrl(rich.url)).toMatchObject({ ...shown, headerNames, enabled: true });
  expect(byUrl(plain.url)).toMatchObject({ enabled: false, name: null });
  expect(keys).toMatchObject([{ ...key, networks: ['203.0.113.5/32'] }]);
  expect((await world.ask('/events', { key: secrets[0]!.split(' ')[1]! })).json.reason).toBe(
    'network_not_allowed',
  );
  const storage = await page.evaluate('JSON.stringify([localStorage, sessionStorage])');
  for (const secret of ['a secret of the receiver', secrets[0]!.split(' ')[1]!])
    expect(storage).not.toContain(secret);

  await page.getByRole('button', { name: 'Plan again' }).click();
  await summary(page, '0 new, 0 changed, 3 as they are');
  await see(page.getByText('Nothing to change')).toBeVisible();
  const copy = await exported(page);
  await plan(page, copy);
  await summary(page, '0 new, 0 changed, 3 as they are');

  const other = await portal.openOwner();
  await open(other.page);
  await plan(other.page, copy);
  await summary(other.page, '3 new, 0 changed, 0 as they are');
});

test('Changes show old and new; what the file does not name stays, and a row that is not chosen', async () => {
  const { team, page } = await portal.openOwner();
  const { browser } = team.owner;
  const { headerNames: _, ...fields } = rich;
  await browser.ask('POST', '/subscriptions', { ...fields, headers: { 'X-Old': 'a' } });
  await browser.ask('POST', '/subscriptions', { ...plain, name: 'Old' });
  await browser.ask('POST', '/keys', { name: 'Zapier', scopes: ['admin', 'events:read'] });
  await open(page);
  await plan(page, { ...file, subscriptions: [{ ...rich, headerNames: [], paused: false, pace: null }] });
  await summary(page, '0 new, 2 changed, 0 as they are');
  const rowOf = (name: string) =>
    page.getByRole('table', { name: 'Plan' }).getByRole('row').filter({ hasText: name });
  for (const text of ['paused', 'true → false', '"limit":5', 'none', 'X-Old'])
    await see(rowOf('Rechnungen')).toContainText(text);
  await see(rowOf('Zapier')).toContainText('admin, events:read → events:read');
  await page.getByRole('checkbox', { name: 'Apply Zapier' }).uncheck();
  await summary(page, '0 new, 1 changed, 0 as they are');
  await apply(page);
  await see(page.getByText('1 of 1 done')).toBeVisible();
  const { subscriptions, keys } = await stored(team);
  expect(subscriptions.map(({ name }) => name).toSorted()).toEqual(['Old', rich.name]);
  const changed = subscriptions.find(({ name }) => name === rich.name)!;
  for (const name of ['paused', 'pace', 'headerNames']) expect(changed).not.toHaveProperty(name);
  expect(keys).toMatchObject([{ scopes: ['events:read', 'admin'] }]);
});

test('A plan that was cut off in the middle, whether its answers came or not, is completed by the same file', async () => {
  const { team, page } = await portal.openOwner({ mayLog: /ERR_FAILED/ });
  const names = ['Twin', 'Twin', 'Third', 'Fourth'];
  const subscriptions = names.map((name) => ({ ...plain, name }));
  await open(page);
  await plan(page, { ...file, subscriptions });
  await summary(page, '5 new, 0 changed, 0 as they are');
  let sent = 0;
  // The third create is carried out, and its answer is lost.
  await page.route('**/portal/api/v1/subscriptions', async (route) => {
    if (route.request().method() !== 'POST' || ++sent < 3) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await apply(page);
  await see(page.getByText('3 of 5 done')).toBeVisible();
  await see(page.locator('tr').filter({ hasText: 'Third' })).toContainText('Failed');
  expect((await stored(team)).subscriptions).toHaveLength(3);
  await page.unroute('**/portal/api/v1/subscriptions');
  // What was made is shown, as a list of secrets; the tab is closed instead.
  await page.close({ runBeforeUnload: false });

  const again = await portal.open(team.owner);
  await open(again);
  await plan(again, { ...file, subscriptions });
  await summary(again, '1 new, 0 changed, 4 as they are');
  await apply(again);
  await see(again.getByText('1 of 1 done')).toBeVisible();
  const after = await stored(team);
  expect(after.subscriptions.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  expect(after.keys).toHaveLength(1);
});

test('Two members who apply the same file at once make everything once', async () => {
  const { team, page } = await portal.openOwner();
  const colleague = await portal.open(await team.join('developer'));
  const subscriptions = ['One', 'Two', 'Three'].map((name) => ({ ...plain, name }));
  const pages = [page, colleague];
  for (const one of pages) {
    await open(one);
    await plan(one, { ...file, subscriptions });
    await summary(one, '4 new, 0 changed, 0 as they are');
    await one.getByRole('button', { name: 'Apply plan…' }).click();
  }
  const button = (one: Page) => one.getByRole('dialog').getByRole('button', { name: 'Apply plan' });
  await Promise.all(pages.map((one) => button(one).click()));
  for (const one of pages)
    await see(
      one.getByText(/^(\d of 4 done|Somebody changed the settings meanwhile.*)$/).first(),
    ).toBeVisible();
  const after = async () => {
    const { subscriptions: all, keys } = await stored(team);
    return [...all.map(({ name }) => name).toSorted(), ...keys.map(({ name }) => name)];
  };
  await expect.poll(after).toEqual(['One', 'Three', 'Two', 'Zapier']);
});

test('What somebody changed meanwhile is not overwritten: the plan is shown anew', async () => {
  const { team, page } = await portal.openOwner();
  const { browser } = team.owner;
  const { json } = await browser.ask('POST', '/subscriptions', { ...plain, name: 'Billing' });
  await open(page);
  await plan(page, {
    ...file,
    keys: [],
    subscriptions: [{ ...plain, name: 'Billing', description: 'Mine' }],
  });
  await summary(page, '0 new, 1 changed, 0 as they are');
  await browser.ask('PATCH', `/subscriptions/${json.id}`, { description: 'Theirs' });
  await apply(page);
  await see(page.getByRole('alert')).toContainText('Somebody changed the settings meanwhile');
  await see(page.getByRole('row').filter({ hasText: 'Billing' })).toContainText('Theirs → Mine');
  expect((await stored(team)).subscriptions).toMatchObject([{ description: 'Theirs' }]);
});

test('A wrong file is refused with the places of its problems, errors are shown at their objects, and hosts are replaced', async () => {
  const { page, team } = await portal.openOwner();
  await open(page);
  await plan(page, '{"version": 1,,}');
  await see(page.getByRole('alert')).toContainText(/This is not JSON.*column 15/);
  await plan(page, { ...file, version: 2, keys: [{ ...key, scopes: ['all'], secret: 'crm_1_x' }] });
  const alert = page.getByRole('alert');
  for (const place of ['version', 'keys[0].scopes[0]', 'keys[0].secret'])
    await see(alert).toContainText(place);
  await see(page.locator('[data-problem]')).toBeFocused();
  const expired = { ...key, name: 'Expired', expiresUtc: '2020-01-01T00:00:00Z' };
  await plan(page, { ...file, subscriptions: [], keys: [expired, key] });
  await apply(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Copy list of secrets' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
  await see(page.getByRole('row').filter({ hasText: 'Expired' })).toContainText('must be in the future');
  await see(page.getByText('1 of 2 done')).toBeVisible();
  await see(page.getByRole('link', { name: 'schema' })).toHaveAttribute('href', '/docs/settings.schema.json');

  // Hosts of the file are replaced by those of this company.
  await plan(page, { ...file, keys: [], subscriptions: [plain] });
  const { host, pathname } = new URL(plain.url);
  await page.getByRole('textbox', { name: `Host instead of ${host}` }).fill('hooks.example.com');
  await apply(page);
  await see(page.getByText('1 of 1 done')).toBeVisible();
  const [made] = (await stored(team)).subscriptions;
  expect(new URL(made!.url)).toMatchObject({ host: 'hooks.example.com', pathname });
});

test('A viewer sees the plan, and may not apply it', async () => {
  const { join } = await openTeam(world);
  const page = await portal.open(await join('viewer'));
  await open(page);
  await plan(page, file);
  await summary(page, '3 new, 0 changed, 0 as they are');
  await see(page.getByRole('button', { name: 'Apply plan…' })).toHaveAttribute('aria-disabled', 'true');
});

test('By keyboard, a text survives a reload, and a proof of who is there is asked for once', async () => {
  const { team, page } = await portal.openOwner();
  await world.sql(
    'UPDATE portal_sessions SET proved_utc = UTC_TIMESTAMP(3) - INTERVAL 1 HOUR WHERE company_id = ?',
    [team.companyId],
  );
  await open(page);
  await page
    .getByRole('textbox', { name: 'Settings file' })
    .fill(JSON.stringify({ ...file, subscriptions: [] }));
  await page.reload();
  await page.getByRole('button', { name: 'Show plan' }).press('Enter');
  await summary(page, '1 new, 0 changed, 0 as they are');
  await page.getByRole('button', { name: 'Apply plan…' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply plan' }).press('Enter');
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByLabel('Your password').fill(team.owner.password);
  await page.keyboard.press('Enter');
  await see(page.getByRole('dialog', { name: 'New secrets' })).toBeVisible();
});
