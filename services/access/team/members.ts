import {
  type AnswerTo,
  conflict,
  contract,
  notFound,
  type Role,
  roleAllows,
  roleRequired,
} from '@causeway/proto';
import { handler, json, type Trx, transaction } from '@causeway/runtime';
import { type Author, audit, authorOf } from '../audit.ts';
import type { Access } from '../context.ts';
import { lockLinkMails, mailLink } from '../notices/links.ts';
import { readCompanyName, updateCompany } from '../rows.ts';
import type { AccessTables, RowOf } from '../schema.ts';
import { endSessions } from '../sessions/end.ts';
import { hasFactor, lockFactors, removeFactors } from '../sessions/factors.ts';
import { endPasswordReset, makePasswordReset } from '../sessions/password.ts';
import { requireRoleStill, updateMember } from '../sessions/person.ts';
import { announceEnded, endRights } from './member-keys.ts';

export const listTeam = ({ db, now }: Access) =>
  handler(contract.listTeam, async ({ companyId, user }) => {
    const [members, invitations] = await Promise.all([
      db
        .selectFrom('portal_users')
        .select(memberColumns)
        .where('company_id', '=', companyId)
        .orderBy('id')
        .execute(),
      db
        .selectFrom('portal_invitations')
        .select(invitationColumns)
        .where('company_id', '=', companyId)
        .orderBy('invitation_id', 'desc')
        .execute(),
    ]);
    return json(200, {
      members: members.map((row) => memberAnswer(row, user.id)),
      invitations: invitations.map((row) => invitationAnswer(row, now())),
    });
  });

export const changeRole = (access: Access) =>
  handler(contract.changeRole, async (call) => {
    const { companyId, user, body } = call;
    const author = authorOf(access, call);
    const memberId = call.id('member');
    const { member, revokedKeys } = await transaction(access.db, async (trx) => {
      const before = await lockMember(trx, { companyId, memberId, asker: user.role, to: body.role });
      if (before.role === body.role) return { member: before, revokedKeys: [] };
      const demoted = !roleAllows(body.role, before.role);
      const ended = demoted ? await endRights(trx, author, memberId, body) : [];
      await updateMember(trx, companyId, memberId).set({ role: body.role }).execute();
      // Reset links depend on the member's role: who could create one before may not do so now.
      await endPasswordReset(trx, { companyId, userId: memberId });
      await audit(trx, author, 'member.role_changed', ['member', memberId, before.email], {
        before: { role: before.role },
        after: { role: body.role },
      });
      return { member: { ...before, role: body.role }, revokedKeys: ended };
    });
    await announceEnded(access, author, memberId, revokedKeys);
    return json(200, memberAnswer(member, user.id));
  });

/** Deletes the row, so that the address can join again, here or elsewhere; the audit log keeps the name. */
export const removeMember = (access: Access) =>
  handler(contract.removeMember, async (call) => {
    const { user } = call;
    const memberId = call.id('member');
    const author = authorOf(access, call);
    await removeFully(access, author, { memberId, asker: user.role, ...call.query });
    return { status: 204, body: null };
  });

type Removal = Omit<Parameters<typeof endRights>[3], 'role'> & Pick<Change, 'memberId' | 'asker'>;

/** @returns the keys that were revoked */
export const removeFully = async (
  access: Access,
  author: Author,
  { memberId, asker, ...keep }: Removal,
): Promise<readonly number[]> => {
  const { companyId } = author;
  const revokedKeys = await transaction(access.db, async (trx) => {
    const member = await lockMember(trx, { companyId, memberId, asker, to: null });
    const ended = await endRights(trx, author, memberId, { role: null, ...keep });
    await endSessions(trx, { companyId, userId: memberId });
    await trx
      .deleteFrom('portal_users')
      .where('company_id', '=', companyId)
      .where('id', '=', memberId)
      .execute();
    const { email, name, role } = member;
    const before = { email, name, role };
    await audit(trx, author, 'member.removed', ['member', memberId, email], { before });
    return ended;
  });
  await announceEnded(access, author, memberId, revokedKeys);
  return revokedKeys;
};

export const offerPasswordReset = (access: Access) =>
  handler(contract.offerPasswordReset, async (call) => {
    const { companyId, user } = call;
    const memberId = call.id('member');
    if (memberId === user.id) throw conflict('change your own password under Your security');
    const { link, expires, mailed } = await transaction(access.db, async (trx) => {
      await lockLinkMails(trx, companyId);
      await requireRoleStill(trx, companyId, user.id, 'admin');
      const member = await lockMember(trx, { companyId, memberId, asker: user.role, to: 'same' });
      const reset = await makePasswordReset(access, trx, { companyId, userId: memberId, madeBy: user.id });
      const target = ['member', memberId, member.email] as const;
      await audit(trx, authorOf(access, call), 'password.reset_offered', target);
      const { token, created: at } = reset;
      const mailed = await mailLink(access, trx, {
        kind: 'password',
        token,
        companyId,
        to: member.email,
        userId: memberId,
        at,
      });
      return { ...reset, mailed };
    });
    return json(201, { link, expiresUtc: expires.toISOString(), mailed });
  });

