import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { beforeEach, expect, test } from 'vitest';
import { totpCode } from '../../services/access/sessions/factor-codes.ts';
import {
  clientAddress,
  goodPassword,
  type Member,
  makeEvent,
  moveElsewhere,
  openBrowser,
  openTeam,
} from './support/portal.ts';
import { openWorld } from './support/world.ts';

// What the audit log says about access: beginnings of sessions, refusals by their count, links, tests and imports.

const world = await openWorld();
beforeEach(moveElsewhere);

const entriesOf = async (owner: Member, action: string) =>
  (await owner.browser.ask('GET', `/audit?action=${action}`)).json.entries as readonly {
    readonly actor: { readonly kind: string; readonly id: number | null };
    readonly target: { readonly name: string };
    readonly after: Readonly<Record<string, unknown>> | null;
    readonly address: string | null;
  }[];
const afterOf = async (owner: Member, action: string) =>
  (await entriesOf(owner, action)).map(({ after }) => after);
const noted = (owner: Member, action: string, afters: readonly unknown[]) =>
  until(`${action} is noted`, async () => {
    const found = await afterOf(owner, action);
    if (found.length < afters.length) return false;
    expect(found).toEqual(afters);
    return true;
  });

test('how a session began, and each use of a recovery code and proof', async () => {
  const { owner } = await openTeam(world);
  const secret = (await owner.browser.ask('POST', '/profile/totp')).json.secret as string;
  const step = () => Math.floor(Date.now() / 30_000);
  const { recoveryCodes } = (
    await owner.browser.ask('POST', '/profile/totp/confirm', { code: totpCode(secret, step()) })
  ).json;
  const [first, second] = recoveryCodes as string[];
  await openBrowser(world).signIn(owner, { recoveryCode: first });
  const proof = { password: goodPassword, recoveryCode: second };
  expect((await owner.browser.ask('POST', '/session/proof', proof)).status).toBe(204);
  expect(await afterOf(owner, 'session.started')).toEqual([
    { by: 'password and recovery code', device: 'new' },
    { by: 'password', device: 'new' },
  ]);
  expect(await entriesOf(owner, 'recovery_code.used')).toHaveLength(2);
  expect(await afterOf(owner, 'identity.proved')).toEqual([{ by: 'recovery code' }]);
  const text = JSON.stringify((await owner.browser.ask('GET', '/audit')).json);
  for (const code of [first!, second!, secret, goodPassword]) expect(text).not.toContain(code);
  await world.sql('UPDATE portal_users SET totp_step = 0 WHERE id = ?', [owner.id]);
  expect((await openBrowser(world).signIn(owner, { totp: '000000' })).status).toBe(401);
  await noted(owner, 'code.refused', [{ today: 1 }]);
});

test('wrong passwords by their count, however many there are, and of nobody else', async () => {
  const [{ owner }, other] = [await openTeam(world), await openTeam(world)];
  const device = openBrowser(world);
  await device.signIn(owner);
  for (let guess = 0; guess < 5; guess++)
    expect((await device.signIn({ ...owner, password: 'not the password' })).status).toBe(401);
  await noted(owner, 'password.refused', [{ today: 5 }, { today: 1 }]);
  const [entry] = await entriesOf(owner, 'password.refused');
  expect(entry).toMatchObject({
    actor: { kind: 'system', id: null },
    target: { name: owner.email },
    address: clientAddress(),
  });
  expect(await entriesOf(other.owner, 'password.refused')).toEqual([]);
  expect((await afterOf(owner, 'session.started'))[0]).toEqual({ by: 'password', device: 'new' });
});

test('refusals of a key for its address by their count', async () => {
  const { owner } = await openTeam(world);
  const body = { name: 'Zapier', scopes: ['events:read'], networks: ['10.0.0.0/8'] };
  const key = (await owner.browser.ask('POST', '/keys', body)).json;
  for (let time = 0; time < 7; time++)
    expect((await world.ask('/events', { key: key.value })).status).toBe(403);
  await until('they are noted', async () => {
    const [latest] = await afterOf(owner, 'key.network_refused');
    return Number(latest?.today) >= 5;
  });
  expect((await entriesOf(owner, 'key.network_refused')).length).toBeLessThanOrEqual(2);
});

test('the openings of a link, tests of channels and by keys, and an import as one act', async () => {
  const team = await openTeam(world);
  const { owner } = team;
  const receiver = await testReceiver();
  const ask = async (path: string, body: unknown) => (await owner.browser.ask('POST', path, body)).json;
  const subscription = { url: `${receiver.url}/in`, eventTypes: ['lead.created'] };
  const { id } = await ask('/subscriptions', subscription);
  const event = await makeEvent(world, team, 'lead.created');
  await until('it arrives', () => receiver.received.length === 1);
  const shares = `/deliveries/${event.id}/${id}/0/shares`;
  const { token } = await until('it can be shared', async () => {
    const reply = await owner.browser.ask('POST', shares, { hours: 1 });
    return reply.status === 201 && reply.json;
  });
  const stranger = openBrowser(world);
  for (let time = 0; time < 6; time++)
    expect((await stranger.ask('POST', '/shared-delivery', { token })).status).toBe(200);
  expect((await afterOf(owner, 'delivery.share_opened')).map((after) => after?.opened)).toEqual([5, 1]);
  const [opened] = await entriesOf(owner, 'delivery.share_opened');
  expect(opened!.address).toBe(clientAddress());

  await owner.browser.ask('PATCH', '/notices/channels', { channel: 'slack', url: `${receiver.url}/slack` });
  await ask('/notices/channels/test', { channel: 'slack' });
  expect(await afterOf(owner, 'notices.channel_tested')).toEqual([{ success: true, statusCode: 200 }]);

  const key = await ask('/keys', { name: 'CI', scopes: ['admin'] });
  await world.ask(`/webhooks/subscriptions/${id}/test`, { method: 'POST', key: key.value, body: '{}' });
  const [tested] = await entriesOf(owner, 'subscription.tested');
  expect(tested).toMatchObject({ actor: { kind: 'key', id: key.id }, after: { success: true } });

  const counts = { created: 2, changed: 1, deleted: 0 };
  expect((await owner.browser.ask('POST', '/settings/imports', counts)).status).toBe(204);
  expect(await afterOf(owner, 'settings.imported')).toEqual([counts]);
});
