import {
  type AnswerTo,
  type AuditSource,
  byOperator,
  changes,
  contract,
  invalidField,
  notFound,
  type TemporaryLimits,
} from '@causeway/proto';
import { handler, json, transaction } from '@causeway/runtime';
import { audit } from './audit.ts';
import type { Access } from './context.ts';
import {
  companyEntry,
  companyEntryColumns,
  type companyLimitColumns,
  companyName,
  type LimitRow,
  publishKey,
  temporaryOf,
} from './key-table/entries.ts';
import { changeRow } from './keys/change-key.ts';
import { limitsAnswer, readKey } from './keys/key-answers.ts';
import { companyOfKey } from './keys/keys.ts';
import { selectCompany, updateCompany } from './rows.ts';
import type { RowOf } from './schema.ts';

type CompanyLimitRow = RowOf<'companies', typeof companyLimitColumns>;

/** A limit that is not named stays; null resets it to the configured one. */
export const setLimits = (access: Access) =>
  handler(contract.setLimits, async ({ body, requestId }) => {
    const { company_id, id, read, write, admin, lookup, until } = body;
    const set = {
      ...(read !== undefined && { limit_read: read }),
      ...(write !== undefined && { limit_write: write }),
      ...(admin !== undefined && { limit_admin: admin }),
      ...(lookup !== undefined && { limit_lookup: lookup }),
    };
    const by = byOperator(requestId);
    if (until !== undefined) {
      const limits = { read, write, admin, lookup } as TemporaryLimits['limits'];
      const temporary = until === null ? null : { untilMs: minuteAfter(until, access.now()), limits };
      const set = { temporary_limits: temporary && JSON.stringify(temporary) };
      return json<AnswerTo<'setLimits'>>(200, await ofCompany(access, company_id!, set, by));
    }
    return json<AnswerTo<'setLimits'>>(
      200,
      await (id === undefined ? ofCompany(access, company_id!, set, by) : ofKey(access, id, set, by)),
    );
  });

const ofCompany = async (
  { db, table, now }: Access,
  company_id: number,
  set: Partial<CompanyLimitRow>,
  by: AuditSource,
) => {
  const row = await transaction(db, async (trx) => {
    const find = () =>
      selectCompany(trx, company_id)
        .select([...companyEntryColumns, 'name'])
        .forUpdate()
        .executeTakeFirstOrThrow(() => notFound('company'));
    const before = await find();
    await updateCompany(trx, company_id)
      .set((eb) => ({ ...set, version: eb('version', '+', 1) }))
      .execute();
    const after = await find();
    const author = { companyId: company_id, by, at: now() };
    const target = ['company', company_id, before.name] as const;
    await audit(trx, author, 'limits.changed', target, changes(companyLimits(before), companyLimits(after)));
    return after;
  });
  await table.publish(companyName(row), companyEntry(row));
  const { temporary, ...limits } = companyLimits(row);
  return { company_id, limits, ...(temporary && { temporary }) };
};

const ofKey = async (access: Access, id: number, set: Partial<LimitRow>, by: AuditSource) => {
  const { db, table, now } = access;
  const company_id = await companyOfKey(access, id);
  const row = await transaction(db, async (trx) => {
    const before = await readKey(trx, company_id, id, true);
    const after = await changeRow(trx, { company_id, id }, set);
    const author = { companyId: company_id, by, at: now() };
    await audit(trx, author, 'limits.changed', ['key', id, before.name], limitChanges(before, after));
    return after;
  });
  await publishKey(table, row);
  return { company_id, id, limits: limitsAnswer(row) };
};

const companyLimits = (row: CompanyLimitRow) => {
  const { temporary_limits: text } = row;
  const { untilMs, limits } = text === null ? ({} as Partial<TemporaryLimits>) : temporaryOf(text);
  return {
    ...limitsAnswer(row),
    ...(untilMs && { temporary: { until: new Date(untilMs).toISOString(), limits: limits! } }),
  };
};

/** @returns the end of that minute, because limits are counted by the minute. */
const minuteAfter = (until: string, now: Date): number => {
  const leftMs = Date.parse(until) - now.getTime();
  if (leftMs > 0 && leftMs <= longestMs) return Math.ceil(Date.parse(until) / 60_000) * 60_000;
  throw invalidField('until', 'out_of_range', 'until must be in the future, and at most 31 days away');
};
const longestMs = 31 * 86_400_000;

const limitChanges = (before: LimitRow, after: LimitRow) =>
  changes(limitsAnswer(before), limitsAnswer(after));
