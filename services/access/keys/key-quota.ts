import { quotaExceeded } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';

/**
 * Enforces the company's limit of active keys exactly: it locks the company's row, so concurrent creates take turns
 * (contract, "Quotas"). @throws Problem `quota_exceeded`
 */
export const requireRoomForKey = async (
  trx: Trx<AccessTables>,
  companyId: number,
  limit: number,
): Promise<void> => {
  await trx
    .selectFrom('companies')
    .select('company_id')
    .where('company_id', '=', companyId)
    .forUpdate()
    .executeTakeFirst();
  const { active } = await trx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('active'))
    .where('company_id', '=', companyId)
    .where('is_active', '=', 1)
    .executeTakeFirstOrThrow();
  if (Number(active) >= limit)
    throw quotaExceeded(
      'keys',
      limit,
      `a company may have ${limit} active keys; revoke one that is not needed`,
    );
};
