import { until } from '@causeway/runtime/testing/until';
import { beforeEach, describe, expect, test } from 'vitest';
import { newAuthenticator } from '../../../services/access/testing/authenticator.ts';
import { outcome } from '../support/clock.ts';
import { kill, killAfter, killDuring } from '../support/kill.ts';
import { type Browser, moveElsewhere, openBrowser, openTeam } from '../support/portal.ts';
import { allReady } from '../support/processes.ts';
import { openWorld } from '../support/world.ts';

// `access` is killed in the middle of what concerns passkeys and proofs: nothing is half done, and nobody is locked out.

const world = await openWorld();
beforeEach(moveElsewhere);

const origin = world.baseUrl.replace('127.0.0.1', 'localhost');
const key = { name: 'Zapier', scopes: ['events:read'] };

const openScene = async () => {
  const { companyId, owner } = await openTeam(world);
  const { browser } = owner;
  const authenticator = newAuthenticator(origin);
  const credential = authenticator.create((await browser.ask('POST', '/profile/passkeys/start')).json);
  const add = () => browser.ask('POST', '/profile/passkeys', { name: 'Laptop', credential });
  const assertion = async (by: Browser, start: string) =>
    authenticator.get((await by.ask('POST', start)).json);
  /** Once, in a browser of its own. */
  const signIn = async () => {
    const anywhere = openBrowser(world);
    const given = { credential: await assertion(anywhere, '/session/passkey/start') };
    return { anywhere, send: () => anywhere.ask('POST', '/session/passkey', given) };
  };
  const prove = async () => ({ credential: await assertion(browser, '/session/proof/start') });
  const rows = async (table: string): Promise<number> =>
    (
      await world.sql<{ n: number }>('SELECT COUNT(*) AS n FROM ?? WHERE company_id = ?', [table, companyId])
    )[0]!.n;
  return { companyId, owner, browser, add, signIn, prove, rows };
};

const killAccess = async (
  [text, values]: readonly [string, readonly unknown[]],
  call: () => Promise<{ readonly status: number }>,
): Promise<void> => {
  const lock = [`${text} FOR UPDATE`, values] as const;
  const answer = await killDuring(world, ['access'], lock, call);
  if (!(answer instanceof Error)) expect(answer.status).toBeGreaterThanOrEqual(500);
};

test('in a registration, before the commit: there is no passkey and no recovery code, and the next one works', async () => {
  const { companyId, owner, browser, add, signIn, rows } = await openScene();
  await killAccess(
    ['SELECT 1 FROM portal_users WHERE company_id = ? AND id = ?', [companyId, owner.id]],
    add,
  );
  expect([await rows('portal_passkeys'), await rows('portal_recovery_codes')]).toEqual([0, 0]);
  expect((await browser.ask('GET', '/session')).json.user).toMatchObject({ passkeys: 0 });
  expect((await openBrowser(world).signIn(owner)).json.mfaRequired).toBe(false);
  // The authenticator has it, but nobody else: it opens nothing, and a challenge is spent once.
  expect((await (await signIn()).send()).json.reason).toBe('wrong_passkey');
  expect((await add()).status).toBe(400);
  const another = newAuthenticator(origin);
  const credential = another.create((await browser.ask('POST', '/profile/passkeys/start')).json);
  const added = await browser.ask('POST', '/profile/passkeys', { name: 'Laptop', credential });
  expect([added.status, added.json.recoveryCodes?.length], added.text).toEqual([201, 10]);
});

test('in a registration, after the commit: the passkey signs in, and codes that nobody saw are replaced', async () => {
  const { companyId, owner, browser, add, signIn, rows } = await openScene();
  await killAfter(
    world,
    ['access'],
    ['SELECT 1 FROM portal_users WHERE company_id = ? AND id = ? FOR UPDATE', [companyId, owner.id]],
    add,
    async () => (await rows('portal_passkeys')) === 1,
  );
  expect((await browser.ask('GET', '/session')).json.user).toMatchObject({ passkeys: 1 });
  const { anywhere, send } = await signIn();
  expect((await send()).status).toBe(200);
  const { json } = await anywhere.ask('POST', '/profile/recovery-codes');
  const byCode = await openBrowser(world).signIn(owner, { recoveryCode: json.recoveryCodes[0] });
  expect(byCode.json.mfaRequired).toBe(false);
});

