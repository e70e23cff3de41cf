import { describe, expect, test } from 'vitest';
import {
  type Browser,
  clientAddress,
  goodPassword,
  openBrowser,
  openTeam,
  type Team,
} from './support/portal.ts';
import { atLeast } from './support/processes.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

const signedOut = { error: 'sign in to continue', reason: 'signed_out' };

/** Sends requests over many connections, so that every gateway answers some. */
const everywhere = async (browser: Browser): Promise<ReadonlySet<number>> => {
  const replies = await Promise.all(Array.from({ length: 24 }, () => browser.ask('GET', '/session')));
  return new Set(replies.map(({ status }) => status));
};

test('Signing out ends the session at once on every gateway, and removes the cookie', async () => {
  atLeast(world, 'gateway', 4);
  const { owner } = await openTeam(world);
  const cookie = owner.browser.cookie();
  expect(await everywhere(owner.browser)).toEqual(new Set([200]));
  const reply = await owner.browser.ask('DELETE', '/session');
  expect(reply.status).toBe(204);
  expect(reply.headers['set-cookie']).toBe('causeway=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
  owner.browser.setCookie(cookie);
  expect(await everywhere(owner.browser)).toEqual(new Set([401]));
  expect((await owner.browser.ask('GET', '/session')).json).toEqual(signedOut);
});

test('A member sees the open sessions, this one first, and ends another, which every gateway refuses', async () => {
  const { owner } = await openTeam(world);
  const other = openBrowser(world);
  await other.ask('POST', '/session', owner && { email: owner.email, password: owner.password }, {
    'sec-fetch-site': 'same-origin',
    'user-agent': 'Other/1.0',
  });
  const { json } = await owner.browser.ask('GET', '/profile/sessions');
  expect(json.sessions).toHaveLength(2);
  expect(json.sessions[0]).toMatchObject({ current: true, address: clientAddress() });
  expect(json.sessions[1]).toMatchObject({ current: false, userAgent: 'Other/1.0' });
  expect((await owner.browser.ask('DELETE', `/profile/sessions/${json.sessions[1].id}`)).status).toBe(204);
  expect(await everywhere(other)).toEqual(new Set([401]));
  expect(await everywhere(owner.browser)).toEqual(new Set([200]));
});

test('No request sent after the answer succeeds with a session that was revoked under load', async () => {
  const { owner } = await openTeam(world);
  for (let round = 0; round < 8; round++) {
    const other = openBrowser(world);
    const { json } = await other.signIn(owner);
    const before = Array.from({ length: 12 }, () => other.ask('GET', '/session'));
    await owner.browser.ask('DELETE', `/profile/sessions/${json.session.id}`);
    expect(await everywhere(other), `round ${round}`).toEqual(new Set([401]));
    await Promise.all(before);
  }
});

test('Ending all other sessions keeps this one', async () => {
  const { owner } = await openTeam(world);
  const others = [openBrowser(world), openBrowser(world)];
  for (const other of others) await other.signIn(owner);
  const reply = await owner.browser.ask('POST', '/profile/sessions/revoke-others');
  expect([reply.status, reply.json]).toEqual([200, { revoked: 2 }]);
  for (const other of others) expect((await other.ask('GET', '/session')).status).toBe(401);
  expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
});

test('Another member’s session is not found', async () => {
  const team = await openTeam(world);
  const admin = await team.join('admin');
  const { json } = await admin.browser.ask('GET', '/session');
  const reply = await team.owner.browser.ask('DELETE', `/profile/sessions/${json.session.id}`);
  expect([reply.status, reply.json]).toEqual([404, { error: 'session not found' }]);
  expect((await admin.browser.ask('GET', '/session')).status).toBe(200);
});

describe('A session expires', () => {
  const age = async ({ companyId, owner }: Team, column: string, hours: number) =>
    world.sql(
      `UPDATE portal_sessions SET ${column} = ${column} - INTERVAL ? MINUTE WHERE company_id = ? AND user_id = ?`,
      [Math.round(hours * 60), companyId, owner.id],
    );

  test('after eight hours without a request', async () => {
    const team = await openTeam(world);
    const { owner } = team;
    await age(team, 'last_used_utc', 7.95);
    expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
    // That request counts: the idle time starts again.
    await age(team, 'last_used_utc', 7.95);
    expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
    await age(team, 'last_used_utc', 8.05);
    expect((await owner.browser.ask('GET', '/session')).json).toEqual(signedOut);
  });

  test('however often its pages refresh', async () => {
    const team = await openTeam(world);
    const { owner } = team;
    const renew = { 'sec-fetch-site': 'same-origin', 'x-passive': '1' };
    await age(team, 'last_used_utc', 7.95);
    expect((await owner.browser.ask('GET', '/keys', undefined, renew)).status).toBe(200);
    await age(team, 'last_used_utc', 0.1);
    expect((await owner.browser.ask('GET', '/keys', undefined, renew)).status).toBe(401);

    // Requests for changes always come from a person.
    await owner.browser.signIn(owner);
    await age(team, 'last_used_utc', 7.95);
    expect((await owner.browser.ask('PATCH', '/profile', { name: 'Ada' }, renew)).status).toBe(200);
    await age(team, 'last_used_utc', 7.95);
    expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
  });

  test('a day after its start, however busy it is', async () => {
    const team = await openTeam(world);
    const { owner } = team;
    await age(team, 'created_utc', 23.95);
    expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
    await age(team, 'created_utc', 0.1);
    expect((await owner.browser.ask('GET', '/session')).status).toBe(401);
  });
});

test('A new password ends the other sessions, and the old one no longer signs in', async () => {
  const { owner } = await openTeam(world);
  const other = openBrowser(world);
  await other.signIn(owner);
  const newPassword = 'eight badgers paint bridges';
  const wrong = await owner.browser.ask('POST', '/profile/password', { currentPassword: 'x', newPassword });
  expect([wrong.status, wrong.json.details[0].field]).toEqual([400, 'currentPassword']);
  const reply = await owner.browser.ask('POST', '/profile/password', {
    currentPassword: goodPassword,
    newPassword,
  });
  expect(reply.status).toBe(204);
  expect((await other.ask('GET', '/session')).status).toBe(401);
  expect((await owner.browser.ask('GET', '/session')).status).toBe(200);
  expect((await openBrowser(world).signIn(owner)).status).toBe(401);
  expect((await openBrowser(world).signIn({ email: owner.email, password: newPassword })).status).toBe(200);
});

test('Signing in gives a new token each time, and ignores a planted one', async () => {
  const { owner } = await openTeam(world);
  const browser = openBrowser(world);
  const planted = 'A'.repeat(43);
  browser.setCookie(planted);
  await browser.signIn(owner);
  expect(browser.cookie()).not.toBe(planted);
  expect(browser.cookie()).not.toBe(owner.browser.cookie());
  browser.setCookie(`${browser.cookie()}; causeway=${planted}`);
  expect((await browser.ask('GET', '/session')).status).toBe(401);
});
