import { writeNotices } from '@causeway/identity';
import { type Bucket, buckets } from '@causeway/proto';
import { acrossTenants } from '@causeway/runtime';
import { sql } from 'kysely';
import { companyLimitColumns, companyLimitsNow, limitColumns } from '../key-table/entries.ts';
import type { NoticesContext } from './context.ts';

const minuteMs = 60_000;
/** Gateways report within seconds; each pass looks back further than the pause between two passes. */
const lookBackMs = 5 * minuteMs;
const nearShare = 0.8;

/** Keys that used most of a limit in one of the latest minutes, or were over it. Each is told once a day for a key and limit. */
export const noteNearLimits = async ({ db, now, limits }: NoticesContext): Promise<void> => {
  const at = now();
  const configured = (bucket: Bucket): number => limits[bucket] ?? limits.read;
  const limitSql = (bucket: Bucket) => sql`WHEN ${bucket} THEN COALESCE(${sql.ref(`apiKey.limit_${bucket}`)},
    ${sql.ref(`company.limit_${bucket}`)}, ${configured(bucket)})`;
  const rows = await acrossTenants(db, 'keys of all companies come near their limits')
    .selectFrom('request_minutes as used')
    .innerJoin('api_keys as apiKey', (join) =>
      join.onRef('apiKey.company_id', '=', 'used.company_id').onRef('apiKey.id', '=', 'used.key_id'),
    )
    .innerJoin('companies as company', 'company.company_id', 'used.company_id')
    .select(['used.company_id', 'used.key_id', 'used.bucket', 'used.minute_utc', 'used.answered'])
    .select(['used.limited', 'apiKey.name'])
    .select(limitColumns.map((column) => `apiKey.${column} as key_${column}` as const))
    .select(companyLimitColumns.map((column) => `company.${column}` as const))
    .where('used.minute_utc', '>=', new Date(at.getTime() - lookBackMs))
    .where(
      sql<boolean>`(used.limited > 0 OR used.answered >= ${nearShare} * CASE used.bucket
        ${sql.join(buckets.map(limitSql), sql` `)} END)`,
    )
    .execute();
  // A temporary limit of the company may be higher.
  const near = rows.flatMap((row) => {
    const { bucket } = row;
    const ofCompany = companyLimitsNow(row, row.minute_utc)[bucket];
    const limit = row[`key_limit_${bucket}`] ?? ofCompany ?? configured(bucket);
    return row.limited > 0 || row.answered >= limit * nearShare ? [{ ...row, limit }] : [];
  });
  for (const [companyId, ofCompany] of Map.groupBy(near, (row) => row.company_id))
    await writeNotices(
      db,
      ofCompany.map(({ key_id, name, bucket, minute_utc, answered, limited, limit }) => ({
        companyId,
        kind: 'limit_near',
        cause: `limit_near:${key_id}:${bucket}:${minute_utc.toISOString().slice(0, 10)}${limited > 0 ? ':over' : ''}`,
        subject: { id: key_id, name },
        detail: {
          ...{ bucket, used: answered + limited, limited, limit },
          minute: minute_utc.toISOString().slice(11, 16),
        },
        at,
      })),
    );
};
