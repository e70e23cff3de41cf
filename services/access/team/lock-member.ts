import { conflict, notFound, type Role, roleRequired } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';
import { memberColumns } from './member.ts';

export interface Change {
  readonly companyId: number;
  readonly memberId: number;
  /** The role of the member who makes the change. */
  readonly asker: Role;
  /** The new role. Null: removed; `same`: unchanged. */
  readonly to: Role | null | 'same';
}

/**
 * Checks that a change is allowed and returns its member, locked. The company's owners are locked with it, in the
 * order of their ids, so that two owners who remove each other at once cannot both succeed.
 * @throws Problem `not_found`, `role_required` if owners are concerned, `conflict` for the last owner
 */
export const lockMember = async (trx: Trx<AccessTables>, { companyId, memberId, asker, to }: Change) => {
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
