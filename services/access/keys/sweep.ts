import { bySystem } from '@causeway/proto';
import { acrossTenants, eachAlone, type Repeated, repeat } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { revokeEverywhere } from './keys.ts';
import { endGraces } from './rotate-key.ts';

/** Revokes the keys that have expired, and ends the graces that are over, as a member would. Replicas may run it at once. */
export const startExpiry = (access: Access): Repeated =>
  repeat(() => revokeExpired(access), {
    pauseMs: expiryPauseMs,
    onError: (error) => access.log.warn({ error }, 'revoking expired keys failed'),
  });

/** Gateways refuse an expired key by themselves. */
const expiryPauseMs = 15_000;

const revokeExpired = async (access: Access): Promise<number> => {
  const rows = await acrossTenants(access.db, 'expired keys of all companies are looked for')
    .selectFrom('api_keys')
    .select(['company_id', 'id'])
    .where('expires_utc', '<=', access.now())
    .where('is_active', '=', 1)
    .limit(100)
    .execute();
  const ended = await endGraces(access);
  await eachAlone(rows, ({ company_id: companyId, id }) =>
    revokeEverywhere(access, { companyId, id, by: bySystem }),
  );
  return rows.length + ended;
};
