import { beforeEach, describe, expect, test } from 'vitest';
import { saltOf } from '../passwords/password.ts';
import { browserOf, newAddress, openPortal, tokenOf } from '../testing/boot.ts';
import { totpCode } from './factor-codes.ts';

// One address in several companies (README.md): a person signs in once, and no company learns of another's members.

/** Starts at the beginning of a day (UTC), because attempts are counted by day. */
let clockMs = Math.ceil(Date.now() / 86_400_000) * 86_400_000;
const now = () => new Date(clockMs);
const { world, operator, send } = await openPortal({ now }, { now });
const newBrowser = () => browserOf(send);
beforeEach(async () => {
  await world.database.query('DELETE FROM sign_in_delays');
  clockMs += 60_000; // Nothing that is remembered is trusted that long.
});

const theirs = 'seven otters juggle lanterns';
const ours = 'eight badgers paint bridges';
let serial = 0;

const newCompany = async (email = newAddress(), password = ours) => {
  const { company_id } = (await operator('createCompany', { name: `Company ${++serial}` })).body;
  const { body } = await operator('createPortalOwner', { company_id, email, password });
  const browser = newBrowser();
  const { company } = await browser.ask('signIn', { email, password });
  if (company.id !== company_id) await browser.ask('switchCompany', { companyId: company_id });
  return { id: company_id as number, email, password, ownerId: body.id as number, browser };
};
type Company = Awaited<ReturnType<typeof newCompany>>;

const signIn = async (email: string, password: string, more: object = {}) => {
  const browser = newBrowser();
  return { browser, answer: await browser.ask('signIn', { email, password, ...more }) };
};
interface Facts {
  readonly company: { readonly id: number };
  readonly otherCompanies: readonly { readonly id: number }[];
}
const companiesOf = ({ company, otherCompanies }: Facts): number[] =>
  [company, ...otherCompanies].map(({ id }) => id).toSorted((a, b) => a - b);

const join = async (company: Company, email: string, password: string, role = 'admin') => {
  const invited = await company.browser.ask('inviteMember', { email, role });
  const token = tokenOf(invited.link);
  const browser = newBrowser();
  const accepted = await browser.ask('acceptInvitation', { token, name: 'Somebody', password });
  return { invited, accepted, browser, id: accepted.user?.id as number };
};
const resetPassword = async (company: Company, memberId: number, password: string) => {
  const { link } = await company.browser.ask('offerPasswordReset', undefined, [String(memberId)]);
  const token = tokenOf(link);
  return newBrowser().ask('resetPassword', { token, password });
};
const stepNow = (): number => Math.floor(clockMs / 30_000);
/** Turns the second factor on. */
const guard = async (browser: ReturnType<typeof newBrowser>) => {
  const { secret } = await browser.ask('startTotp');
  const { status, recoveryCodes } = await browser.ask('confirmTotp', {
    code: totpCode(secret, stepNow() - 1),
  });
  expect(status).toBe(200);
  return { secret: secret as string, recoveryCodes: recoveryCodes as string[] };
};
/** Without those that only each company's audit log shows (`noteRefused`). */
const counts = async (): Promise<number[]> => {
  const rows = await world.database.query<{ failures: number }>(
    `SELECT failures FROM sign_in_delays WHERE subject NOT IN (
       SELECT UNHEX(SHA2(CONCAT_WS('\n', 'password.refused', company_id, id, ?), 256)) FROM portal_users)`,
    [new Date(clockMs).toISOString().slice(0, 10)],
  );
  return rows.map(({ failures }) => failures).toSorted((a, b) => a - b);
};

