import { beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../services/access/sessions/factor-codes.ts';
import { goodPassword, moveElsewhere, openBrowser } from '../api/support/portal.ts';
import { clipboard, openPortal, see, visit } from './support/portal.ts';

const portal = await openPortal();
beforeEach(moveElsewhere);

describe('The Your security page', () => {
  test('changes the password', async () => {
    const { page } = await portal.openOwner();
    await visit(page, 'security', 'Your security');
    await page.getByRole('button', { name: 'Change password' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change password' });
    await dialog.getByLabel('Current password').fill('not this one');
    await dialog.getByLabel('New password').fill('short');
    await dialog.getByRole('button', { name: 'Change password' }).click();
    // The hint says it before the answer comes, and until then the button does nothing.
    await see(dialog.getByLabel('New password')).toHaveAttribute('aria-invalid', 'true');
    await see(dialog.getByLabel('New password')).toHaveAccessibleDescription(/12 characters/);
    await dialog.getByLabel('Current password').fill(goodPassword);
    await dialog.getByLabel('New password').fill('eleven violins hum softly');
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await see(page.getByText('Password changed')).toBeVisible();
  });

  test('turns the second factor on with a code, shows recovery codes once, and turns it off with one', async () => {
    const { page, team } = await portal.openOwner();
    await visit(page, 'security', 'Your security');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const dialog = page.getByRole('dialog', { name: 'Turn on two-factor sign-in' });
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await see(dialog.getByRole('img')).toBeVisible();
    const secret = /[A-Z2-7]{32}/.exec((await dialog.textContent())?.replaceAll(/\s/g, '') ?? '')?.[0] ?? '';
    await dialog
      .getByLabel('The code that the app shows')
      .fill(totpCode(secret, Math.floor(Date.now() / 30_000)));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    const codes = page.getByRole('dialog', { name: 'Two-factor sign-in is on' });
    await codes.getByRole('button', { name: /^Copy/ }).click();
    const [first = '', ...others] = (await clipboard(page)).split('\n');
    expect(others).toHaveLength(9);
    await codes.getByRole('button', { name: 'Done' }).click();
    await see(page.getByText('10 recovery codes left')).toBeVisible();

    // The sign-in is a while ago: turning it off asks who is there, and takes what a sign-in takes.
    await portal.world.sql(
      'UPDATE portal_sessions SET proved_utc = NOW() - INTERVAL 1 HOUR WHERE company_id = ?',
      [team.companyId],
    );
    await page.getByRole('button', { name: 'Turn off' }).click();
    const off = page.getByRole('dialog', { name: 'Turn off two-factor sign-in?' });
    await off.getByRole('button', { name: 'Turn off two-factor sign-in' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await proof.getByLabel('Your password').fill(goodPassword);
    await proof.getByLabel('Code from your authenticator app').fill('000000');
    await proof.getByRole('button', { name: 'Confirm' }).click();
    await see(proof.getByLabel('Code from your authenticator app')).toHaveAccessibleDescription(/is wrong/);
    await proof.getByRole('button', { name: 'Use a recovery code' }).click();
    await proof.getByLabel('Recovery code').fill(first);
    await proof.getByRole('button', { name: 'Confirm' }).click();
    await see(page.getByText('Two-factor sign-in turned off')).toBeVisible();
  });

  test('ends the session of another browser, which is signed out', async () => {
    const { page, team } = await portal.openOwner();
    const elsewhere = openBrowser(portal.world);
    await elsewhere.signIn(team.owner);
    const other = await portal.open({ browser: elsewhere });
    await visit(other, 'keys', 'API keys');
    await visit(page, 'security', 'Your security');
    const sessions = page.getByRole('table', { name: 'Sessions' });
    await see(sessions.getByRole('row')).toHaveCount(3);
    await see(sessions.getByRole('row').filter({ hasText: 'This browser' })).toHaveCount(1);
    await sessions.getByRole('button', { name: /^End the session of/ }).click();
    await see(page.getByText('Session ended')).toBeVisible();
    await see(sessions.getByRole('row')).toHaveCount(2);
    // What the page refreshes by itself may be refused before.
    await other
      .getByRole('link', { name: 'Events' })
      .click({ timeout: 5_000 })
      .catch(() => {});
    await see(other.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    await see(page.getByRole('button', { name: 'End other sessions…' })).toHaveAccessibleDescription(
      'You have no other sessions',
    );
  });
});
