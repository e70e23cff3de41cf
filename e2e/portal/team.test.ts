import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { goodPassword, makeEvent } from '../api/support/portal.ts';
import { clipboard, openPortal, see, visit } from './support/portal.ts';
import { fillSignIn } from './support/sign-in.ts';

const portal = await openPortal();

describe('The team', () => {
  test('gains a member through an invitation link, which works once', async () => {
    const { page, team } = await portal.openOwner();
    const email = `grace-${team.companyId}@example.com`;
    await visit(page, 'team', 'Team');
    await page.getByRole('button', { name: 'Invite member' }).click();
    const form = page.getByRole('dialog', { name: 'Invite a member' });
    await form.getByLabel('Email').fill(email);
    await form.getByRole('radio', { name: 'Viewer' }).check();
    await form.getByRole('button', { name: 'Create invitation link' }).click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = await clipboard(page);
    expect(link).toMatch(/^http.*\/portal\/invitation#/);
    await page.getByRole('button', { name: 'Done' }).click();
    await see(page.getByRole('table', { name: 'Open invitations' })).toContainText(email);

    const theirs = await portal.open();
    await theirs.goto(link);
    await see(theirs.getByRole('heading', { level: 1, name: /^Join / })).toBeVisible();
    await see(theirs.getByText(email)).toBeVisible();
    await theirs.getByLabel('Your name').fill('Grace Hopper');
    await theirs.getByLabel('Choose a password').fill('password1234');
    await theirs.getByRole('button', { name: 'Join and sign in' }).click();
    await see(theirs.getByLabel('Choose a password')).toHaveAccessibleDescription(/common|guess/i);
    await theirs.getByLabel('Choose a password').fill(goodPassword);
    await theirs.getByRole('button', { name: 'Join and sign in' }).click();
    await see(theirs.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();

    await page.reload();
    const row = page
      .getByRole('table', { name: 'Members' })
      .getByRole('row')
      .filter({ hasText: 'Grace Hopper' });
    await see(row).toContainText('viewer');
    await see(page.getByRole('table', { name: 'Open invitations' })).toBeHidden();
    const late = await portal.open();
    await late.goto(link);
    await see(late.getByText('This invitation is no longer valid')).toBeVisible();
  });

  test('keeps its last owner, and changes a member’s role', async () => {
    const { page, team } = await portal.openOwner();
    await team.join('viewer');
    await visit(page, 'team', 'Team');
    await page.getByRole('button', { name: 'Actions for owner' }).click();
    for (const name of ['Change role…', 'Leave…']) {
      const item = page.getByRole('menuitem', { name });
      await see(item).toHaveAttribute('aria-disabled', 'true');
      await see(item).toContainText(/A company needs an owner/);
    }
    await page.keyboard.press('Escape');
    await see(page.getByRole('menuitem')).toHaveCount(0);
    await page.getByRole('button', { name: 'Actions for Test viewer' }).click();
    await page.getByRole('menuitem', { name: 'Change role…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the role of Test viewer' });
    await see(dialog.getByRole('button', { name: 'Change role' })).toHaveAttribute('aria-disabled', 'true');
    await dialog.getByRole('radio', { name: 'Developer' }).check();
    await dialog.getByRole('button', { name: 'Change role' }).click();
    await see(page.getByText('Test viewer now has the role developer')).toBeVisible();
  });

  test('gives a member who lost the password a link, which works once', async () => {
    const { page, team } = await portal.openOwner();
    const member = await team.join('developer');
    await visit(page, 'team', 'Team');
    await page.getByRole('button', { name: 'Actions for Test developer' }).click();
    await page.getByRole('menuitem', { name: 'Reset password…' }).click();
    const question = page.getByRole('dialog', { name: 'Reset the password of Test developer?' });
    await question.getByRole('button', { name: 'Create reset link' }).click();
    const shown = page.getByRole('dialog', { name: 'Password reset link' });
    await see(shown.getByRole('button', { name: 'Copy link' })).toBeFocused();
    await shown.getByRole('button', { name: 'Copy link' }).click();
    const link = await clipboard(page);
    expect(link).toMatch(/^http.*\/portal\/password#/);
    await shown.getByRole('button', { name: 'Done' }).click();

    const theirs = await portal.open();
    await theirs.goto(link);
    await see(theirs.getByText(member.email)).toBeVisible();
    const password = theirs.getByLabel('New password');
    await password.fill('password1234');
    await theirs.getByRole('button', { name: 'Set new password' }).click();
    await see(password).toHaveAccessibleDescription(/common|guess/i);
    await password.fill('eight badgers paint bridges');
    await theirs.getByRole('button', { name: 'Set new password' }).click();
    await see(theirs.getByText('Your new password is set.')).toBeVisible();
    await fillSignIn(theirs, { email: member.email, password: 'eight badgers paint bridges' });
    await see(theirs.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();

    const late = await portal.open();
    await late.goto(link);
    await see(late.getByText('This link is no longer valid')).toBeVisible();
    await visit(page, 'audit', 'Audit log');
    const table = page.getByRole('table', { name: 'Audit log' });
    await see(table).toContainText(`created a password reset link for ${member.email}`);
    await see(table).toContainText('Test developer set a new password with a reset link');
  });

  test('removes an admin, whose keys are revoked unless kept', async () => {
    const { page, team } = await portal.openOwner();
    const admin = await team.join('admin');
    const receiver = await testReceiver();
    for (const name of ['Zapier', 'Website form'])
      await admin.browser.ask('POST', '/keys', { name, scopes: ['events:read'] });
    const ids: number[] = [];
    for (const name of ['Billing', 'Stock']) {
      const url = `${receiver.url}/${name}`;
      const body = { name, url, eventTypes: ['lead.created'] };
      ids.push((await admin.browser.ask('POST', '/subscriptions', body)).json.id);
    }
    const { id } = await makeEvent(portal.world, team, 'lead.created');
    await until('the event arrives', () => receiver.received.length === 2);
    await until('it can be shared', async () => {
      const shares = `/deliveries/${id}/${ids[0]}/0/shares`;
      return (await admin.browser.ask('POST', shares, { hours: 1 })).status === 201;
    });
    await visit(page, 'team', 'Team');
    const links = page.locator('section').filter({ hasText: 'Shared links' });
    await see(links.getByRole('button', { name: /Revoke link/ })).toHaveCount(1);
    await page.getByRole('button', { name: 'Actions for Test admin' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove Test admin?' });
    const keys = dialog.getByRole('group', { name: 'Revoke 2 API keys they created' });
    for (const name of ['Zapier', 'Website form']) await see(keys.getByLabel(name)).toBeChecked();
    await keys.getByLabel('Website form').uncheck();
    await see(
      dialog.getByText(/knows 2 API keys, 1 link to a delivery and 2 signing secrets\./),
    ).toBeVisible();
    await see(dialog.getByText(/links to deliveries that they created stop working/)).toBeVisible();
    await see(dialog.getByText('They saw 2 signing secrets')).toBeVisible();
    await see(dialog.getByRole('link', { name: 'Stock' })).toHaveAttribute('href', /dialog=rotate/);
    const subscriptions = dialog.getByRole('group', {
      name: 'Switch off 2 subscriptions they created or moved',
    });
    await subscriptions.getByLabel('Billing').uncheck();
    await dialog.getByRole('button', { name: 'Remove member' }).click();
    await see(page.getByText('Test admin removed')).toBeVisible();
    await see(links).toBeHidden();
    await visit(page, 'keys', 'API keys');
    const active = page.getByRole('table').getByRole('row');
    await see(active.filter({ hasText: 'Website form' })).toHaveCount(1);
    await see(active.filter({ hasText: 'Zapier' })).toHaveCount(0);
    await visit(page, 'subscriptions', 'Subscriptions');
    await see(active.filter({ hasText: 'Billing' })).toContainText('Enabled');
    await see(active.filter({ hasText: 'Stock' })).toContainText('Disabled');
    // The log still finds what they did.
    await visit(page, 'audit', 'Audit log');
    await page.getByLabel('Member', { exact: true }).selectOption('Test admin (left)');
    const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('row');
    await see(rows.filter({ hasText: 'Stock' })).not.toHaveCount(0);
  });
});
