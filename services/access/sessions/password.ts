import { contract, problem } from '@causeway/proto';
import { acrossTenants, handler, json, type Trx, transaction } from '@causeway/runtime';
import { audit, byPerson } from '../audit.ts';
import type { Access } from '../context.ts';
import { requireGoodPassword } from '../passwords/password-policy.ts';
import { readCompanyName } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import { countChosenPassword } from './attempts.ts';
import { changeSecurity, endSessions } from './end.ts';
import { confirmPassword, hashForAddress, updateMember } from './person.ts';
import { withDevice } from './sign-in.ts';
import type { Membership } from './subjects.ts';
import { hashToken, newToken } from './token.ts';

export const changePassword = (access: Access) =>
  handler(contract.changePassword, async (call) => {
    const { companyId, user, body } = call;
    await confirmPassword(access, call, 'currentPassword', body.currentPassword);
    const companyName = await readCompanyName(access.db, companyId);
    requireGoodPassword('newPassword', body.newPassword, [companyName, user.email, user.name]);
    await countChosenPassword(access, companyId, user.email, call.actor.address);
    const password_hash = await hashForAddress(access, user.email, body.newPassword);
    await changeSecurity(access, call, 'password.changed', async (trx) => {
      await updateMember(trx, companyId, user.id).set({ password_hash }).execute();
      await endPasswordReset(trx, { companyId, userId: user.id });
    });
    return { status: 204, body: null };
  });

export const getPasswordReset = (access: Access) =>
  handler(contract.getPasswordReset, async ({ body }) => {
    const row = await findPasswordReset(access, body.token);
    return json(200, {
      email: row.email,
      companyName: row.company_name,
      expiresUtc: row.expires_utc.toISOString(),
    });
  });

/** Signs nobody in and leaves the second factor on, so a stolen link opens no account that has one. */
export const resetPassword = (access: Access) =>
  handler(contract.resetPassword, async ({ body, actor, requestId }) => {
    const { db, now } = access;
    const row = await findPasswordReset(access, body.token);
    const { company_id, user_id, email, name, company_name } = row;
    requireGoodPassword('password', body.password, [company_name, email, name]);
    await countChosenPassword(access, company_id, email, actor.address);
    const password_hash = await hashForAddress(access, email, body.password);
    await transaction(db, async (trx) => {
      // If two requests use the link at once, or it was replaced meanwhile, only one succeeds.
      const { numDeletedRows } = await trx
        .deleteFrom('portal_password_resets')
        .where('company_id', '=', company_id)
        .where('token_hash', '=', row.token_hash)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw problem('reset_over');
      await updateMember(trx, company_id, user_id).set({ password_hash }).execute();
      await endSessions(trx, { companyId: company_id, userId: user_id });
      const by = byPerson(user_id, name || email, actor, requestId);
      const author = { companyId: company_id, by, at: now() };
      await audit(trx, author, 'password.reset', ['member', user_id, email]);
    });
    // The browser becomes a known device, so earlier guesses do not delay the sign-in that follows.
    return withDevice(access, { status: 204, body: null }, actor, email, [
      { companyId: company_id, userId: user_id, epoch: row.device_epoch },
    ]);
  });

/** Long enough to hand the link over, short enough that a forgotten link is worthless. */
const validForMs = 3_600_000;

/**
 * Replaces an open link. Anyone who has the link can use it, so its creator hands it over in private. The
 * token is in the fragment, which browsers do not send. The caller has locked the member.
 */
export const makePasswordReset = async (
  { now, random }: Pick<Access, 'now' | 'random'>,
  trx: Trx<AccessTables>,
  { companyId, userId, madeBy = null }: Membership & { readonly madeBy?: number | null },
): Promise<PasswordReset> => {
  const token = newToken(random);
  const created_utc = now();
  const expires = new Date(created_utc.getTime() + validForMs);
  const row = { token_hash: hashToken(token), created_utc, expires_utc: expires, made_by: madeBy };
  // Not an upsert: Vitess finds the shard of a link by its token, and changes none in place.
  await endPasswordReset(trx, { companyId, userId });
  await trx
    .insertInto('portal_password_resets')
    .values({ company_id: companyId, user_id: userId, ...row })
    .execute();
  return { link: `/portal/password#${token}`, token, created: created_utc, expires };
};

interface PasswordReset {
  readonly link: string;
  readonly token: string;
  readonly created: Date;
  readonly expires: Date;
}

export const endPasswordReset = async (
  trx: Trx<AccessTables>,
  { companyId, userId }: Membership,
): Promise<void> => {
  await trx
    .deleteFrom('portal_password_resets')
    .where('company_id', '=', companyId)
    .where('user_id', '=', userId)
    .execute();
};

/** @throws Problem `reset_over` if the link has ended or never existed */
const findPasswordReset = ({ db, now }: Pick<Access, 'db' | 'now'>, token: string) =>
  acrossTenants(db, 'a password reset link is found by its token alone')
    .selectFrom('portal_password_resets as reset')
    .innerJoin('portal_users as person', (join) =>
      join.onRef('person.company_id', '=', 'reset.company_id').onRef('person.id', '=', 'reset.user_id'),
    )
    .innerJoin('companies as company', 'company.company_id', 'reset.company_id')
    .select([
      'reset.company_id',
      'reset.user_id',
      'reset.token_hash',
      'reset.expires_utc',
      'person.email',
      'person.name',
      'person.device_epoch',
      'company.name as company_name',
    ])
    .where('reset.token_hash', '=', hashToken(token))
    .where('reset.expires_utc', '>', now())
    .where('company.closed_utc', 'is', null)
    .executeTakeFirstOrThrow(() => problem('reset_over'));
