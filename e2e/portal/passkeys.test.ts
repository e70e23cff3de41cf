import type { Page } from '@playwright/test';
import { beforeEach, expect, test } from 'vitest';
import { type Credentials, goodPassword, moveElsewhere, openTeam } from '../api/support/portal.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { fillSignIn } from './support/sign-in.ts';

const portal = await openPortal();
beforeEach(moveElsewhere);

/** Passkeys need a name for a host. */
const baseURL = `${portal.world.baseUrl.replace('127.0.0.1', 'localhost')}/portal/`;

/** Signed out, in a browser with an authenticator that verifies its user. */
const openWithAuthenticator = async (): Promise<Page> => {
  const page = await portal.open(undefined, { baseURL, mayLog: /40[139]/ });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return page;
};

const signIn = async (page: Page, member: Credentials): Promise<void> => {
  await page.goto('sign-in');
  await fillSignIn(page, member);
  await see(page.getByRole('button', { name: /^Your account/ })).toBeVisible();
};

const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await see(page.getByText('You are signed out.')).toBeVisible();
};

test('A passkey is added, signs in, proves who is there, and is removed', async () => {
  const team = await openTeam(portal.world);
  const page = await openWithAuthenticator();
  await signIn(page, team.owner);
  await visit(page, 'security', 'Your security');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await dialog.getByLabel('Name').fill('Łukasz’ laptop 👩‍💻');
  await dialog.getByRole('button', { name: 'Add passkey' }).click();
  const codes = page.getByRole('dialog', { name: 'Passkey added' });
  await codes.getByRole('button', { name: /^Copy/ }).click();
  await codes.getByRole('button', { name: 'Done' }).click();
  const rows = page.getByRole('table', { name: 'Passkeys' }).getByRole('row');
  await see(rows.filter({ hasText: 'Łukasz’ laptop 👩‍💻' })).toContainText('Never');

  await signOut(page);
  await fillSignIn(page, team.owner);
  await see(page.getByRole('heading', { name: 'One more step' })).toBeVisible();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await see(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();

  // The proof of this session is of an hour ago.
  await portal.world.sql(
    'UPDATE portal_sessions SET proved_utc = NOW() - INTERVAL 1 HOUR WHERE company_id = ?',
    [team.companyId],
  );
  await page.goto('keys?dialog=create');
  const create = page.getByRole('dialog', { name: 'Create an API key' });
  await create.getByLabel('Name').fill('Zapier');
  await create.getByRole('checkbox', { name: /^Read events/ }).check();
  await create.getByRole('button', { name: 'Create key' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByRole('button', { name: 'Cancel' }).click();
  await see(create.getByText(/Confirm that it is you/)).toBeVisible();
  await see(create.getByLabel('Name')).toHaveValue('Zapier');
  await create.getByRole('button', { name: 'Create key' }).click();
  await proof.getByRole('button', { name: 'Use your password' }).click();
  await proof.getByLabel('Your password').fill(goodPassword);
  await proof.getByRole('button', { name: 'Use a passkey' }).click();
  await proof.getByRole('button', { name: 'Use passkey' }).click();
  await see(proof).toBeHidden();
  await see(page.getByText(/crm_/).first()).toBeVisible();

  await page.goto('security');
  await page.getByRole('button', { name: /^Remove passkey/ }).click();
  await page.getByRole('button', { name: 'Remove passkey', exact: true }).click();
  await see(page.getByText('No passkeys yet')).toBeVisible();
});

test('A required second factor leads an open session to its set-up, and on when there is one', async () => {
  const team = await openTeam(portal.world);
  const member = await team.join('admin');
  const page = await openWithAuthenticator();
  await signIn(page, team.owner);
  await visit(page, 'company', 'Company settings');
  await see(page.getByText('2 of 2 members without one: the password alone signs in.')).toBeVisible();
  await see(page.getByRole('button', { name: 'Require it…' })).toHaveAccessibleDescription(
    /your own second factor/,
  );
  await page.goto('security?dialog=passkey');
  await page.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click();
  const codes = page.getByRole('dialog', { name: 'Passkey added' });
  await codes.getByRole('button', { name: /^Copy/ }).click();
  await codes.getByRole('button', { name: 'Done' }).click();
  await see(page.getByText('10 recovery codes left')).toBeVisible();

  const other = await openWithAuthenticator();
  await signIn(other, member);
  await visit(other, 'keys', 'API keys');
  await page.goto('company?dialog=require-factor');
  await page.getByRole('dialog').getByRole('button', { name: 'Require it' }).click();
  await see(page.getByText('A second factor is required')).toBeVisible();

  for (const path of ['/subscriptions', '/deliveries', '/keys', '/team', '/events'])
    expect((await member.browser.ask('GET', path)).json).toMatchObject({ reason: 'second_factor_required' });
  expect((await member.browser.ask('GET', '/session')).status).toBe(200);
  // The next request of the open page leads there, or a visit to any page.
  await other.goto('subscriptions');
  await see(other.getByRole('heading', { name: 'Set up a second factor' })).toBeVisible();
  await other.goto('team');
  await see(other.getByRole('heading', { name: 'Set up a second factor' })).toBeVisible();
  await other.getByRole('button', { name: 'Add a passkey' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Add passkey' }).click();
  const theirs = other.getByRole('dialog', { name: 'Passkey added' });
  await theirs.getByRole('button', { name: /^Copy/ }).click();
  await theirs.getByRole('button', { name: 'Done' }).click();
  await see(other.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
});
