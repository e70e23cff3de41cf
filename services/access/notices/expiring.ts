import { writeNotices } from '@causeway/identity';
import { acrossTenants } from '@causeway/runtime';
import type { NoticesContext } from './context.ts';

const dayMs = 86_400_000;
const daysBefore = [1, 7] as const;

/** Told seven days before and one day before, unless the key was created for no longer than that. */
export const noteExpiringKeys = async ({ db, now }: NoticesContext): Promise<void> => {
  const at = now();
  const rows = await acrossTenants(db, 'keys of all companies are about to expire')
    .selectFrom('api_keys')
    .select(['company_id', 'id', 'name', 'created_utc', 'expires_utc'])
    .where('is_active', '=', 1)
    .where('expires_utc', '>', at)
    .where('expires_utc', '<=', new Date(at.getTime() + Math.max(...daysBefore) * dayMs))
    .execute();
  const expiring = rows.flatMap((row) => {
    const expiresMs = row.expires_utc!.getTime();
    const days = daysBefore.find((limit) => expiresMs - at.getTime() <= limit * dayMs);
    return days && expiresMs - row.created_utc.getTime() > days * dayMs ? [{ ...row, days, expiresMs }] : [];
  });
  await writeNotices(
    db,
    expiring.map(({ company_id: companyId, id, name, days, expiresMs }) => {
      const until = new Date(expiresMs).toISOString();
      return {
        companyId,
        kind: 'key_expiring',
        cause: `key_expiring:${id}:${until}:${days}`,
        subject: { id, name },
        detail: { until: until.slice(0, 16).replace('T', ' ') },
        at,
      };
    }),
  );
};
