import { describe, expect, test } from 'vitest';
import { clientAddress, goodPassword, openTeam, type Team } from './support/portal.ts';
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
