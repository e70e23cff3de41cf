import { maskKey } from '@causeway/identity';
import { type AnswerTo, type Bucket, contract, rangeMinutes } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Access } from '../context.ts';
import { companyLimitColumns, companyLimitsNow, type LimitRow, limitColumns } from '../key-table/entries.ts';
import { selectCompany } from '../rows.ts';

type Usage = AnswerTo<'getUsage'>;

const minuteMs = 60_000;

export const getUsage = (access: Access) =>
  handler(contract.getUsage, async ({ companyId, query }) => {
    const { range, keyId } = query;
    const { total, step } = rangeMinutes[range];
    const stepMs = step * minuteMs;
    // Steps begin at whole multiples, so that a chart's points stay in place between two looks.
    const untilMs = (Math.floor(access.now().getTime() / stepMs) + 1) * stepMs;
    const fromMs = untilMs - total * minuteMs;
    const rows = await readSteps(access, { companyId, keyId, fromMs, untilMs, step });
    const { company, keys } = await readLimits(access, companyId);
    const { limits } = access.portal;
    const ofCompany = companyLimitsNow(company, access.now());
    const defaults = { ...limits, lookup: limits.lookup ?? limits.read };
    const limitOf = (bucket: Bucket, key?: LimitRow): number =>
      key?.[`limit_${bucket}`] ?? ofCompany[bucket] ?? defaults[bucket];

    const lookupsApart =
      (ofCompany.lookup ?? limits.lookup) !== null || rows.some(({ bucket }) => bucket === 'lookup');
    const shown: readonly Bucket[] = lookupsApart ? [...counted, 'lookup'] : counted;
    return json(200, {
      range,
      buckets: shown.map((bucket) => {
        const ofBucket = rows.filter((row) => row.bucket === bucket);
        const points = Array.from({ length: total / step }, (_, at) => ({
          utc: new Date(fromMs + at * stepMs).toISOString(),
          ...zero(),
        }));
        for (const row of ofBucket) {
          const point = points[row.at];
          if (point) add(point, row);
        }
        return { bucket, limitPerMinute: limitOf(bucket), ...sum(ofBucket), points };
      }),
      keys: [...Map.groupBy(rows, (row) => row.key_id)]
        .flatMap(([id, ofKey]) => {
          const key = keys.get(id);
          if (!key) return [];
          const { name, prefix, last4, is_active } = key;
          const buckets = shown.flatMap((bucket) => {
            const own = ofKey.filter((row) => row.bucket === bucket);
            if (own.length === 0) return [];
            return { bucket, limitPerMinute: limitOf(bucket, key), ...sum(own) };
          });
          const masked = maskKey({ prefix, companyId, last4 });
          return [{ id, name, masked, isActive: is_active === 1, buckets }];
        })
        .toSorted((a, b) => requests(b) - requests(a)),
    } satisfies Usage);
  });

const counted = ['read', 'write', 'admin'] as const;

interface Counts {
  answered: number;
  limited: number;
  failed: number;
}
interface StepRow extends Counts {
  readonly key_id: number;
  readonly bucket: Bucket;
  /** Number of the step in the range. */
  readonly at: number;
  readonly peak: number;
}

interface Wanted {
  readonly companyId: number;
  readonly keyId: number | undefined;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly step: number;
}

const readSteps = async (
  { db }: Access,
  { companyId, keyId, fromMs, untilMs, step }: Wanted,
): Promise<StepRow[]> => {
  const from = new Date(fromMs);
  const at = sql<number>`FLOOR(TIMESTAMPDIFF(MINUTE, ${from}, minute_utc) / ${step})`;
  const rows = await db
    .selectFrom('request_minutes')
    .select((eb) => [
      'key_id',
      'bucket',
      at.as('at'),
      eb.fn.sum<number>('answered').as('answered'),
      eb.fn.sum<number>('limited').as('limited'),
      eb.fn.sum<number>('failed').as('failed'),
      sql<number>`MAX(IF(peak > 0, peak, answered + limited))`.as('peak'),
    ])
    .where('company_id', '=', companyId)
    .where('minute_utc', '>=', from)
    .where('minute_utc', '<', new Date(untilMs))
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId!))
    .groupBy(['key_id', 'bucket', 'at'])
    .execute();
  return rows.map((row) => ({
    key_id: row.key_id,
    bucket: row.bucket,
    at: Number(row.at),
    answered: Number(row.answered),
    limited: Number(row.limited),
    failed: Number(row.failed),
    peak: Number(row.peak),
  }));
};

const readLimits = async ({ db }: Access, companyId: number) => {
  const company = await selectCompany(db, companyId).select(companyLimitColumns).executeTakeFirstOrThrow();
  const keys = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'prefix', 'last4', 'is_active', ...limitColumns])
    .where('company_id', '=', companyId)
    .execute();
  return { company, keys: new Map(keys.map((key) => [key.id, key])) };
};

const zero = (): Counts => ({ answered: 0, limited: 0, failed: 0 });
const add = (to: Counts, { answered, limited, failed }: Counts): void => {
  to.answered += answered;
  to.limited += limited;
  to.failed += failed;
};
const sum = (rows: readonly StepRow[]) => {
  const total = { ...zero(), peakPerMinute: 0 };
  for (const row of rows) {
    add(total, row);
    total.peakPerMinute = Math.max(total.peakPerMinute, row.peak);
  }
  return total;
};
const requests = ({ buckets }: { readonly buckets: readonly Counts[] }): number =>
  buckets.reduce((total, { answered, limited }) => total + answered + limited, 0);

/** The first call, as precisely as calls are counted; if it is older than the counts, the key's last use. */
export const getFirstSteps = ({ db }: Access) =>
  handler(contract.getFirstSteps, async ({ companyId }) => {
    const keys = await db
      .selectFrom('api_keys')
      .select((eb) => [eb.fn.min('created_utc').as('created'), eb.fn.min('last_used_utc').as('used')])
      .where('company_id', '=', companyId)
      .executeTakeFirst();
    const calls = await db
      .selectFrom('request_minutes')
      .select((eb) => eb.fn.min('minute_utc').as('first'))
      .where('company_id', '=', companyId)
      .executeTakeFirst();
    const first = calls?.first ?? keys?.used;
    // Of an old call, only the hour is known.
    const counted = first && keys?.created && first < keys.created ? keys.created : first;
    // Requests are counted some ten seconds later than they are listed.
    const listed = counted
      ? undefined
      : await db
          .selectFrom('request_log')
          .select('created_utc')
          .where('company_id', '=', companyId)
          .limit(1)
          .executeTakeFirst();
    return json(200, {
      keyCreatedUtc: keys?.created ?? null,
      firstCallUtc: counted ?? listed?.created_utc ?? null,
    });
  });
