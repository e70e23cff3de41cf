import { describe, expect, test } from 'vitest';
import { newAuthenticator } from '../testing/authenticator.ts';
import { browserOf, newNetwork, openPortal, testPassword as password, tokenOf } from '../testing/boot.ts';

let clockMs = Date.now();
const { world, operator, send, newOwner } = await openPortal({ now: () => new Date(clockMs) });

const origin = 'http://localhost:8080';
const newBrowser = () => browserOf(send, newNetwork());

type Owner = Awaited<ReturnType<typeof newOwner>>;

const addPasskey = async ({ browser }: Pick<Owner, 'browser'>) => {
  const authenticator = newAuthenticator(origin);
  const credential = authenticator.create(await browser.ask('startPasskey'));
  const added = await browser.ask('addPasskey', { name: 'Laptop', credential });
  expect(added.status).toBe(201);
  return { ...authenticator, id: added.id as number, codes: added.recoveryCodes as string[] };
};

const challenge = () => newBrowser().ask('startPasskeySignIn');
const statusOf = async (credential: object, browser = newBrowser()): Promise<number> =>
  (await browser.ask('signInWithPasskey', { credential })).status;

describe('A passkey', () => {
  test('signs in without password and code, and says when it did', async () => {
    const owner = await newOwner();
    const passkey = await addPasskey(owner);
    expect(passkey.codes).toHaveLength(10);
    const browser = newBrowser();
    const session = await browser.ask('signInWithPasskey', { credential: passkey.get(await challenge()) });
    expect(session).toMatchObject({
      status: 200,
      user: { email: owner.email, passkeys: 1 },
      company: { id: owner.companyId },
    });
    const { passkeys } = await browser.ask('listPasskeys');
    expect(passkeys).toMatchObject([
      { id: passkey.id, name: 'Laptop', lastUsedUtc: new Date(clockMs).toISOString() },
    ]);
  });

  test('is a second factor: the password alone no longer signs in, with a recovery code it does', async () => {
    const owner = await newOwner();
    const { codes } = await addPasskey(owner);
    const given = { email: owner.email, password };
    const browser = newBrowser();
    expect(await browser.ask('signIn', given)).toEqual({
      status: 200,
      mfaRequired: true,
      totp: false,
      passkey: true,
    });
    expect((await browser.ask('signIn', { ...given, totp: '123456' })).status).toBe(401);
    expect((await browser.ask('signIn', { ...given, recoveryCode: codes[0] })).mfaRequired).toBe(false);
  });

  test('ends other sessions when it is added and when it is removed', async () => {
    const owner = await newOwner();
    const other = newBrowser();
    await other.ask('signIn', { email: owner.email, password });
    const passkey = await addPasskey(owner);
    expect((await other.ask('getSession')).status).toBe(401);
    await other.ask('signInWithPasskey', { credential: passkey.get(await challenge()) });
    expect((await owner.browser.ask('removePasskey', undefined, [String(passkey.id)])).status).toBe(204);
    expect((await other.ask('getSession')).status).toBe(401);
    expect((await owner.browser.ask('getSession')).user).toMatchObject({ passkeys: 0, recoveryCodesLeft: 0 });
  });

  test('stays after a password reset, which signs nobody in without it; a reset of the factors removes it', async () => {
    const owner = await newOwner();
    const passkey = await addPasskey(owner);
    const reset = async (two_factor: boolean) => {
      const { body } = await operator('resetPortalOwner', {
        company_id: owner.companyId,
        email: owner.email,
        two_factor,
      });
      const done = await newBrowser().ask('resetPassword', { token: tokenOf(body.link), password });
      expect(done.status).toBe(204);
    };
    await reset(false);
    expect((await newBrowser().ask('signIn', { email: owner.email, password })).mfaRequired).toBe(true);
    expect(await statusOf(passkey.get(await challenge()))).toBe(200);
    await reset(true);
    expect(await statusOf(passkey.get(await challenge()))).toBe(401);
    expect((await newBrowser().ask('signIn', { email: owner.email, password })).mfaRequired).toBe(false);
  });
});

