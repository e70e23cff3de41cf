import { maskKey } from '@causeway/identity';
import { contract, notFound } from '@causeway/proto';
import { handler, json, type Trx } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type Author, audit } from '../audit.ts';
import type { Access } from '../context.ts';
import { keyColumns } from '../keys/key-answers.ts';
import { deactivateIn, revokeEverywhere } from '../keys/keys.ts';
import type { AccessTables } from '../schema.ts';
import { selectMember } from '../sessions/person.ts';

export const listMemberKeys = ({ db }: Access) =>
  handler(contract.listMemberKeys, async (call) => {
    const { companyId } = call;
    const memberId = call.id('member');
    if (!(await selectMember(db, companyId, memberId).select('id').executeTakeFirst()))
      throw notFound('member');
    const rows = await activeKeysOf(db, companyId, memberId);
    return json(200, {
      keys: rows.map((row) => ({
        id: row.id,
        name: row.name,
        masked: maskKey({ prefix: row.prefix, companyId: row.company_id, last4: row.last4 }),
        createdUtc: row.created_utc.toISOString(),
        lastUsedUtc: row.last_used_utc?.toISOString() ?? null,
      })),
    });
  });

/**
 * Ends what would let a removed or demoted member back in, in the transaction that takes their rights. The
 * gateways learn of the keys after the commit, or at the key table's next comparison if this process dies
 * before.
 * @returns the keys that the member created or rotated, and so may know.
 */
export const endRights = async (
  trx: Trx<AccessTables>,
  author: Author,
  memberId: number,
  keepKeys: readonly number[],
): Promise<readonly number[]> => {
  const { companyId } = author;
  const invitations = await trx
    .selectFrom('portal_invitations')
    .select(['invitation_id', 'email', 'role'])
    .where('company_id', '=', companyId)
    .where('invited_by', '=', memberId)
    .forUpdate()
    .execute();
  for (const { invitation_id, email, role } of invitations) {
    await trx
      .deleteFrom('portal_invitations')
      .where('company_id', '=', companyId)
      .where('invitation_id', '=', invitation_id)
      .execute();
    const target = ['invitation', invitation_id, email] as const;
    await audit(trx, author, 'invitation.revoked', target, { before: { email, role } });
  }
  await trx
    .deleteFrom('portal_password_resets')
    .where('company_id', '=', companyId)
    .where('made_by', '=', memberId)
    .execute();
  const keys = await activeKeysOf(trx, companyId, memberId);
  const revokedKeys = keys.map(({ id }) => id).filter((id) => !keepKeys.includes(id));
  for (const id of revokedKeys) await deactivateIn(trx, { ...author, id });
  return revokedKeys;
};

/** Returns when every gateway refuses the keys. */
export const announceRevoked = async (
  access: Access,
  { companyId, by }: Author,
  ids: readonly number[],
): Promise<void> => {
  await Promise.all(ids.map((id) => revokeEverywhere(access, { companyId, id, by })));
};

/** Newest first. Only the audit log records who created or rotated a key. */
const activeKeysOf = (db: Kysely<AccessTables>, companyId: number, memberId: number) =>
  db
    .selectFrom('api_keys')
    .select(keyColumns)
    .where('company_id', '=', companyId)
    .where('is_active', '=', 1)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('audit_log')
        .select(sql<number>`CAST(audit_log.target_id AS UNSIGNED)`.as('id'))
        .where('audit_log.company_id', '=', companyId)
        .where('audit_log.actor_kind', '=', 'user')
        .where('audit_log.actor_id', '=', memberId)
        .where('audit_log.action', 'in', ['key.created', 'key.rotated']),
    )
    .orderBy('id', 'desc')
    .execute();
