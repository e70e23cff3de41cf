import { beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../services/access/sessions/factor-codes.ts';
import {
  goodPassword,
  type Member,
  moveElsewhere,
  openBrowser,
  openTeam,
  type Team,
} from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
beforeEach(moveElsewhere);

const newPassword = 'eight badgers paint bridges';
const over = { error: 'the link was used or replaced, or has expired', reason: 'reset_over' };
const nobody = openBrowser(world);
const tokenOf = (link: unknown): string => String(link).split('#')[1]!;
const offer = (by: Member, { id }: Pick<Member, 'id'>) =>
  by.browser.ask('POST', `/team/members/${id}/password-reset`);
/** @returns the token of a link. */
const offered = async ({ owner }: Team, member: Member): Promise<string> =>
  tokenOf((await offer(owner, member)).json.link);
const complete = (token: string, password = newPassword, browser = nobody) =>
  browser.ask('POST', '/password-reset/complete', { token, password });

describe('A member who lost the password', () => {
  test('gets a link from an admin, chooses a new one, and is signed out everywhere', async () => {
    const team = await openTeam(world);
    const admin = await team.join('admin');
    const member = await team.join('developer');
    const made = await offer(admin, member);
    expect(made.status).toBe(201);
    expect(made.json.link).toMatch(/^\/portal\/password#[\w-]{43}$/);
    const hour = Date.parse(made.json.expiresUtc) - Date.now();
    expect(hour).toBeGreaterThan(59 * 60_000);
    expect(hour).toBeLessThan(61 * 60_000);
    const token = tokenOf(made.json.link);

    const seen = await nobody.ask('POST', '/password-reset', { token });
    expect([seen.status, seen.json.email]).toEqual([200, member.email]);
    const weak = await complete(token, 'password1234');
    expect([weak.status, weak.json.error]).toEqual([400, 'password is a common password']);
    expect((await member.browser.ask('GET', '/session')).status).toBe(200);

    const reply = await complete(token);
    expect([reply.status, reply.text, nobody.cookie()]).toEqual([204, '', undefined]);
    expect((await member.browser.ask('GET', '/session')).status).toBe(401);
    expect((await openBrowser(world).signIn(member)).status).toBe(401);
    expect((await openBrowser(world).signIn({ ...member, password: newPassword })).status).toBe(200);
    for (const path of ['/password-reset', '/password-reset/complete']) {
      const body = { token, ...(path.endsWith('complete') && { password: goodPassword }) };
      const again = await nobody.ask('POST', path, body);
      expect([again.status, again.json]).toEqual([410, over]);
    }

    const { json } = await team.owner.browser.ask('GET', '/audit?targetKind=member');
    const [refused, ...entries] = json.entries;
    expect(refused).toMatchObject({ action: 'password.refused', after: { today: 1 } });
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'password.reset', actor: { id: member.id }, target: { name: member.email } },
      { action: 'password.reset_offered', actor: { id: admin.id }, target: { name: member.email } },
    ]);
    expect(JSON.stringify(json)).not.toContain(token);
  });

  test('keeps the second factor: the new password alone does not sign in', async () => {
    const team = await openTeam(world);
    const member = await team.join('viewer');
    const { json: started } = await member.browser.ask('POST', '/profile/totp');
    const code = totpCode(started.secret, Math.floor(Date.now() / 30_000));
    expect((await member.browser.ask('POST', '/profile/totp/confirm', { code })).status).toBe(200);
    await complete(await offered(team, member));
    const reply = await openBrowser(world).signIn({ ...member, password: newPassword });
    expect([reply.status, reply.json]).toEqual([200, { mfaRequired: true, totp: true, passkey: false }]);
  });

  test('is not delayed by earlier guesses', async () => {
    const team = await openTeam(world);
    const member = await team.join('viewer');
    const guess = openBrowser(world);
    const guessed: number[] = [];
    while (!guessed.includes(429) && guessed.length < 12)
      guessed.push((await guess.signIn({ ...member, password: `guess ${guessed.length} of many` })).status);
    expect(guessed.at(-1)).toBe(429);
    await complete(await offered(team, member));
    // The browser that used the link is a known device now; elsewhere in the network the delay remains.
    const signIn = (browser = nobody) => browser.signIn({ ...member, password: newPassword });
    expect((await signIn()).status).toBe(200);
    expect((await signIn(guess)).status).toBe(429);
  });
});

describe('A password reset link', () => {
  test('used twice concurrently changes the password once', async () => {
    const team = await openTeam(world);
    const member = await team.join('viewer');
    const token = await offered(team, member);
    const replies = await Promise.all(
      [newPassword, 'nine walruses weigh anchors'].map((password) =>
        complete(token, password, openBrowser(world)),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 410]);
  });

  test('ends after an hour, and with the next link, a role change or a new password', async () => {
    const team = await openTeam(world);
    const member = await team.join('viewer');
    const next = () => offered(team, member);
    const holds = async (token: string) =>
      (await nobody.ask('POST', '/password-reset', { token })).status === 200;

    const first = await next();
    const second = await next();
    expect([await holds(first), await holds(second)]).toEqual([false, true]);
    await world.sql(
      'UPDATE portal_password_resets SET expires_utc = UTC_TIMESTAMP(3) - INTERVAL 1 SECOND WHERE company_id = ? AND user_id = ?',
      [team.companyId, member.id],
    );
    expect(await holds(second)).toBe(false);

    const third = await next();
    await team.owner.browser.ask('PATCH', `/team/members/${member.id}`, { role: 'owner' });
    expect(await holds(third)).toBe(false);

    const fourth = await next();
    const changed = await member.browser.ask('POST', '/profile/password', {
      currentPassword: goodPassword,
      newPassword,
    });
    expect(changed.status).toBe(204);
    expect(await holds(fourth)).toBe(false);

    const fifth = await next();
    await team.owner.browser.ask('DELETE', `/team/members/${member.id}`);
    expect(await holds(fifth)).toBe(false);
  });

  test('cannot be created for oneself, by an admin for an owner, or for another company', async () => {
    const team = await openTeam(world);
    const admin = await team.join('admin');
    const developer = await team.join('developer');
    expect((await offer(team.owner, team.owner)).status).toBe(409);
    expect((await offer(admin, team.owner)).status).toBe(403);
    expect((await offer(developer, admin)).status).toBe(403);
    const other = await openTeam(world);
    expect((await offer(other.owner, developer)).status).toBe(404);
  });
});

test('The operator creates links for owners only', async () => {
  const team = await openTeam(world);
  const developer = await team.join('developer');
  const { link, company_id } = await world.operator.ask('resetPortalOwner', {
    company_id: team.companyId,
    email: team.owner.email,
  });
  expect(company_id).toBe(team.companyId);
  expect((await complete(tokenOf(link))).status).toBe(204);
  expect((await openBrowser(world).signIn({ ...team.owner, password: newPassword })).status).toBe(200);
  for (const email of [developer.email, 'nobody@example.com'])
    await expect(
      world.operator.ask('resetPortalOwner', { company_id: team.companyId, email }),
    ).rejects.toThrow(/not an owner of this company/);
});