describe('An assertion is refused', () => {
  test('the second time, also when both arrive at once', async () => {
    const passkey = await addPasskey(await newOwner());
    const once = passkey.get(await challenge());
    expect([await statusOf(once), await statusOf(once)]).toEqual([200, 401]);
    const twice = passkey.get(await challenge());
    const statuses = await Promise.all([statusOf(twice), statusOf(twice), statusOf(twice)]);
    expect(statuses.toSorted()).toEqual([200, 401, 401]);
  });

  test('from another origin, without user verification, with a counter that went back, and with a made-up or old challenge', async () => {
    const passkey = await addPasskey(await newOwner());
    expect(await statusOf(passkey.get(await challenge(), { from: 'https://evil.example' }))).toBe(401);
    expect(await statusOf(passkey.get(await challenge(), { from: 'http://localhost:8081' }))).toBe(401);
    expect(await statusOf(passkey.get(await challenge(), { verified: false }))).toBe(401);
    expect(await statusOf(passkey.get({ challenge: Buffer.alloc(38, 7).toString('base64url') }))).toBe(401);
    const old = await challenge();
    clockMs += 5 * 60_000 + 1;
    expect(await statusOf(passkey.get(old))).toBe(401);
    expect(await statusOf(passkey.get(await challenge()))).toBe(200);
    expect(await statusOf(passkey.get(await challenge(), { counts: -1 }))).toBe(401);
  });

  test('with the handle of another member, of another company and of nobody', async () => {
    const [victim, attacker] = [await newOwner(), await newOwner()];
    const [theirs, own] = [await addPasskey(victim), await addPasskey(attacker)];
    expect(await statusOf(own.get(await challenge(), { as: theirs.handle() }))).toBe(401);
    expect(await statusOf(own.get(await challenge(), { as: 'AAAA' }))).toBe(401);
    // Company of the victim, member of the attacker.
    const mixed = Buffer.concat([
      Buffer.from(theirs.handle(), 'base64url').subarray(0, 8),
      Buffer.from(own.handle(), 'base64url').subarray(8),
    ]);
    expect(await statusOf(own.get(await challenge(), { as: mixed.toString('base64url') }))).toBe(401);
    expect(await statusOf(own.get(await challenge()))).toBe(200);
  });

  test('of a passkey that was removed, and of a member who was', async () => {
    const owner = await newOwner();
    const removed = await addPasskey(owner);
    await owner.browser.ask('removePasskey', undefined, [String(removed.id)]);
    expect(await statusOf(removed.get(await challenge()))).toBe(401);
    const left = await owner.join('admin');
    const passkey = await addPasskey(left);
    const before = await challenge();
    await owner.browser.ask('removeMember', undefined, [String(left.id)]);
    expect(await statusOf(passkey.get(before))).toBe(401);
    expect(
      await world.database.query(`SELECT COUNT(*) AS n FROM portal_passkeys WHERE user_id = ${left.id}`),
    ).toMatchObject([{ n: 0 }]);
  });

  test('made for another purpose: a proof, a registration or another session', async () => {
    const owner = await newOwner();
    const passkey = await addPasskey(owner);
    expect(await statusOf(passkey.get(await owner.browser.ask('startProof')))).toBe(401);
    const { browser } = owner;
    expect((await browser.ask('proveIdentity', { credential: passkey.get(await challenge()) })).status).toBe(
      400,
    );
    const second = newBrowser();
    await second.ask('signInWithPasskey', { credential: passkey.get(await challenge()) });
    const elsewhere = await second.ask('startProof');
    expect((await browser.ask('proveIdentity', { credential: passkey.get(elsewhere) })).status).toBe(400);
    const registration = await second.ask('startPasskey');
    const credential = newAuthenticator(origin).create(registration);
    expect((await browser.ask('addPasskey', { name: 'x', credential })).status).toBe(400);
    expect((await second.ask('addPasskey', { name: 'x', credential })).status).toBe(201);
    expect((await second.ask('addPasskey', { name: 'x', credential })).status).toBe(400);
  });

  test('while its network has to wait, which delays nobody elsewhere', async () => {
    const passkey = await addPasskey(await newOwner());
    const network = newBrowser();
    for (let guess = 1; guess <= 6; guess++)
      await statusOf(passkey.get(await challenge(), { from: 'https://evil.example' }), network);
    expect(await statusOf(passkey.get(await challenge()), network)).toBe(429);
    expect(await statusOf(passkey.get(await challenge()))).toBe(200);
  });
});

