import type { Role } from '@causeway/proto';
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

const stepNow = (): number => Math.floor(Date.now() / 30_000);

/** Turns the second factor on. @returns its secret and recovery codes. */
const turnOn = async ({ browser }: Member): Promise<{ secret: string; recoveryCodes: string[] }> => {
  const { secret } = (await browser.ask('POST', '/profile/totp')).json;
  const code = totpCode(secret, stepNow());
  const confirmed = await browser.ask('POST', '/profile/totp/confirm', { code });
  expect(confirmed.status).toBe(200);
  return { secret, recoveryCodes: confirmed.json.recoveryCodes };
};

/** An owner with the second factor on; the time step of its first code is over. */
const openGuarded = async () => {
  const { companyId, owner } = await openTeam(world);
  const factor = await turnOn(owner);
  await world.sql('UPDATE portal_users SET totp_step = totp_step - 2 WHERE company_id = ? AND id = ?', [
    companyId,
    owner.id,
  ]);
  return { ...owner, companyId, ...factor };
};

test('The secret is shown once, sealed in the database, and takes effect once confirmed with a code', async () => {
  const { owner } = await openTeam(world);
  const started = await owner.browser.ask('POST', '/profile/totp');
  expect(started.status).toBe(200);
  expect(started.json.uri).toBe(
    `otpauth://totp/Causeway:${encodeURIComponent(owner.email)}?issuer=Causeway&secret=${started.json.secret}&algorithm=SHA1&digits=6&period=30`,
  );
  const [row] = await world.sql<{ totp_secret: Buffer }>(
    'SELECT totp_secret FROM portal_users WHERE id = ?',
    [owner.id],
  );
  expect(row!.totp_secret.includes(started.json.secret)).toBe(false);
  // Not on yet: the password alone signs in.
  expect((await openBrowser(world).signIn(owner)).json.mfaRequired).toBe(false);
  const wrong = await owner.browser.ask('POST', '/profile/totp/confirm', { code: '000000' });
  expect([wrong.status, wrong.json.error]).toEqual([400, 'the code is wrong']);
});

test('With the second factor on, a password alone gives no access', async () => {
  const member = await openGuarded();
  const browser = openBrowser(world);
  const reply = await browser.signIn(member);
  expect([reply.status, reply.json]).toEqual([200, { mfaRequired: true, totp: true, passkey: false }]);
  expect(reply.headers['set-cookie']).toBeUndefined();
  expect(browser.cookie()).toBeUndefined();
});

test('A code of the app works once, and so does the code of the previous step', async () => {
  const member = await openGuarded();
  const code = totpCode(member.secret, stepNow());
  const first = await openBrowser(world).signIn(member, { totp: `${code.slice(0, 3)} ${code.slice(3)}` });
  expect([first.status, first.json.user?.totpEnabled]).toEqual([200, true]);
  const again = await openBrowser(world).signIn(member, { totp: code });
  expect([again.status, again.json.reason]).toEqual([401, 'wrong_code']);
  await world.sql('UPDATE portal_users SET totp_step = totp_step - 5 WHERE company_id = ? AND id = ?', [
    member.companyId,
    member.id,
  ]);
  // The code ends with the present step, so a good part of that must be left.
  await expect.poll(() => Date.now() % 30_000).toBeLessThan(15_000);
  const before = await openBrowser(world).signIn(member, { totp: totpCode(member.secret, stepNow() - 1) });
  expect(before.status).toBe(200);
});

describe('A recovery code', () => {
  test('works once, in any spelling', async () => {
    const member = await openGuarded();
    expect(member.recoveryCodes).toHaveLength(10);
    const [code = ''] = member.recoveryCodes;
    const typed = code.toUpperCase().replaceAll('-', ' ');
    const first = await openBrowser(world).signIn(member, { recoveryCode: typed });
    expect([first.status, first.json.user?.recoveryCodesLeft]).toEqual([200, 9]);
    const second = await openBrowser(world).signIn(member, { recoveryCode: code });
    expect([second.status, second.json.reason]).toEqual([401, 'wrong_code']);
  });

  test('ends when new ones are created', async () => {
    const member = await openGuarded();
    const fresh = await member.browser.ask('POST', '/profile/recovery-codes');
    expect(fresh.json.recoveryCodes).toHaveLength(10);
    expect((await openBrowser(world).signIn(member, { recoveryCode: member.recoveryCodes[0] })).status).toBe(
      401,
    );
    expect(
      (await openBrowser(world).signIn(member, { recoveryCode: fresh.json.recoveryCodes[0] })).status,
    ).toBe(200);
  });

  test('of another member does not work', async () => {
    const [one, other] = [await openGuarded(), await openGuarded()];
    expect((await openBrowser(world).signIn(one, { recoveryCode: other.recoveryCodes[0] })).status).toBe(401);
  });
});

