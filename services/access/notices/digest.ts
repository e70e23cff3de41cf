import { writeNotices } from '@causeway/identity';
import { acrossTenants, type Trx } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';
import type { NoticesContext } from './context.ts';
import type { NoticeRow } from './words.ts';

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** 1970-01-05 was the first Monday. */
const firstMondayMs = 4 * dayMs;
const hoursMs = 8 * 3_600_000;

/** The latest Monday at 08:00 UTC. */
export const digestTimeBefore = (now: Date): Date => {
  const first = firstMondayMs + hoursMs;
  return new Date(first + Math.floor((now.getTime() - first) / weekMs) * weekMs);
};

/** Once a week for every company that is older than a week; a process that starts later makes up for it. */
export const createDigests = ({ db, now }: Pick<NoticesContext, 'db' | 'now'>): (() => Promise<void>) => {
  let doneMs = 0;
  return async () => {
    const at = digestTimeBefore(now());
    if (at.getTime() === doneMs) return;
    for (let after = 0; ; ) {
      const companies = await acrossTenants(db, 'each company gets a weekly digest')
        .selectFrom('companies')
        .select(['company_id', 'name'])
        .where('company_id', '>', after)
        .where('created_utc', '<', new Date(at.getTime() - weekMs))
        .orderBy('company_id')
        .limit(pageRows)
        .execute();
      for (const { company_id, name } of companies)
        await writeNotices(db, [
          {
            companyId: company_id,
            kind: 'weekly_digest',
            cause: `weekly_digest:${dayOf(at)}`,
            subject: { id: null, name },
            at,
          },
        ]);
      if (companies.length < pageRows) break;
      after = companies.at(-1)!.company_id;
    }
    doneMs = at.getTime();
  };
};

const pageRows = 1000;

/** The seven days before the Monday on which it was created; null if nothing happened. */
export const digestOf = async (
  trx: Trx<AccessTables>,
  companyId: number,
  { created_utc }: Pick<NoticeRow, 'created_utc'>,
) => {
  const until = new Date(Math.floor(created_utc.getTime() / dayMs) * dayMs);
  const from = new Date(until.getTime() - weekMs);
  const requests = await trx
    .selectFrom('request_minutes')
    .select(({ fn }) => [fn.sum('answered').as('answered'), fn.sum('limited').as('limited')])
    .where('company_id', '=', companyId)
    .where('minute_utc', '>=', from)
    .where('minute_utc', '<', until)
    .executeTakeFirstOrThrow();
  const attempts = await trx
    .selectFrom('delivery_minutes')
    .select(({ fn }) => [fn.sum('succeeded').as('succeeded'), fn.sum('failed').as('failed')])
    .where('company_id', '=', companyId)
    .where('minute_utc', '>=', from)
    .where('minute_utc', '<', until)
    .executeTakeFirstOrThrow();
  const limited = Number(requests.limited ?? 0);
  const counts = {
    requests: Number(requests.answered ?? 0) + limited,
    limited,
    succeeded: Number(attempts.succeeded ?? 0),
    failed: Number(attempts.failed ?? 0),
  };
  if (Object.values(counts).every((value) => value === 0)) return null;
  return { ...counts, from: dayOf(from), until: dayOf(new Date(until.getTime() - dayMs)) };
};

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
