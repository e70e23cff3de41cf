import { cleanUp, waitsForLock } from '@causeway/runtime/testing';
import { createConnection } from 'mysql2/promise';
import { describe, expect, test } from 'vitest';
import { browserOf, newAddress, openPortal, tokenOf } from '../testing/boot.ts';

// Ways back that a removed or demoted admin prepared.

const { world, heard, send, newOwner } = await openPortal();

const newTeam = async () => {
  const { companyId, browser: owner, join } = await newOwner();
  const [admin, member] = [await join('admin'), await join('viewer')];
  return { companyId, owner, admin, member, nobody: browserOf(send) };
};

const prepare = async ({ admin, member }: Awaited<ReturnType<typeof newTeam>>) => {
  const invitation = tokenOf(
    (await admin.browser.ask('inviteMember', { email: newAddress(), role: 'admin' })).link,
  );
  const reset = tokenOf((await admin.browser.ask('offerPasswordReset', undefined, [String(member.id)])).link);
  const makeKey = async (name: string) =>
    (await admin.browser.ask('createApiKey', { name, scopes: ['admin'] })).id as number;
  return { invitation, reset, first: await makeKey('first'), second: await makeKey('second') };
};

const end = (team: Awaited<ReturnType<typeof newTeam>>, how: string, keepKeys: readonly number[] = []) =>
  how === 'removed'
    ? team.owner.ask('removeMember', undefined, [String(team.admin.id)], `keepKeys=${keepKeys.join(',')}`)
    : team.owner.ask('changeRole', { role: 'viewer', keepKeys }, [String(team.admin.id)]);

describe.each(['removed', 'demoted'])('An admin who is %s', (how) => {
  test('cannot come back through an invitation, a reset link or a key that they created before', async () => {
    const team = await newTeam();
    const { invitation, reset, first, second } = await prepare(team);
    const own = (await team.owner.ask('createApiKey', { name: 'of the owner', scopes: ['admin'] })).id;
    const shown = await team.owner.ask('listMemberKeys', undefined, [String(team.admin.id)]);
    expect(shown.keys.map(({ id }: { id: number }) => id)).toEqual([second, first]);

    expect([200, 204]).toContain((await end(team, how)).status);
    expect((await team.nobody.ask('getInvitation', { token: invitation })).status).toBe(410);
    expect((await team.nobody.ask('getPasswordReset', { token: reset })).status).toBe(410);
    const { keys } = await team.owner.ask('listApiKeys');
    const active = keys.filter(({ isActive }: { isActive: boolean }) => isActive);
    expect(active.map(({ id }: { id: number }) => id)).toEqual([own]);
    // Every gateway has confirmed both before the answer.
    const names = heard.map(({ change }) => JSON.stringify(change));
    for (const id of [first, second]) expect(names.some((text) => text.includes(String(id)))).toBe(true);
  });

  test('keeps the named keys, and other people’s invitations and links', async () => {
    const team = await newTeam();
    const { first, second } = await prepare(team);
    const other = tokenOf(
      (await team.owner.ask('inviteMember', { email: newAddress(), role: 'viewer' })).link,
    );
    await end(team, how, [second]);
    const { keys } = await team.owner.ask('listApiKeys');
    const activeOf = (wanted: number) => keys.find(({ id }: { id: number }) => id === wanted).isActive;
    expect([activeOf(first), activeOf(second)]).toEqual([false, true]);
    expect((await team.nobody.ask('getInvitation', { token: other })).status).toBe(200);
  });
});

test('A promotion ends nothing', async () => {
  const team = await newTeam();
  const { invitation, first } = await prepare(team);
  expect((await team.owner.ask('changeRole', { role: 'owner' }, [String(team.admin.id)])).status).toBe(200);
  expect((await team.nobody.ask('getInvitation', { token: invitation })).status).toBe(200);
  const { keys } = await team.owner.ask('listMemberKeys', undefined, [String(team.admin.id)]);
  expect(keys.map(({ id }: { id: number }) => id)).toContain(first);
});

test.each([
  ['an invitation', 'inviteMember'],
  ['a key', 'createApiKey'],
  ['a reset link', 'offerPasswordReset'],
] as const)('%s that an admin requests during their removal is not created', async (_, operation) => {
  const team = await newTeam();
  const connection = await createConnection(world.database.url);
  cleanUp(() => connection.destroy());
  // The removal is about to commit.
  await connection.beginTransaction();
  await connection.query('DELETE FROM portal_users WHERE company_id = ? AND id = ?', [
    team.companyId,
    team.admin.id,
  ]);
  const bodies = {
    inviteMember: { email: newAddress(), role: 'admin' },
    createApiKey: { name: 'left behind', scopes: ['admin'] },
    offerPasswordReset: undefined,
  };
  let answered = false;
  const asked = team.admin.browser
    .ask(operation, bodies[operation], operation === 'offerPasswordReset' ? [String(team.member.id)] : [])
    .finally(() => {
      answered = true;
    });
  await waitsForLock(world.database);
  expect(answered).toBe(false);
  await connection.commit();
  expect((await asked).status).toBe(401);
  expect((await team.owner.ask('listTeam')).invitations).toEqual([]);
  expect((await team.owner.ask('listApiKeys')).keys).toEqual([]);
});
