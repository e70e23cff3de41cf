import { randomText } from '@causeway/identity';
import { type BodyOf, contract, invalid, notFound, type Problem, updateProblems } from '@causeway/proto';
import type { Answer, Trx } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { newEvent } from '../events/event-log.ts';
import { type AffiliateRow, affiliates, codeHolderOf, holderOf } from '../store/store.ts';
import { affiliateRoleId, type Tables } from '../tables.ts';
import {
  type Action,
  type Change,
  isChange,
  refusalOf,
  refusing,
  type Submission,
  timeOfChange,
  versionedAnswer,
} from './action.ts';
import { handleAction } from './handle-action.ts';
import { externalIdTakenError, inUseError, withChanges } from './person.ts';

type NewAffiliate = BodyOf<typeof contract.createAffiliate>;

export const createAffiliate = (context: ActionsContext) =>
  handleAction(context, contract.createAffiliate, null, makeAffiliate(context.random));

export const updateAffiliate = (context: ActionsContext) =>
  handleAction(context, contract.updateAffiliate, 'affiliate', affiliateUpdates.update);

interface AffiliateChange extends Change {
  /** Without a `before`, it is new. */
  readonly before?: AffiliateRow;
  readonly after: AffiliateRow;
}

/** If an affiliate with the `external_id` exists, applies the sent fields to it instead. */
export const makeAffiliate = (
  random: ActionsContext['random'],
): Action<NewAffiliate, Answer, AffiliateChange> => ({
  locks: ({ body }) => ({ affiliateByExternalId: body.external_id }),
  makes: 'affiliates',
  mayCauseEvent: true,
  change: async (group, submissions) => {
    const { trx, now, locked, ids } = group;
    const isNew = (one: Submission<NewAffiliate>): boolean => !locked.get(one)?.affiliateByExternalId;
    const newIds = [...(await ids.affiliates.take(submissions.filter(isNew).length))];
    const changes = submissions.map((submission): AffiliateChange | Problem => {
      const before = locked.get(submission)?.affiliateByExternalId;
      if (before && before.role_id !== affiliateRoleId)
        return externalIdTakenError('employee_id', before.employee_id);
      const refused = refusalOf(group, submission, 'employee_id', before);
      if (refused) return refused;
      if (before) {
        const fields = sentFields(submission.body, before, random);
        return changedAffiliate(
          before,
          withChanges(before, fields, submission, timeOfChange(group, 'employees', submission)),
        );
      }
      const after = newRow(submission, newIds.shift()!, affiliateCode(random), now);
      const event = newEvent(submission.companyId, 'affiliate.created', createdPayload(after));
      return { isNew: true, after, events: [event], changed: true };
    });
    const valid = changes.filter(isChange);
    await writeChanged(trx, valid);
    await affiliates.insert(
      trx,
      valid.filter(({ isNew }) => isNew).map(({ after }) => after),
    );
    return changes;
  },
  answer: ({ isNew, after }) => {
    const { employee_id, affiliate_code, is_approved, created_utc } = after;
    const shown = { employee_id, affiliate_code, is_approved: is_approved === 1, created_utc };
    return versionedAnswer(isNew ? 201 : 200, shown, after);
  },
  onTaken: async (key, { companyId, body: { affiliate_code } }, db) =>
    key === 'affiliate_code' && affiliate_code
      ? inUseError('affiliate_code', 'employee_id', await codeHolderOf(db, companyId, affiliate_code))
      : undefined,
});

const changedAffiliate = (before: AffiliateRow, after: AffiliateRow): AffiliateChange => ({
  before,
  after,
  changed: after !== before,
});

const writeChanged = (trx: Trx<Tables>, changes: readonly AffiliateChange[]): Promise<void> =>
  affiliates.update(
    trx,
    changes.filter(({ before, after }) => before && before !== after).map(({ after }) => after),
  );