test('Turning it on ends the other sessions, and after turning it off the password alone is enough', async () => {
  const { owner } = await openTeam(world);
  const other = openBrowser(world);
  await other.signIn(owner);
  await turnOn(owner);
  expect((await other.ask('GET', '/session')).status).toBe(401);
  expect((await owner.browser.ask('GET', '/session')).status).toBe(200);

  expect((await owner.browser.ask('POST', '/profile/totp/disable')).status).toBe(204);
  expect((await openBrowser(world).signIn(owner)).json.mfaRequired).toBe(false);
});

test('The password alone neither turns it off nor creates recovery codes, when the sign-in is a while ago', async () => {
  const member = await openGuarded();
  const { browser } = member;
  await world.sql('UPDATE portal_sessions SET proved_utc = NOW() - INTERVAL 1 HOUR WHERE company_id = ?', [
    member.companyId,
  ]);
  const prove = (more: object) => browser.ask('POST', '/session/proof', { password: goodPassword, ...more });
  for (const path of ['/profile/totp/disable', '/profile/recovery-codes']) {
    const refused = await browser.ask('POST', path);
    expect([refused.status, refused.json.reason]).toEqual([403, 'proof_required']);
    expect((await prove({})).json.details).toEqual([
      { field: 'totp', code: 'required', message: 'totp is required' },
    ]);
    expect((await prove({ totp: '000000' })).json.details).toEqual([
      { field: 'totp', code: 'must_agree', message: 'the code is wrong' },
    ]);
    expect((await prove({ recoveryCode: 'no-such-code' })).json.details).toEqual([
      { field: 'recoveryCode', code: 'must_agree', message: 'the code is wrong' },
    ]);
  }
  expect((await openBrowser(world).signIn(member)).json).toMatchObject({ mfaRequired: true });
  expect((await prove({ recoveryCode: member.recoveryCodes[0] })).status).toBe(204);
  expect((await browser.ask('POST', '/profile/totp/disable')).status).toBe(204);
});

describe('Without the app and the recovery codes', () => {
  /** A member of this role with the second factor on. */
  const joinGuarded = async (team: Team, role: Role): Promise<Member> => {
    const member = await team.join(role);
    await turnOn(member);
    return member;
  };

  test('a member asks an owner, who turns it off; sessions, known devices and reset links end', async () => {
    const team = await openTeam(world);
    const member = await joinGuarded(team, 'admin');
    const path = `/team/members/${member.id}`;
    const { json } = await team.owner.browser.ask('POST', `${path}/password-reset`);
    const device = member.browser.device();
    expect((await team.owner.browser.ask('POST', `${path}/two-factor-reset`)).status).toBe(204);
    expect((await member.browser.ask('GET', '/session')).status).toBe(401);
    const token = String(json.link).split('#')[1];
    expect((await openBrowser(world).ask('POST', '/password-reset', { token })).status).toBe(410);
    const signedIn = await member.browser.signIn(member);
    expect([signedIn.status, signedIn.json.user?.totpEnabled]).toEqual([200, false]);
    const [, was] = /-(\d+)$/.exec(device ?? '') ?? [];
    expect([was, member.browser.device()?.endsWith('-1')]).toEqual(['0', true]);
    const log = await team.owner.browser.ask('GET', '/audit?action=totp.reset');
    expect(log.json.entries).toMatchObject([
      { actor: { id: team.owner.id }, target: { kind: 'member', name: member.email } },
    ]);
    const again = await team.owner.browser.ask('POST', `${path}/two-factor-reset`);
    expect([again.status, again.json.error]).toEqual([409, 'they have no second factor']);
  });

  test('nobody but an owner turns it off, not for themselves and not in another company', async () => {
    const team = await openTeam(world);
    const admin = await team.join('admin');
    const member = await joinGuarded(team, 'viewer');
    const other = await openTeam(world);
    const reset = async (by: Member, id: number) =>
      (await by.browser.ask('POST', `/team/members/${id}/two-factor-reset`)).status;
    expect(await reset(admin, member.id)).toBe(403);
    expect(await reset(member, member.id)).toBe(403);
    expect(await reset(other.owner, member.id)).toBe(404);
    expect(await reset(team.owner, team.owner.id)).toBe(409);
    expect((await openBrowser(world).signIn(member)).json).toMatchObject({ mfaRequired: true });
  });

  test('a sole owner asks the operator', async () => {
    const member = await openGuarded();
    const { link, two_factor_reset } = await world.operator.ask('resetPortalOwner', {
      company_id: member.companyId,
      email: member.email,
      two_factor: true,
    });
    expect(two_factor_reset).toBe(true);
    expect((await member.browser.ask('GET', '/session')).status).toBe(401);
    const password = 'eight badgers paint bridges';
    const token = String(link).split('#')[1];
    const body = { token, password };
    expect((await openBrowser(world).ask('POST', '/password-reset/complete', body)).status).toBe(204);
    const browser = openBrowser(world);
    expect((await browser.signIn({ ...member, password })).json.user.totpEnabled).toBe(false);
    const { json } = await browser.ask('GET', '/audit?action=totp.reset');
    expect(json.entries).toMatchObject([{ actor: { kind: 'operator' }, target: { name: member.email } }]);
  });
});