describe('An admin who claims the address of a member of another company', () => {
  test('gets a member of their own company, and changes nothing of the other', async () => {
    const b = await newCompany(newAddress(), theirs);
    const a = await newCompany();
    const taken = await join(a, b.email, ours);
    expect([taken.invited.status, taken.accepted.status]).toEqual([201, 201]);
    expect((await resetPassword(a, taken.id, 'nine walruses weigh anchors')).status).toBe(204);

    const asThief = await signIn(b.email, 'nine walruses weigh anchors');
    expect(companiesOf(asThief.answer)).toEqual([a.id]);
    const asOwner = await signIn(b.email, theirs);
    expect(companiesOf(asOwner.answer)).toEqual([b.id]);
    expect((await asThief.browser.ask('switchCompany', { companyId: b.id })).status).toBe(404);
    await a.browser.ask('removeMember', undefined, [String(taken.id)]);
    expect((await b.browser.ask('getSession')).status).toBe(200);
    expect((await signIn(b.email, theirs)).answer.status).toBe(200);
  });

  test('learns nothing: every answer and count is the same for an unused address', async () => {
    const b = await newCompany(newAddress(), theirs);
    const a = await newCompany();
    const told: unknown[] = [];
    for (const email of [b.email, newAddress()]) {
      await world.database.query('DELETE FROM sign_in_delays');
      const steps: unknown[] = [];
      const { invited, accepted, browser, id } = await join(a, email, ours);
      steps.push(invited.status, accepted.status, companiesOf(accepted), await counts());
      for (const [from, to] of [
        [ours, 'nine walruses weigh anchors'],
        ['nine walruses weigh anchors', 'ten lynxes fold umbrellas'],
      ] as const) {
        const changed = await browser.ask('changePassword', { currentPassword: from, newPassword: to });
        const { answer } = await signIn(email, to);
        steps.push(changed.status, answer.status, companiesOf(answer), await counts());
      }
      steps.push((await resetPassword(a, id, ours)).status, await counts());
      await world.database.query('DELETE FROM sign_in_delays');
      for (let wrong = 0; wrong < 3; wrong++) steps.push((await signIn(email, 'a wrong guess')).answer);
      steps.push(companiesOf((await signIn(email, ours)).answer), await counts());
      steps.push((await operator('resetPortalOwner', { company_id: a.id, email })).body.error);
      steps.push(
        (await operator('createPortalOwner', { company_id: a.id, email, password: ours })).body.error,
      );
      told.push(steps);
    }
    expect(told[0]).toEqual(told[1]);
  });

  test('cannot guess the other password by setting guesses as their own password: each counts as an attempt', async () => {
    const b = await newCompany(newAddress(), theirs);
    const a = await newCompany();
    const { browser } = await join(a, b.email, ours);
    await world.database.query('DELETE FROM sign_in_delays');
    let current = ours;
    for (let guess = 0; guess < 3; guess++) {
      const next = `guess ${guess} of lanterns and otters`;
      await browser.ask('changePassword', { currentPassword: current, newPassword: next });
      current = next;
      expect(companiesOf((await signIn(b.email, next)).answer)).toEqual([a.id]);
    }
    // For the network, the account, both, and the choices that the company has made for this address.
    expect(await counts()).toEqual([3, 3, 3, 3]);
  });

  test('cannot reset the other counts by signing in to their own company', async () => {
    const b = await newCompany(newAddress(), theirs);
    const a = await newCompany();
    const { id } = await join(a, b.email, ours);
    await world.database.query('DELETE FROM sign_in_delays');
    for (let guess = 0; guess < 3; guess++) await signIn(b.email, `guess ${guess}`);
    expect((await signIn(b.email, ours)).answer.status).toBe(200);
    expect(await counts()).toEqual([3, 3, 3]);
    expect((await resetPassword(a, id, 'nine walruses weigh anchors')).status).toBe(204);
    expect(await counts()).toEqual([1, 4, 4, 4]);
  });

  test('guesses no better at a device that is known for their own membership', async () => {
    const b = await newCompany(newAddress(), theirs);
    const a = await newCompany();
    const thief = (await join(a, b.email, ours)).browser;
    await world.database.query('DELETE FROM sign_in_delays');
    for (let round = 0; round < 3; round++) {
      for (let guess = 0; guess < 4; guess++)
        expect(
          (await thief.ask('signIn', { email: b.email, password: `guess ${round}.${guess}` })).status,
        ).toBe(401);
      expect(companiesOf(await thief.ask('signIn', { email: b.email, password: ours }))).toEqual([a.id]);
    }
    // Of 12 guesses in one moment, five were compared with the other password. The right one is not.
    expect(await counts()).toEqual([5, 5, 5]);
    expect((await thief.ask('signIn', { email: b.email, password: theirs })).status).toBe(401);
    // The victim's own device is not delayed, and neither is another network.
    expect((await b.browser.ask('signIn', { email: b.email, password: theirs })).status).toBe(200);
    const elsewhere = browserOf(send, '198.51.100.20');
    expect((await elsewhere.ask('signIn', { email: b.email, password: theirs })).status).toBe(200);
  });

  test('cannot guess the second factor of the other membership, whose password they know', async () => {
    const b = await newCompany(newAddress(), theirs);
    const { secret } = await guard(b.browser);
    const a = await newCompany();
    const thief = (await join(a, b.email, ours)).browser;
    await world.database.query('DELETE FROM sign_in_delays');
    const signInWith = (totp: string) => thief.ask('signIn', { email: b.email, password: theirs, totp });
    for (let round = 0; round < 3; round++) {
      for (let guess = 0; guess < 4; guess++) expect((await signInWith('000000')).status).not.toBe(200);
      expect((await thief.ask('signIn', { email: b.email, password: ours })).status).toBe(200);
    }
    expect((await signInWith(totpCode(secret, stepNow()))).status).toBe(401);
  });

  test('cannot guess it by switching companies either, in however many sessions', async () => {
    const b = await newCompany(newAddress(), theirs);
    const { secret } = await guard(b.browser);
    const a = await newCompany();
    await join(a, b.email, theirs);
    await world.database.query('DELETE FROM sign_in_delays');
    const statuses: number[] = [];
    const enter = async (totp: string) => {
      const { browser, answer } = await signIn(b.email, theirs);
      expect(companiesOf(answer)).toEqual([a.id, b.id].toSorted((one, other) => one - other));
      return (await browser.ask('switchCompany', { companyId: b.id, totp })).status as number;
    };
    for (let guess = 0; guess < 10; guess++) statuses.push(await enter('000000'));
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429, 429, 429]);
    expect(await enter(totpCode(secret, stepNow()))).toBe(429);
    // On the device that has entered the company before, its member is not delayed.
    const own = await b.browser.ask('signIn', { email: b.email, password: theirs });
    expect(companiesOf(own)).toContain(b.id);
    const answer = await b.browser.ask('switchCompany', {
      companyId: b.id,
      totp: totpCode(secret, stepNow()),
    });
    expect(answer.status).toBe(200);
  });

  test('cannot guess it in a session, by giving the right password each time', async () => {
    const { browser, email } = await newCompany(newAddress(), theirs);
    const { secret } = await guard(browser);
    await world.database.query('DELETE FROM sign_in_delays');
    const statuses: number[] = [];
    for (let guess = 0; guess < 6; guess++)
      statuses.push((await browser.ask('proveIdentity', { password: theirs, totp: '000000' })).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
    expect((await signIn(email, theirs, { totp: totpCode(secret, stepNow()) })).answer.status).toBe(200);
  });

  test('learns nothing from timing: the memberships of an address share a salt, however a password is set', async () => {
    const b = await newCompany(newAddress(), theirs);
    const a = await newCompany();
    const { browser, id } = await join(a, b.email, ours);
    const salts = async () => {
      const rows = await world.database.query<{ password_hash: string }>(
        'SELECT password_hash FROM portal_users WHERE email = ?',
        [b.email],
      );
      expect(rows).toHaveLength(2);
      return new Set(rows.map((row) => saltOf(row.password_hash)!.toString('hex')));
    };
    expect((await salts()).size).toBe(1);
    await browser.ask('changePassword', { currentPassword: ours, newPassword: 'ten lynxes fold umbrellas' });
    expect((await salts()).size).toBe(1);
    await resetPassword(a, id, ours);
    expect((await salts()).size).toBe(1);
  });
});