const newRow = (
  { companyId, body, origin }: Submission<NewAffiliate>,
  employee_id: number,
  code: string,
  now: Date,
) => ({
  company_id: companyId,
  employee_id,
  role_id: affiliateRoleId,
  first_name: body.first_name,
  last_name: body.last_name,
  email: body.email,
  phone: body.phone ?? null,
  affiliate_code: body.affiliate_code ?? code,
  commission_rate: rateText(body.commission_rate) ?? null,
  affiliate_company_name: body.affiliate_company_name ?? null,
  is_active: 1,
  is_approved: 0,
  external_id: body.external_id ?? null,
  version: 1,
  origin,
  created_utc: now,
  updated_utc: now,
});

/** Null keeps the current code; an affiliate that another module of the CRM made may have none yet. */
const sentFields = (
  { affiliate_code, commission_rate, ...rest }: NewAffiliate,
  before: AffiliateRow,
  random: ActionsContext['random'],
) => ({
  ...rest,
  affiliate_code: affiliate_code ?? before.affiliate_code ?? affiliateCode(random),
  commission_rate: rateText(commission_rate),
});

/** MySQL's DECIMAL is read and written as text. */
const rateText = (rate: number | null | undefined): string | null | undefined =>
  rate?.toFixed(2) ?? (rate as null | undefined);

const createdPayload = (row: AffiliateRow) => ({
  employee_id: row.employee_id,
  first_name: row.first_name,
  last_name: row.last_name,
  email: row.email,
  phone: row.phone ?? '',
  affiliate_code: row.affiliate_code ?? '',
  affiliate_company_name: row.affiliate_company_name,
  commission_rate: row.commission_rate === null ? null : Number(row.commission_rate),
  is_approved: row.is_approved === 1,
  created_date: row.created_utc.toISOString(),
});

type AffiliateChanges = BodyOf<typeof contract.updateAffiliate>;

/** Employees who are not affiliates are not found. */
const affiliateUpdate = (
  name: 'affiliateById' | 'affiliateByExternalId',
): Action<AffiliateChanges, Answer, AffiliateChange> => ({
  locks: ({ recordId, externalId }) => ({ [name]: name === 'affiliateById' ? recordId : externalId }),
  takes: ({ body }) => ({ affiliateByExternalId: body.external_id }),
  change: async (group, submissions) => {
    const { trx, locked } = group;
    const changes = submissions.map((submission): AffiliateChange | Problem => {
      const before = locked.get(submission)?.[name];
      if (before?.role_id !== affiliateRoleId) return notFound('affiliate');
      const refused = refusalOf(group, submission, 'employee_id', before);
      if (refused) return refused;
      const problems = refusing(submission, updateProblems(submission.body, { ...before }));
      if (problems.length > 0) return invalid(problems);
      return changedAffiliate(
        before,
        withChanges(
          before,
          changedFields(submission.body),
          submission,
          timeOfChange(group, 'employees', submission),
        ),
      );
    });
    await writeChanged(trx, changes.filter(isChange));
    return changes;
  },
  answer: ({ after }) => {
    const { updated_utc, employee_id } = after;
    return versionedAnswer(200, { success: true, updated_utc, employee_id }, after);
  },
  onTaken: async (_, { companyId, body }, db) =>
    externalIdTakenError(
      'employee_id',
      await holderOf(db, ['employees', 'employee_id'], companyId, body.external_id!),
    ),
});

/** Two, as those of people. */
export const affiliateUpdates = {
  update: affiliateUpdate('affiliateById'),
  updateNamed: affiliateUpdate('affiliateByExternalId'),
};

const changedFields = ({ commission_rate, is_active, is_approved, ...rest }: AffiliateChanges) => ({
  ...rest,
  commission_rate: rateText(commission_rate),
  is_active: flag(is_active),
  is_approved: flag(is_approved),
});

const flag = (value: boolean | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);

/** Digits and capitals, without those that are easily confused: 0 and O, 1, I and L. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const length = 8;

/** About 40 bits. The unique key catches the rare collision within a company. */
const affiliateCode = (random: ActionsContext['random']): string => randomText(random, alphabet, length);
