import { randomUUID } from 'node:crypto';
import { until } from '@causeway/runtime/testing/until';
import { describe, expect, test } from 'vitest';
import { openLeaver } from './support/leaver.ts';
import { goodPassword, openBrowser, openTeam } from './support/portal.ts';
import { openWorld } from './support/world.ts';

const world = await openWorld();

const newAddress = (): string => `new-${randomUUID()}@example.com`;
const over = {
  error: 'the invitation was used or revoked, or has expired',
  reason: 'invitation_over',
};
const owners = { error: 'this needs the role owner', reason: 'role_required' };
const lastOwner = {
  error: 'a company needs an owner; make another member an owner first',
  reason: 'conflict',
};

describe('An invitation', () => {
  test('shows a link once; with it a person sees who invites, joins and is signed in', async () => {
    const { owner, companyId } = await openTeam(world);
    const email = newAddress();
    const invited = await owner.browser.ask('POST', '/team/invitations', { email, role: 'developer' });
    expect(invited.status).toBe(201);
    expect(invited.json.link).toMatch(/^\/portal\/invitation#[\w-]{43}$/);
    const token = invited.json.link.split('#')[1];
    const listed = await owner.browser.ask('GET', '/team');
    expect(listed.json.invitations).toEqual([invited.json.invitation]);
    expect(listed.text).not.toContain(token);

    const browser = openBrowser(world);
    const seen = await browser.ask('POST', '/invitation', { token });
    expect([seen.status, seen.json]).toEqual([
      200,
      {
        email,
        role: 'developer',
        companyName: expect.stringContaining('Test'),
        // A member created by an operator is named after the start of the address.
        invitedBy: owner.email.split('@')[0],
        expiresUtc: invited.json.invitation.expiresUtc,
      },
    ]);
    const weak = await browser.ask('POST', '/invitation/accept', {
      token,
      name: 'Ada',
      password: 'password1234',
    });
    expect([weak.status, weak.json.error]).toEqual([400, 'password is a common password']);
    const joined = await browser.ask('POST', '/invitation/accept', {
      token,
      name: 'Ada Lovelace',
      password: goodPassword,
    });
    expect([joined.status, joined.json.user.role, joined.json.company.id]).toEqual([
      201,
      'developer',
      companyId,
    ]);
    expect((await browser.ask('GET', '/session')).json.user.name).toBe('Ada Lovelace');
    expect((await openBrowser(world).signIn({ email, password: goodPassword })).status).toBe(200);
    for (const path of ['/invitation', '/invitation/accept']) {
      const again = await browser.ask('POST', path, {
        token,
        ...(path.endsWith('accept') && { name: 'Eve', password: goodPassword }),
      });
      expect([again.status, again.json]).toEqual([410, over]);
    }
  });

  test('accepted twice concurrently creates one member', async () => {
    const { owner } = await openTeam(world);
    const { json } = await owner.browser.ask('POST', '/team/invitations', {
      email: newAddress(),
      role: 'viewer',
    });
    const token = json.link.split('#')[1];
    const replies = await Promise.all(
      Array.from({ length: 4 }, () =>
        openBrowser(world).ask('POST', '/invitation/accept', { token, name: 'Ada', password: goodPassword }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 410, 410, 410]);
    expect((await owner.browser.ask('GET', '/team')).json.members).toHaveLength(2);
  });

  test('ends when it is revoked, replaced, or seven days old', async () => {
    const { companyId, owner } = await openTeam(world);
    const email = newAddress();
    const invite = async () =>
      (await owner.browser.ask('POST', '/team/invitations', { email, role: 'viewer' })).json;
    const look = (link: string) =>
      openBrowser(world).ask('POST', '/invitation', { token: link.split('#')[1] });
    const first = await invite();
    const second = await invite();
    expect((await look(first.link)).status).toBe(410);
    expect((await look(second.link)).status).toBe(200);
    await owner.browser.ask('DELETE', `/team/invitations/${second.invitation.id}`);
    expect((await look(second.link)).status).toBe(410);
    const third = await invite();
    expect(Date.parse(third.invitation.expiresUtc) - Date.parse(third.invitation.createdUtc)).toBe(
      7 * 86_400_000,
    );
    await world.sql(
      'UPDATE portal_invitations SET expires_utc = UTC_TIMESTAMP(3) WHERE company_id = ? AND invitation_id = ?',
      [companyId, third.invitation.id],
    );
    expect((await look(third.link)).status).toBe(410);
    expect((await owner.browser.ask('GET', '/team')).json.invitations).toMatchObject([{ expired: true }]);
  });
});

describe('Roles', () => {
  test('a changed role applies from the next request on, on every gateway', async () => {
    const team = await openTeam(world);
    const member = await team.join('viewer');
    const create = () => member.browser.ask('POST', '/keys', { name: 'mine', scopes: ['events:read'] });
    expect((await create()).status).toBe(403);
    const changed = await team.owner.browser.ask('PATCH', `/team/members/${member.id}`, {
      role: 'developer',
    });
    expect([changed.status, changed.json.role]).toEqual([200, 'developer']);
    expect((await create()).status).toBe(201);
    await team.owner.browser.ask('PATCH', `/team/members/${member.id}`, { role: 'viewer' });
    const after = await Promise.all(Array.from({ length: 16 }, create));
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([403]));
  });

  test('an admin cannot add, change or remove an owner', async () => {
    const team = await openTeam(world);
    const admin = await team.join('admin');
    const asked: [string, string, unknown?][] = [
      ['POST', '/team/invitations', { email: newAddress(), role: 'owner' }],
      ['PATCH', `/team/members/${admin.id}`, { role: 'owner' }],
      ['PATCH', `/team/members/${team.owner.id}`, { role: 'viewer' }],
      ['DELETE', `/team/members/${team.owner.id}`],
    ];
    for (const [method, path, body] of asked) {
      const reply = await admin.browser.ask(method, path, body);
      expect([path, reply.status, reply.json]).toEqual([path, 403, owners]);
    }
    expect((await admin.browser.ask('PATCH', `/team/members/${admin.id}`, { role: 'viewer' })).status).toBe(
      200,
    );
  });

  test('the last owner cannot be removed', async () => {
    const team = await openTeam(world);
    const { owner } = team;
    for (const [method, body] of [['DELETE'], ['PATCH', { role: 'admin' }]] as [string, unknown?][]) {
      const reply = await owner.browser.ask(method, `/team/members/${owner.id}`, body);
      expect([reply.status, reply.json]).toEqual([409, lastOwner]);
    }
    const second = await team.join('owner');
    expect((await owner.browser.ask('DELETE', `/team/members/${owner.id}`)).status).toBe(204);
    expect((await second.browser.ask('GET', '/team')).json.members).toHaveLength(1);
  });

  test('of two owners who remove each other at once, one stays', async () => {
    for (let round = 0; round < 5; round++) {
      const team = await openTeam(world);
      const second = await team.join('owner');
      const replies = await Promise.all([
        team.owner.browser.ask('DELETE', `/team/members/${second.id}`),
        second.browser.ask('DELETE', `/team/members/${team.owner.id}`),
      ]);
      expect(replies.filter(({ status }) => status === 204).length).toBe(1);
      const [{ left }] = (await world.sql<{ left: number }>(
        "SELECT COUNT(*) AS `left` FROM portal_users WHERE company_id = ? AND role = 'owner'",
        [team.companyId],
      )) as [{ left: number }];
      expect(left).toBe(1);
    }
  });
});

describe('A removal', () => {
  test('The removal of a member names what they made or moved, and ends what is not kept', async () => {
    const scene = await openLeaver(world);
    const { as, leaver, owner, ids, links, enabled, audited } = scene;
    const work = await as('GET', `/team/members/${leaver.id}/work`);
    const named = work.subscriptions.map(({ id }: { id: number }) => id);
    expect(named.toSorted()).toEqual([ids.made, ids.moved, ids.byKey].toSorted());
    expect(work.links).toBe(1);
    expect(work.channels).toEqual([{ channel: 'slack', url: expect.stringContaining('…') }]);
    expect((await leaver.browser.ask('GET', `/team/members/${owner.id}/work`)).json.links).toBe(1);

    // What they made just before the clock went back ends as well.
    for (const table of ['delivery_shares', 'audit_log'])
      await world.sql(
        `UPDATE ${table} SET created_utc = created_utc + INTERVAL 1 HOUR WHERE company_id = ?`,
        [scene.companyId],
      );
    await as('DELETE', `/team/members/${leaver.id}?keepSubscriptions=${ids.moved}`);
    expect([await scene.open(links.leavers), await scene.open(links.owners)]).toEqual([404, 200]);
    expect((await enabled()).toSorted()).toEqual([ids.moved, ids.renamed].toSorted());
    expect(await scene.channels()).toEqual(['webhook']);
    for (const [action, targets] of [
      ['subscription.disabled', [ids.made, ids.byKey]],
      ['notices.channel_removed', [scene.companyId]],
      ['delivery.share_revoked', [expect.anything()]],
      ['key.revoked', [scene.key.id]],
    ] as const) {
      const entries = await audited(action);
      expect(entries.map(({ target }) => Number(target.id) || target.id).toSorted()).toEqual(
        targets.toSorted(),
      );
      expect(new Set(entries.map(({ actor }) => actor.id))).toEqual(new Set([owner.id]));
    }
    const id = await scene.event();
    await until('the others get it', () => scene.arrived(id).length === 2);
    expect(scene.arrived(id)).toEqual(['/moved', '/others']);

    // Who enables one again is not undone by the passes that look for late requests.
    await as('PATCH', `/subscriptions/${ids.made}`, { enabled: true });
    const dueUtc = async () =>
      (
        await world.sql<{ due_utc: Date }>('SELECT due_utc FROM member_endings WHERE company_id = ?', [
          scene.companyId,
        ])
      )[0]!.due_utc.getTime();
    const before = await dueUtc();
    // The time of the next pass is of a clock that went back since.
    const ahead = [scene.companyId];
    await world.sql(
      'UPDATE member_endings SET due_utc = due_utc + INTERVAL 1 HOUR WHERE company_id = ?',
      ahead,
    );
    await until('another pass', async () => (await dueUtc()) < before + 1_800_000);
    expect(await enabled()).toContain(ids.made);
  });

  test('A lower role ends what it may not make: an admin’s channels, and a developer’s links and subscriptions', async () => {
    const scene = await openLeaver(world);
    const { as, leaver, ids, links } = scene;
    const all = [ids.made, ids.moved, ids.byKey, ids.renamed].toSorted();
    await as('PATCH', `/team/members/${leaver.id}`, { role: 'developer', keepKeys: [scene.key.id] });
    expect(await scene.channels()).toEqual(['webhook']);
    expect((await scene.enabled()).toSorted()).toEqual(all);
    expect(await scene.open(links.leavers)).toBe(200);
    await as('PATCH', `/team/members/${leaver.id}`, { role: 'viewer', keepSubscriptions: [ids.byKey] });
    expect((await scene.enabled()).toSorted()).toEqual([ids.byKey, ids.renamed].toSorted());
    expect(await scene.open(links.leavers)).toBe(404);
  });

  test('An operator removes a member alike', async () => {
    const scene = await openLeaver(world);
    const { leaver, ids, links } = scene;
    await world.operator.ask('removePortalMember', {
      ...{ company_id: scene.companyId, email: leaver.email, keep_channels: ['slack'] },
    });
    expect(await scene.enabled()).toEqual([ids.renamed]);
    expect(await scene.channels()).toEqual(['webhook', 'slack']);
    expect(await scene.open(links.leavers)).toBe(404);
    expect((await leaver.browser.ask('GET', '/session')).status).toBe(401);
    expect((await openBrowser(world).signIn(leaver)).status).toBe(401);
  });
});