describe('A person of several companies', () => {
  const inTwo = async () => {
    const email = newAddress();
    const [one, two] = [await newCompany(email), await newCompany(email)];
    return { email, one, two };
  };

  test('signs in once, sees the companies, and switches without signing in again', async () => {
    const { email, one, two } = await inTwo();
    const { browser, answer } = await signIn(email, ours);
    expect(companiesOf(answer)).toEqual([one.id, two.id]);
    const other = answer.otherCompanies[0].id as number;
    const former = browser.token();
    const switched = await browser.ask('switchCompany', { companyId: other });
    expect([switched.status, switched.company.id]).toEqual([200, other]);
    expect(switched.session.createdUtc).toBe(answer.session.createdUtc);
    expect(switched.otherCompanies).toMatchObject([{ id: answer.company.id, codeRequired: false }]);
    expect((await browser.ask('getSession')).company.id).toBe(other);
    const stale = newBrowser();
    stale.setToken(former);
    expect((await stale.ask('getSession')).status).toBe(401);
    const back = await browser.ask('switchCompany', { companyId: answer.company.id });
    expect(back.company.id).toBe(answer.company.id);
  });

  test('is in the audit log of a company once they enter it', async () => {
    const { email, one, two } = await inTwo();
    const startsOf = async (company: number): Promise<number> => {
      const [row] = await world.database.query<{ n: number }>(
        "SELECT COUNT(*) AS n FROM audit_log WHERE company_id = ? AND action = 'session.started'",
        [company],
      );
      return Number(row?.n);
    };
    const { browser, answer } = await signIn(email, ours);
    const [here, there] = answer.company.id === one.id ? [one.id, two.id] : [two.id, one.id];
    const before = [await startsOf(here), await startsOf(there)];
    await browser.ask('switchCompany', { companyId: there });
    expect([await startsOf(here), await startsOf(there)]).toEqual([before[0], before[1]! + 1]);
  });

  test('enters a company that has a second factor with its code only', async () => {
    const { email, one, two } = await inTwo();
    const { secret } = await two.browser.ask('startTotp');
    const step = stepNow();
    await two.browser.ask('confirmTotp', { code: totpCode(secret, step - 1) });
    const { browser, answer } = await signIn(email, ours);
    expect(answer).toMatchObject({
      mfaRequired: false,
      company: { id: one.id },
      otherCompanies: [{ id: two.id, codeRequired: true }],
    });
    const enter = (more: object) => browser.ask('switchCompany', { companyId: two.id, ...more });
    expect([(await enter({})).status, (await enter({ totp: '000000' })).error]).toEqual([
      400,
      'the code is wrong',
    ]);
    expect((await browser.ask('getSession')).company.id).toBe(one.id);
    expect((await enter({ totp: totpCode(secret, step) })).company.id).toBe(two.id);
    // Both companies at once, with the code of one.
    await browser.ask('switchCompany', { companyId: one.id });
    const started = await browser.ask('startTotp');
    await browser.ask('confirmTotp', { code: totpCode(started.secret, step) });
    expect((await signIn(email, ours)).answer).toMatchObject({ status: 200, mfaRequired: true });
  });

  test('enters with a code once, over all replicas, sign-ins and sessions', async () => {
    const { email, two } = await inTwo();
    const { secret } = await guard(two.browser);
    const totp = totpCode(secret, stepNow());
    const inside = [await signIn(email, ours), await signIn(email, ours)];
    const answers = await Promise.all([
      ...inside.map(({ browser }) => browser.ask('switchCompany', { companyId: two.id, totp })),
      ...[1, 2].map(async () => (await signIn(email, ours, { totp })).answer),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('loses one company when it removes them or their password changes there, and keeps the other', async () => {
    const { email, one, two } = await inTwo();
    const colleague = await join(two, newAddress(), theirs, 'owner');
    const { browser, answer } = await signIn(email, ours);
    if (answer.company.id !== one.id) await browser.ask('switchCompany', { companyId: one.id });
    expect((await colleague.browser.ask('removeMember', undefined, [String(two.ownerId)])).status).toBe(204);
    const left = await browser.ask('getSession');
    expect([left.status, companiesOf(left)]).toEqual([200, [one.id]]);
    expect((await browser.ask('switchCompany', { companyId: two.id })).status).toBe(404);
  });
});

test('A wait of a clock that went back is over', async () => {
  const { email, password } = await newCompany();
  const browser = browserOf(send, '198.51.100.30');
  for (let guess = 0; guess < 30; guess++) await browser.ask('signIn', { email, password: `guess ${guess}` });
  expect((await browser.ask('signIn', { email, password })).status).toBe(429);
  clockMs -= 3_600_000;
  expect((await browser.ask('signIn', { email, password })).status).toBe(200);
  clockMs += 3_600_000;
});
