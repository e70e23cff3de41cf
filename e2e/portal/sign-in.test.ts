import { beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../services/access/sessions/factor-codes.ts';
import { type Member, makeEvent, moveElsewhere, openBrowser, openTeam } from '../api/support/portal.ts';
import { openPortal, see, visit } from './support/portal.ts';
import { fillSignIn } from './support/sign-in.ts';

const portal = await openPortal();
const { world } = portal;
beforeEach(moveElsewhere);

describe('Signing in', () => {
  test('sends no request before, says when something is wrong, and leads to the requested page', async () => {
    const { owner } = await openTeam(world);
    const page = await portal.open();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/portal/api/')) asked.push(request.url());
    });
    await visit(page, 'keys?show=revoked', 'Sign in');
    const help = page.getByText('can create a reset link for you');
    await see(help).toBeHidden();
    await page.getByText('Lost your password?').click();
    await see(help).toBeVisible();
    expect(asked).toEqual([]);
    await fillSignIn(page, { email: owner.email, password: 'not the password at all' });
    await see(page.getByRole('alert')).toContainText(/the email.* or the password/i);
    await fillSignIn(page, owner);
    await see(page.getByRole('heading', { name: 'Revoked keys' })).toBeVisible();
  });

  test('leads to the overview, with the keyboard alone', async () => {
    const { owner } = await openTeam(world);
    const page = await portal.open();
    await visit(page, '', 'Sign in');
    await see(page.getByLabel('Email')).toBeFocused();
    await page.keyboard.type(owner.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(owner.password);
    await page.keyboard.press('Enter');
    await see(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    expect(page.url()).toBe(`${world.baseUrl}/portal/`);
  });

  test('that must wait says so, and the button counts down', async () => {
    const page = await portal.open(undefined, { mayLog: /429/ });
    const json = { error: 'too many attempts', reason: 'too_many_attempts', retryAfter: 30 };
    await page.route('**/portal/api/v1/session', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 429, headers: { 'Retry-After': '30' }, json })
        : route.fallback(),
    );
    await visit(page, 'sign-in', 'Sign in');
    await fillSignIn(page, { email: 'ada@example.com', password: 'any password at all' });
    const button = page.getByRole('button', { name: /^Wait \d+ s$/ });
    await see(button).toHaveAttribute('aria-disabled', 'true');
    await see(page.getByRole('alert')).toContainText(/too many|try again/i);
    const seconds = Number(/\d+/.exec((await button.textContent()) ?? '')?.[0]);
    await see(page.getByRole('button', { name: `Wait ${seconds - 1} s` })).toBeVisible();
  });
});

