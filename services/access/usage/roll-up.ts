import { acrossTenants, eachAlone, transaction } from '@causeway/runtime';
import { type Selectable, sql } from 'kysely';
import type { Access } from '../context.ts';
import type { AccessTables } from '../schema.ts';

const hourMs = 3_600_000;
/** Longer than any range of the portal that shows minutes. */
const minutesKeptMs = 48 * hourMs;
/** Of hours that were missed for longer, the minutes stay until they expire. */
const lookBackMs = 72 * hourMs;
const hoursAtOnce = 500;

/**
 * One row for each hour, key and bucket in place of sixty: the row of its first minute. An hour is one transaction, so a killed process
 * leaves its minutes, and a count that comes late is added to its hour by the next pass. Replicas may run it at once.
 * @returns how many hours it rolled up
 */
export const rollUpMinutes = async ({ db, now }: Pick<Access, 'db' | 'now'>): Promise<number> => {
  const until = new Date(Math.floor((now().getTime() - minutesKeptMs) / hourMs) * hourMs);
  const hour = sql<Date>`minute_utc - INTERVAL MINUTE(minute_utc) MINUTE`;
  const due = await acrossTenants(db, 'minutes of all companies become hours')
    .selectFrom('request_minutes')
    .select(['company_id', hour.as('hour')])
    .distinct()
    .where('minute_utc', '>=', new Date(until.getTime() - lookBackMs))
    .where('minute_utc', '<', until)
    .where(sql<boolean>`MINUTE(minute_utc) > 0`)
    .orderBy('company_id')
    .orderBy('hour')
    .limit(hoursAtOnce)
    .execute();
  await eachAlone(due, ({ company_id, hour }) => rollUpHour(db, company_id, hour));
  return due.length;
};

const rollUpHour = (db: Access['db'], companyId: number, hour: Date): Promise<void> =>
  transaction(db, async (trx) => {
    const end = new Date(hour.getTime() + hourMs);
    const rows = await trx
      .selectFrom('request_minutes')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('minute_utc', '>=', hour)
      .where('minute_utc', '<', end)
      .forUpdate()
      .execute();
    const hours = [...Map.groupBy(rows, ({ key_id, bucket }) => `${key_id} ${bucket}`).values()].map(sumOf);
    if (hours.length === 0) return;
    await trx
      .deleteFrom('request_minutes')
      .where('company_id', '=', companyId)
      .where('minute_utc', '>=', hour)
      .where('minute_utc', '<', end)
      .execute();
    await trx
      .insertInto('request_minutes')
      .values(hours.map((row) => ({ ...row, minute_utc: hour })))
      .execute();
  });

type Row = Selectable<AccessTables['request_minutes']>;

const sumOf = (rows: readonly Row[]): Row => {
  const sum = (countOf: (row: Row) => number): number => rows.reduce((total, row) => total + countOf(row), 0);
  return {
    ...rows[0]!,
    answered: sum(({ answered }) => answered),
    limited: sum(({ limited }) => limited),
    failed: sum(({ failed }) => failed),
    peak: Math.max(...rows.map(({ peak, answered, limited }) => peak || answered + limited)),
  };
};
