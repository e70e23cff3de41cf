import { beforeEach, expect, test } from 'vitest';
import { newAuthenticator } from '../../services/access/testing/authenticator.ts';
import { goodPassword, moveElsewhere, openBrowser, openTeam } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();
beforeEach(moveElsewhere);

const origin = world.baseUrl.replace('127.0.0.1', 'localhost');

test('A passkey is registered, signs in, proves who is there, is required, and is removed', async () => {
  const team = await openTeam(world);
  const { browser } = team.owner;
  const member = await team.join('admin');
  const authenticator = newAuthenticator(origin);
  const options = (await browser.ask('POST', '/profile/passkeys/start')).json;
  const credential = authenticator.create(options);
  const added = await browser.ask('POST', '/profile/passkeys', { name: 'Laptop', credential });
  expect([added.status, added.json.recoveryCodes?.length], added.text).toEqual([201, 10]);

  const signIn = async () => {
    const anywhere = openBrowser(world);
    const { json } = await anywhere.ask('POST', '/session/passkey/start');
    const reply = await anywhere.ask('POST', '/session/passkey', { credential: authenticator.get(json) });
    return { anywhere, reply };
  };
  const { anywhere, reply } = await signIn();
  expect(reply.json, reply.text).toMatchObject({ company: { id: team.companyId }, user: { passkeys: 1 } });
  await world.sql('UPDATE portal_sessions SET proved_utc = NOW() - INTERVAL 1 HOUR WHERE company_id = ?', [
    team.companyId,
  ]);
  const require = (required: boolean) => anywhere.ask('PATCH', '/team/second-factor', { required });
  expect((await require(true)).json.reason).toBe('proof_required');
  const { json: challenge } = await anywhere.ask('POST', '/session/proof/start');
  const proof = { credential: authenticator.get(challenge) };
  expect((await anywhere.ask('POST', '/session/proof', proof)).status).toBe(204);
  expect((await require(true)).status).toBe(204);
  expect((await member.browser.ask('GET', '/team')).json.reason).toBe('second_factor_required');
  const path = `/profile/passkeys/${added.json.id}`;
  expect((await anywhere.ask('DELETE', path)).status).toBe(409);
  expect((await require(false)).status).toBe(204);
  expect((await member.browser.ask('GET', '/team')).status).toBe(200);
  expect((await anywhere.ask('DELETE', path)).status).toBe(204);
  expect((await signIn()).reply.json.reason).toBe('wrong_passkey');
  const password = await openBrowser(world).signIn({ email: team.owner.email, password: goodPassword });
  expect(password.json.mfaRequired).toBe(false);
});
