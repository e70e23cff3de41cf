import { problem } from '@causeway/proto';
import { acrossTenants, type Trx } from '@causeway/runtime';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';
import { hashToken, newToken } from '../sessions/token.ts';

/** Long enough to hand the link over, short enough that a forgotten link is worthless. */
const validForMs = 3_600_000;

interface Member {
  readonly companyId: number;
  readonly userId: number;
}

/**
 * Creates a link with which a member chooses a new password; it replaces an open one. Anyone who has the link can use
 * it, so its creator hands it over in private. The token is in the fragment, which browsers do not send. The caller has
 * locked the member.
 */
export const makePasswordReset = async (
  { now, random }: Pick<Access, 'now' | 'random'>,
  trx: Trx<AccessTables>,
  { companyId, userId, madeBy = null }: Member & { readonly madeBy?: number | null },
): Promise<{ readonly link: string; readonly expires: Date }> => {
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
  return { link: `/portal/password#${token}`, expires };
};

/** Deletes a member's reset link, if there is one. */
export const endPasswordReset = async (
  trx: Trx<AccessTables>,
  { companyId, userId }: Member,
): Promise<void> => {
  await trx
    .deleteFrom('portal_password_resets')
    .where('company_id', '=', companyId)
    .where('user_id', '=', userId)
    .execute();
};

/** An open reset link and its member. @throws Problem `reset_over` if the link has ended or never existed */
export const findPasswordReset = async ({ db, now }: Pick<Access, 'db' | 'now'>, token: string) => {
  const row = await acrossTenants(db, 'a password reset link is found by its token alone')
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
    .executeTakeFirst();
  if (!row) throw problem('reset_over');
  return row;
};
