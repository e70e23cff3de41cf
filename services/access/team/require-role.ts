import { problem, type Role, roleAllows, roleRequired } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';

/**
 * Checks within the transaction that the member still has the required role. The gateway admitted the call with the
 * role the member had when it began; without this check, a member who is just being removed could leave an
 * invitation, a link or a key behind. The row stays locked, so a removal waits and then finds what was created.
 * @throws Problem `signed_out`, `role_required`
 */
export const requireRoleStill = async (
  trx: Trx<AccessTables>,
  companyId: number,
  userId: number,
  least: Role,
): Promise<void> => {
  const row = await trx
    .selectFrom('portal_users')
    .select('role')
    .where('company_id', '=', companyId)
    .where('id', '=', userId)
    .forShare()
    .executeTakeFirst();
  if (!row) throw problem('signed_out');
  if (!roleAllows(row.role, least)) throw roleRequired(least);
};