describe('Two tabs of one browser', () => {
  test('register beside each other: each challenge works once, in either tab, and no passkey twice', async () => {
    const { browser } = await newOwner();
    const [first, second] = [await browser.ask('startPasskey'), await browser.ask('startPasskey')];
    const [laptop, phone] = [newAuthenticator(origin), newAuthenticator(origin)];
    const [ofLaptop, ofPhone] = [laptop.create(second), phone.create(first)];
    const add = (credential: object) => browser.ask('addPasskey', { name: 'x', credential });
    const both = await Promise.all([add(ofLaptop), add(ofPhone)]);
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
    // Only the first factor comes with recovery codes: later ones would make those that are shown invalid.
    expect(both.map(({ recoveryCodes }) => recoveryCodes.length).toSorted()).toEqual([0, 10]);
    expect((await add(laptop.create(first))).status).toBe(400);
    expect((await add(laptop.create(await browser.ask('startPasskey')))).status).toBe(409);
    expect((await browser.ask('listPasskeys')).passkeys).toHaveLength(2);
    expect((await browser.ask('getSession')).user).toMatchObject({ passkeys: 2, recoveryCodesLeft: 10 });
  });

  test('prove beside each other: the proof of one is that of both, and no assertion counts twice', async () => {
    const owner = await newOwner();
    const { browser } = owner;
    const passkey = await addPasskey(owner);
    clockMs += 600_001;
    const [first, second] = [await browser.ask('startProof'), await browser.ask('startProof')];
    const prove = async (credential: object): Promise<number> =>
      (await browser.ask('proveIdentity', { credential })).status;
    const credential = passkey.get(second);
    const statuses = await Promise.all([prove(credential), prove(credential)]);
    expect(statuses.toSorted()).toEqual([204, 400]);
    const key = { name: 'Zapier', scopes: ['events:read'] };
    expect((await browser.ask('createApiKey', key)).status).toBe(201);
    expect(await prove(passkey.get(first))).toBe(204);
  });

  test('remove the last two factors beside each other: with a required factor, one stays', async () => {
    const owner = await newOwner();
    const { browser } = owner;
    const [one, other] = [await addPasskey(owner), await addPasskey(owner)];
    expect((await browser.ask('requireSecondFactor', { required: true })).status).toBe(204);
    const remove = (id: number) => browser.ask('removePasskey', undefined, [String(id)]);
    const statuses = (await Promise.all([remove(one.id), remove(other.id)])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([204, 409]);
    expect((await browser.ask('getSession')).user).toMatchObject({ passkeys: 1, recoveryCodesLeft: 10 });
  });
});

describe('Between the proof and the operation that it was for', () => {
  const key = { name: 'Zapier', scopes: ['events:read'] };
  const setting = async () => {
    const owner = await newOwner();
    const { browser, id } = await owner.join('admin');
    const passkey = await addPasskey({ browser });
    clockMs += 600_001;
    await owner.browser.ask('proveIdentity', { password });
    const credential = passkey.get(await browser.ask('startProof'));
    return { owner, browser, id: String(id), passkey, credential };
  };

  test('a colleague is removed: neither the proof nor what it was for succeeds', async () => {
    const { owner, browser, id, credential } = await setting();
    expect((await owner.browser.ask('removeMember', undefined, [id])).status).toBe(204);
    expect((await browser.ask('proveIdentity', { credential })).status).toBe(401);
    expect((await browser.ask('createApiKey', key)).status).toBe(401);
    expect((await owner.browser.ask('listApiKeys')).keys).toEqual([]);
  });

  test('their factors are reset, or another browser ends their session: a proof of before is void', async () => {
    for (const by of ['the owner', 'another browser']) {
      const { owner, browser, id, passkey, credential } = await setting();
      expect((await browser.ask('proveIdentity', { credential })).status).toBe(204);
      const second = newBrowser();
      if (by === 'another browser')
        await second.ask('signInWithPasskey', { credential: passkey.get(await challenge()) });
      const ended =
        by === 'the owner'
          ? await owner.browser.ask('resetSecondFactor', undefined, [id])
          : await second.ask('revokeOtherSessions');
      expect(ended.status).toBeLessThan(300);
      expect((await browser.ask('createApiKey', key)).status).toBe(401);
    }
  });

  test('they lose their role: the proof holds, and what they may not do any more is refused', async () => {
    const { owner, browser, id, credential } = await setting();
    expect((await browser.ask('proveIdentity', { credential })).status).toBe(204);
    expect((await owner.browser.ask('changeRole', { role: 'viewer' }, [id])).status).toBe(200);
    for (const [operation, body] of [
      ['createApiKey', key],
      ['inviteMember', { email: 'x@example.com', role: 'viewer' }],
      ['requireSecondFactor', { required: true }],
    ] as const)
      expect(await browser.ask(operation, body)).toMatchObject({ status: 403, reason: 'role_required' });
  });
});

describe('A change of rights', () => {
  const key = { name: 'Zapier', scopes: ['events:read'] };

  test('asks for a proof after ten minutes, once for the next ones', async () => {
    const { browser } = await newOwner();
    expect((await browser.ask('createApiKey', key)).status).toBe(201);
    clockMs += 600_001;
    for (const [operation, body] of [
      ['createApiKey', key],
      ['inviteMember', { email: 'x@example.com', role: 'viewer' }],
      ['startPasskey', undefined],
      ['startTotp', undefined],
      ['requireSecondFactor', { required: true }],
    ] as const)
      expect(await browser.ask(operation, body)).toMatchObject({ status: 403, reason: 'proof_required' });
    expect((await browser.ask('listApiKeys')).status).toBe(200);
    expect((await browser.ask('proveIdentity', { password: 'wrong' })).status).toBe(400);
    expect((await browser.ask('proveIdentity', {})).status).toBe(400);
    expect((await browser.ask('createApiKey', key)).status).toBe(403);
    expect((await browser.ask('proveIdentity', { password })).status).toBe(204);
    expect((await browser.ask('createApiKey', key)).status).toBe(201);
    clockMs += 600_001;
    expect((await browser.ask('createApiKey', key)).status).toBe(403);
  });

  test('asks for a proof when the last one is later than the clock, which went back', async () => {
    const { browser } = await newOwner();
    clockMs -= 3_600_000;
    expect(await browser.ask('createApiKey', key)).toMatchObject({ status: 403, reason: 'proof_required' });
    expect((await browser.ask('proveIdentity', { password })).status).toBe(204);
    expect((await browser.ask('createApiKey', key)).status).toBe(201);
    clockMs += 3_600_000;
  });

  test('takes of a member with a factor what a sign-in takes: a passkey, or the password and a code', async () => {
    const owner = await newOwner();
    const { browser } = owner;
    const passkey = await addPasskey(owner);
    clockMs += 600_001;
    expect((await browser.ask('proveIdentity', { password })).status).toBe(400);
    expect((await browser.ask('proveIdentity', { password, recoveryCode: passkey.codes[1] })).status).toBe(
      204,
    );
    clockMs += 600_001;
    expect((await browser.ask('createApiKey', key)).status).toBe(403);
    const credential = passkey.get(await browser.ask('startProof'));
    expect((await browser.ask('proveIdentity', { credential })).status).toBe(204);
    expect((await browser.ask('proveIdentity', { credential })).status).toBe(400);
    expect((await browser.ask('createApiKey', key)).status).toBe(201);
  });

  test('needs a proof of this very session', async () => {
    const owner = await newOwner();
    const other = newBrowser();
    await other.ask('signIn', { email: owner.email, password });
    clockMs += 600_001;
    expect((await other.ask('proveIdentity', { password })).status).toBe(204);
    expect((await owner.browser.ask('createApiKey', key)).status).toBe(403);
  });
});

describe('A required second factor', () => {
  test('is switched on only by who has one, holds open sessions at their next request, and leads new members there', async () => {
    const owner = await newOwner();
    const member = await owner.join('admin');
    expect((await owner.browser.ask('requireSecondFactor', { required: true })).status).toBe(409);
    const passkey = await addPasskey(owner);
    expect((await owner.browser.ask('requireSecondFactor', { required: true })).status).toBe(204);
    expect((await owner.browser.ask('listTeam')).status).toBe(200);

    const { browser } = member;
    for (const operation of [
      'listTeam',
      'listApiKeys',
      'changePassword',
      'listAudit',
      'revokeOtherSessions',
    ] as const)
      expect(await browser.ask(operation)).toMatchObject({ status: 403, reason: 'second_factor_required' });
    expect((await browser.ask('getSession')).company.secondFactorRequired).toBe(true);
    const late = await owner.join('admin');
    expect(late.joined).toMatchObject({ status: 201, company: { secondFactorRequired: true } });
    expect((await late.browser.ask('listTeam')).status).toBe(403);
    const own = await addPasskey(late);
    expect((await late.browser.ask('listTeam')).status).toBe(200);
    expect((await late.browser.ask('removePasskey', undefined, [String(own.id)])).status).toBe(409);

    // Who lost everything: the operator resets, and the owner sets up a new factor.
    expect(passkey.codes).toHaveLength(10);
    const reset = { company_id: owner.companyId, email: owner.email, two_factor: true };
    const { body } = await operator('resetPortalOwner', reset);
    await newBrowser().ask('resetPassword', { token: tokenOf(body.link), password });
    const again = newBrowser();
    expect((await again.ask('signIn', { email: owner.email, password })).mfaRequired).toBe(false);
    expect((await again.ask('requireSecondFactor', { required: false })).status).toBe(403);
    await addPasskey({ browser: again });
    expect((await again.ask('requireSecondFactor', { required: false })).status).toBe(204);
    expect((await browser.ask('listTeam')).status).toBe(200);
  });
});