describe('The second factor', () => {
  /** An owner with the second factor on. */
  const openGuarded = async (): Promise<Member & { secret: string }> => {
    const { owner } = await openTeam(world);
    const { json } = await owner.browser.ask('POST', '/profile/totp');
    await owner.browser.ask('POST', '/profile/totp/confirm', { code: totpCode(json.secret, stepNow()) });
    // A code works once; this makes the code of the current step usable again.
    await world.sql('UPDATE portal_users SET totp_step = totp_step - 2 WHERE id = ?', [owner.id]);
    return { ...owner, secret: json.secret };
  };

  test('is requested after the password; a wrong code fails, the code of the app succeeds', async () => {
    const member = await openGuarded();
    const page = await portal.open();
    await visit(page, 'sign-in', 'Sign in');
    await fillSignIn(page, member);
    await see(page.getByRole('heading', { name: 'One more step' })).toBeVisible();
    const code = page.getByLabel('Code from your authenticator app');
    await see(code).toBeFocused();
    await code.fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await see(page.getByText(/code is wrong/i)).toBeVisible();
    await code.fill(totpCode(member.secret, stepNow()));
    await page.getByRole('button', { name: 'Continue' }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  });

  const stepNow = (): number => Math.floor(Date.now() / 30_000);
});

describe('A session', () => {
  test('that ends while a page is open asks for a sign-in, and returns to the same URL', async () => {
    const { team, page } = await portal.openOwner();
    await visit(page, 'deliveries?state=held&type=client.created', 'Deliveries');
    await see(page.getByText('No delivery matches')).toBeVisible();
    const address = page.url();
    await world.sql('DELETE FROM portal_sessions WHERE user_id = ?', [team.owner.id]);
    // The page may notice by itself, before the button is pressed.
    const ended = page.getByText('Your session ended.');
    await page.getByRole('button', { name: 'Refresh' }).or(ended).first().click();
    await see(ended).toBeVisible();
    await fillSignIn(page, team.owner);
    await see(page.getByRole('heading', { level: 1, name: 'Deliveries' })).toBeVisible();
    expect(page.url()).toBe(address);
    await see(page.getByRole('radio', { name: /^Held/ })).toBeChecked();
  });

  test('is extended by what a person does, and not by a page that refreshes itself', async () => {
    const { team, page } = await portal.openOwner();
    const { id } = await makeEvent(portal.world, team, 'client.created');
    await visit(page, `events/${id}`, /client \d+$/);
    const renewal = async (): Promise<string | null> => {
      const request = await page.waitForRequest(/\/deliveries\?/);
      return request.headerValue('x-passive');
    };
    expect(await renewal()).toBe('1');
    await page.keyboard.press('Shift');
    expect(await renewal()).toBeNull();
  });

  test('ends by signing out, in other windows too', async () => {
    const { team, page } = await portal.openOwner();
    const other = await page.context().newPage();
    await visit(other, 'keys', 'API keys');
    // A background tab is hardly painted.
    await page.bringToFront();
    await visit(page, '', 'Overview');
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await see(page.getByText('You are signed out.')).toBeVisible();
    await other.bringToFront();
    await other.reload();
    await see(other.getByRole('heading', { name: 'Sign in' })).toBeVisible();
    expect((await team.owner.browser.ask('GET', '/session')).status).toBe(401);
  });
});

describe('A person of several companies', () => {
  test('chooses one after signing in, and switches without signing in again', async () => {
    const [one, two] = [await openTeam(world), await openTeam(world)];
    const invited = await two.owner.browser.ask('POST', '/team/invitations', {
      email: one.owner.email,
      role: 'developer',
    });
    const joined = await openBrowser(world).ask('POST', '/invitation/accept', {
      token: String(invited.json.link).split('#')[1],
      name: 'Katherine Johnson',
      password: one.owner.password,
    });
    const here = (await one.owner.browser.ask('GET', '/session')).json.company.name as string;
    const there = joined.json.company.name as string;
    const page = await portal.open();
    await visit(page, 'sign-in', 'Sign in');
    await fillSignIn(page, one.owner);
    await see(page.getByRole('heading', { level: 1, name: 'Choose a company' })).toBeVisible();
    await see(page.getByRole('button', { name: here })).toBeVisible();
    const wide = page.viewportSize()!;
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.setViewportSize(wide);
    await page.getByRole('button', { name: here }).click();
    await see(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
    const company = page.getByRole('complementary', { name: 'Sidebar' });
    await see(company).toContainText(here);
    const otherWindow = await page.context().newPage();
    await visit(otherWindow, 'keys', 'API keys');
    // One that does not hear of it is refused first: its request was under way with the former session.
    const late = await page.context().newPage();
    await late.addInitScript("addEventListener('storage', (event) => event.stopImmediatePropagation())");
    await visit(late, 'keys', 'API keys');

    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: `Switch to ${there}` }).click();
    await see(company).toContainText(there);
    // A window that shows the previous company reloads, because it would act in the new one.
    await see(otherWindow.getByRole('complementary', { name: 'Sidebar' })).toContainText(there);
    let refused = false;
    await late.route(/api\/v1\/team/, (route) => {
      if (refused) return route.fallback();
      refused = true;
      return route.fulfill({ status: 401, json: { error: 'sign in to continue', reason: 'signed_out' } });
    });
    await late.getByRole('link', { name: 'Team' }).click();
    await see(late.getByRole('complementary', { name: 'Sidebar' })).toContainText(there);
  });
});