/** Only owners may: admins, who can create password reset links, could then sign in as a colleague. */
export const resetSecondFactor = (access: Access) =>
  handler(contract.resetSecondFactor, async (call) => {
    const { companyId, user } = call;
    const memberId = call.id('member');
    if (memberId === user.id) throw conflict('turn off your own second factor under Your security');
    await transaction(access.db, async (trx) => {
      await requireRoleStill(trx, companyId, user.id, 'owner');
      const member = await lockMember(trx, { companyId, memberId, asker: user.role, to: 'same' });
      if (!hasFactor(member)) throw conflict('they have no second factor');
      await takeFactorOff(trx, authorOf(access, call), member);
    });
    return { status: 204, body: null };
  });

/** Of a locked member. Sessions, devices and reset links end too: none was enough without a code so far. */
export const takeFactorOff = async (
  trx: Trx<AccessTables>,
  author: Author,
  { id: userId, email, passkeys }: Pick<MemberRow, 'id' | 'email' | 'passkeys'>,
): Promise<void> => {
  const { companyId } = author;
  await removeFactors(trx, { companyId, userId });
  await updateMember(trx, companyId, userId)
    .set((eb) => ({ device_epoch: eb('device_epoch', '+', 1) }))
    .execute();
  await endPasswordReset(trx, { companyId, userId });
  await endSessions(trx, { companyId, userId });
  await audit(trx, author, 'totp.reset', ['member', userId, email], {
    before: { passkeys },
  });
};

/** Members without a factor are held at their next request (`use-session.ts`). */
export const requireSecondFactor = (access: Access) =>
  handler(contract.requireSecondFactor, async (call) => {
    const { companyId, user, body } = call;
    await transaction(access.db, async (trx) => {
      await requireRoleStill(trx, companyId, user.id, 'admin');
      if (body.required && !hasFactor(await lockFactors(trx, { companyId, userId: user.id })))
        throw conflict('set up your own second factor under Your security first');
      const { numChangedRows } = await updateCompany(trx, companyId)
        .set({ require_factor: Number(body.required) })
        .executeTakeFirst();
      if (numChangedRows === 0n) return;
      const action = body.required ? 'second_factor.required' : 'second_factor.optional';
      const target = ['company', companyId, await readCompanyName(trx, companyId)] as const;
      await audit(trx, authorOf(access, call), action, target);
    });
    return { status: 204, body: null };
  });

type MemberAnswer = AnswerTo<'listTeam'>['members'][number];
type InvitationAnswer = AnswerTo<'listTeam'>['invitations'][number];

const memberColumns = [
  'id',
  'name',
  'email',
  'role',
  'totp_enabled',
  'passkeys',
  'created_utc',
  'last_sign_in_utc',
] as const;

type MemberRow = RowOf<'portal_users', typeof memberColumns>;

const memberAnswer = (row: MemberRow, askerId: number): MemberAnswer => ({
  id: row.id,
  name: row.name,
  email: row.email,
  role: row.role,
  totpEnabled: row.totp_enabled === 1,
  passkeys: row.passkeys,
  createdUtc: row.created_utc.toISOString(),
  lastSignInUtc: row.last_sign_in_utc?.toISOString() ?? null,
  you: row.id === askerId,
});

const invitationColumns = [
  'invitation_id',
  'email',
  'role',
  'invited_by_name',
  'created_utc',
  'expires_utc',
] as const;

type InvitationRow = RowOf<'portal_invitations', typeof invitationColumns>;

export const invitationAnswer = (row: InvitationRow, now: Date): InvitationAnswer => ({
  id: row.invitation_id,
  email: row.email,
  role: row.role,
  invitedBy: row.invited_by_name,
  createdUtc: row.created_utc.toISOString(),
  expiresUtc: row.expires_utc.toISOString(),
  expired: row.expires_utc <= now,
});

interface Change {
  readonly companyId: number;
  readonly memberId: number;
  readonly asker: Role;
  /** The new role. Null: removed; `same`: unchanged. */
  readonly to: Role | null | 'same';
}

/**
 * Locks the company's owners too, in the order of ids: two owners who remove each other cannot both succeed.
 * @throws Problem `not_found`, `role_required` if owners are concerned, `conflict` for the last owner
 */
const lockMember = async (trx: Trx<AccessTables>, { companyId, memberId, asker, to }: Change) => {
  const rows = await trx
    .selectFrom('portal_users')
    .select(memberColumns)
    .where('company_id', '=', companyId)
    .where((eb) => eb.or([eb('id', '=', memberId), eb('role', '=', 'owner')]))
    .orderBy('id')
    .forUpdate()
    .execute();
  const member = rows.find((row) => row.id === memberId);
  if (!member) throw notFound('member');
  if (asker !== 'owner' && (member.role === 'owner' || to === 'owner')) throw roleRequired('owner');
  if (to === 'same') return member;
  const otherOwners = rows.filter((row) => row.role === 'owner' && row.id !== memberId);
  if (member.role === 'owner' && to !== 'owner' && otherOwners.length === 0)
    throw conflict('a company needs an owner; make another member an owner first');
  return member;
};