test('in a sign-in: there is no session, and the next sign-in works', async () => {
  const { companyId, browser, add, signIn, rows } = await openScene();
  expect((await add()).status).toBe(201);
  const before = await rows('portal_sessions');
  const { anywhere, send } = await signIn();
  await killAccess(['SELECT 1 FROM portal_passkeys WHERE company_id = ?', [companyId]], send);
  expect([anywhere.cookie(), await rows('portal_sessions')]).toEqual([undefined, before]);
  expect((await send()).json.reason).toBe('wrong_passkey');
  expect((await (await signIn()).send()).status).toBe(200);
  expect((await browser.ask('GET', '/session')).status).toBe(200);
});

test('in a proof: no other session is proven, and the next proof works', async () => {
  const { companyId, owner, browser, add, signIn, prove } = await openScene();
  expect((await add()).status).toBe(201);
  const { anywhere, send } = await signIn();
  await send();
  await world.sql('UPDATE portal_sessions SET proved_utc = NOW() - INTERVAL 1 HOUR WHERE company_id = ?', [
    companyId,
  ]);
  const own = 'SELECT 1 FROM portal_sessions WHERE company_id = ? AND user_id = ?';
  const given = await prove();
  await killAccess([own, [companyId, owner.id]], () => browser.ask('POST', '/session/proof', given));
  expect((await anywhere.ask('POST', '/keys', key)).json.reason).toBe('proof_required');
  expect((await browser.ask('POST', '/session/proof', given)).status).toBe(400);
  expect((await browser.ask('POST', '/session/proof', await prove())).status).toBe(204);
  expect((await browser.ask('POST', '/keys', key)).status).toBe(201);
});

test('while a second factor becomes required: it is not, and nobody is held; the next call requires it', async () => {
  const { companyId, owner, browser, add, rows } = await openScene();
  expect((await add()).status).toBe(201);
  const require = () => browser.ask('PATCH', '/team/second-factor', { required: true });
  await killAccess(['SELECT 1 FROM companies WHERE company_id = ?', [companyId]], require);
  const required = async (): Promise<boolean> =>
    (await browser.ask('GET', '/session')).json.company.secondFactorRequired;
  expect(await required()).toBe(false);
  const entries = await rows('audit_log');
  expect((await require()).status).toBe(204);
  expect([await required(), await rows('audit_log')]).toEqual([true, entries + 1]);
  expect((await browser.ask('GET', '/team')).status).toBe(200);
  expect((await openBrowser(world).signIn(owner)).json).toMatchObject({ mfaRequired: true, passkey: true });
});

describe('The log of requests', () => {
  test('Gateways and access are killed while requests are logged: none waits, none is listed twice, and the log goes on', async () => {
    const { companyId, owner } = await openTeam(world);
    await world.operator.ask('setLimits', { company_id: companyId, read: 1_000_000 });
    const { id, value: key } = (
      await owner.browser.ask('POST', '/keys', { name: 'Zapier', scopes: ['integrations:read'] })
    ).json;
    let sent = 0;
    const ask = async (): Promise<number> => {
      const headers = { 'x-request-id': `r-${++sent}` };
      const reply = await outcome(world.ask('/integrations/me', { key, headers }));
      return reply instanceof Error ? 0 : reply.status;
    };
    const counted = async (): Promise<number> => {
      const [row] = await world.sql<{ n: number }>(
        'SELECT CAST(COALESCE(SUM(requests), 0) AS SIGNED) AS n FROM request_log WHERE company_id = ?',
        [companyId],
      );
      return row!.n;
    };
    const someAnswered = () => until('requests are answered', async () => (await ask()) === 200);
    for (const kinds of [['access'], ['gateway'], ['access', 'gateway']]) {
      const before = await counted();
      await until('requests are logged', async () => (await ask()) === 200 && (await counted()) > before);
      const gone = kill(world, ...kinds);
      // Without access, requests are answered as before; their log waits for it, or is lost.
      if (!kinds.includes('gateway')) for (let asked = 0; asked < 20; asked++) await someAnswered();
      await allReady(world, gone);
    }
    await someAnswered();
    const last = `r-${sent}`;
    const listed = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      let cursor = '';
      do {
        const { json } = await owner.browser.ask('GET', `/keys/${id}/requests?limit=100${cursor}`);
        ids.push(...json.requests.map(({ requestId }: { requestId: string | null }) => requestId ?? ''));
        cursor = json.nextCursor ? `&cursor=${json.nextCursor}` : '';
      } while (cursor !== '');
      return ids.filter(Boolean);
    };
    await until('the last request is listed', async () => (await listed()).includes(last));
    const ids = await listed();
    expect(new Set(ids).size).toBe(ids.length);
    expect(await counted()).toBeLessThanOrEqual(sent);
  });
});
