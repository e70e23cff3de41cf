import { testReceiver } from '@causeway/runtime/testing';
import { until } from '@causeway/runtime/testing/until';
import { beforeEach, describe, expect, test } from 'vitest';
import { totpCode } from '../../services/access/sessions/factor-codes.ts';
import {
  clientAddress,
  goodPassword,
  type Member,
  makeEvent,
  moveElsewhere,
  openBrowser,
  openTeam,
  type Team,
} from './support/portal.ts';
import { type Json, openWorld } from './support/world.ts';

const world = await openWorld();

const entriesOf = async ({ owner }: Team, filter = ''): Promise<Json[]> => {
  const reply = await owner.browser.ask('GET', `/audit?limit=100${filter}`);
  expect(reply.status).toBe(200);
  return reply.json.entries;
};

describe('The audit log', () => {
  test('records every change: who, what, before and after, from where', async () => {
    const team = await openTeam(world);
    const { browser } = team.owner;
    const headers = { 'sec-fetch-site': 'same-origin', 'user-agent': 'Auditor/1', 'x-request-id': 'audit-1' };
    await browser.ask('PATCH', '/profile', { name: 'Ada Lovelace' }, headers);
    const member = await team.join('viewer');
    await browser.ask('PATCH', `/team/members/${member.id}`, { role: 'developer' });
    const key = await browser.ask('POST', '/keys', { name: 'Zapier', scopes: ['events:read'] });
    await browser.ask('POST', `/keys/${key.json.id}/revoke`);
    await browser.ask('POST', `/keys/${key.json.id}/revoke`);
    await world.operator.ask('setLimits', { company_id: team.companyId, read: 5 });
    await browser.ask('DELETE', `/team/members/${member.id}`);
    const invitation = await browser.ask('POST', '/team/invitations', {
      email: 'x@example.com',
      role: 'admin',
    });
    await browser.ask('DELETE', `/team/invitations/${invitation.json.invitation.id}`);
    await browser.ask('POST', '/profile/password', {
      currentPassword: goodPassword,
      newPassword: 'eight badgers paint bridges',
    });

    const entries = await entriesOf(team);
    expect(entries.map(({ action }) => action).toReversed()).toEqual([
      'company.created',
      'member.joined',
      'session.started',
      'profile.changed',
      'member.invited',
      'member.joined',
      'session.started',
      'member.role_changed',
      'key.created',
      'key.revoked',
      'limits.changed',
      'member.removed',
      'member.invited',
      'invitation.revoked',
      'password.changed',
    ]);
    const entry = (action: string) => entries.find((one) => one.action === action);
    expect(entry('profile.changed')).toMatchObject({
      actor: { kind: 'user', id: team.owner.id, name: team.owner.email.split('@')[0] },
      target: { kind: 'member', id: String(team.owner.id), name: team.owner.email },
      before: { name: team.owner.email.split('@')[0] },
      after: { name: 'Ada Lovelace' },
      address: clientAddress(),
      userAgent: 'Auditor/1',
      requestId: 'audit-1',
    });
    expect(entry('member.role_changed')).toMatchObject({
      actor: { name: 'Ada Lovelace' },
      before: { role: 'viewer' },
      after: { role: 'developer' },
    });
    expect(entry('limits.changed')).toMatchObject({
      actor: { kind: 'operator', id: null },
      before: { read: null },
      after: { read: 5 },
    });
    const text = JSON.stringify(entries);
    for (const secret of [
      key.json.value,
      goodPassword,
      'eight badgers',
      browser.cookie()!,
      invitation.json.link,
    ])
      expect(text).not.toContain(secret);
  });

  test('has no entry for a refused change', async () => {
    const team = await openTeam(world);
    const before = await entriesOf(team);
    await team.owner.browser.ask('DELETE', `/team/members/${team.owner.id}`);
    await team.owner.browser.ask('POST', '/keys', { name: '', scopes: [] });
    expect(await entriesOf(team)).toEqual(before);
  });

  test('is paged by its cursor without a gap, and narrowed by its filters', async () => {
    const team = await openTeam(world);
    for (let at = 0; at < 12; at++) await team.owner.browser.ask('PATCH', '/profile', { name: `Name ${at}` });
    const all = await entriesOf(team);
    let walked: Json[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await team.owner.browser.ask('GET', `/audit?limit=4${cursor && `&cursor=${cursor}`}`);
      walked = [...walked, ...json.entries];
      cursor = json.nextCursor;
      expect(json.hasMore).toBe(cursor !== null);
    }
    expect(walked).toEqual(all);
    expect(await entriesOf(team, '&action=profile.changed')).toHaveLength(12);
    expect(all.map(({ action }) => action)).toContain('session.started');
    expect(await entriesOf(team, '&signIns=hidden')).toEqual(
      all.filter(({ action }) => action !== 'session.started'),
    );
    expect(await entriesOf(team, '&targetKind=company')).toMatchObject([{ action: 'company.created' }]);
    expect(
      (await entriesOf(team, `&userId=${team.owner.id}`)).every((one) => one.actor.kind === 'user'),
    ).toBe(true);
    expect(await entriesOf(team, `&until=${encodeURIComponent(all.at(-1).createdUtc)}`)).toEqual([]);
    expect(await entriesOf(team, `&since=${encodeURIComponent(all[0].createdUtc)}`)).not.toEqual([]);
    const wrong = await team.owner.browser.ask('GET', '/audit?since=yesterday');
    expect([wrong.status, wrong.json.error]).toEqual([400, 'since must be an ISO 8601 time with its offset']);
  });

  test('is searched by words of the actor, the target, the action and the address', async () => {
    const team = await openTeam(world);
    const { browser } = team.owner;
    await browser.ask('PATCH', '/profile', { name: 'Käthe Kollwitz' });
    const { json: key } = await browser.ask('POST', '/keys', { name: '100% Zapier_1', scopes: ['admin'] });
    await browser.ask('POST', `/keys/${key.id}/revoke`);
    const found = async (q: string): Promise<string[]> =>
      (await entriesOf(team, `&q=${encodeURIComponent(q)}`)).map(({ action }) => action);
    expect(await found('zapier_1')).toEqual(['key.revoked', 'key.created']);
    expect(await found('kollwitz  revoked')).toEqual(['key.revoked']);
    expect(await found('käthe 100%')).toEqual(['key.revoked', 'key.created']);
    expect(await found('%%')).toEqual([]);
    expect(await found('Łódź 😀')).toEqual([]);
    expect(await found(clientAddress())).toContain('key.created');
    expect(await found(' ')).toContain('company.created');
    const long = await browser.ask('GET', `/audit?q=${'x'.repeat(101)}`);
    expect(long.status).toBe(400);
  });

  test('is searched a bounded number of entries at a time, without a gap', async () => {
    const team = await openTeam(world);
    const { companyId, owner } = team;
    const entry = [
      companyId,
      new Date(),
      ...'system Causeway subscription.disabled subscription'.split(' '),
      'A',
    ];
    for (let at = 0; at < 9; at++)
      await world.sql(
        `INSERT INTO audit_log (company_id, created_utc, actor_kind, actor_name, action, target_kind, target_name)
         VALUES ?`,
        [Array.from({ length: 2_500 }, () => entry)],
      );
    const walked: Json[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/audit?q=${owner.email}${cursor && `&cursor=${cursor}`}`;
      const { json } = await owner.browser.ask('GET', path);
      walked.push(...json.entries);
      sizes.push(json.entries.length);
      cursor = json.nextCursor;
    }
    expect(sizes[0]).toBe(0);
    expect(sizes).toHaveLength(2);
    expect(walked.map(({ action }) => action)).toContain('member.joined');
  });
});

describe('The audit log tells of access', () => {
  // What the audit log says about access: beginnings of sessions, refusals by their count, links, tests and imports.

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

    const counts = { created: 2, changed: 1 };
    expect((await owner.browser.ask('POST', '/settings/imports', counts)).status).toBe(204);
    expect(await afterOf(owner, 'settings.imported')).toEqual([counts]);
  });
});
