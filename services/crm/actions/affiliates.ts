import {
  type BodyOf,
  contract,
  invalid,
  invalidField,
  notFound,
  Problem,
  updateProblems,
} from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { newEvent } from '../events/event-log.ts';
import type { AffiliateRow, Store } from '../store/store.ts';
import { affiliateRoleId } from '../tables.ts';
import { type Action, handleAction, type Outcome, type Submission } from './action.ts';
import { applyFields, differs, externalIdTakenError, externalName, recordName } from './person.ts';

type NewAffiliate = BodyOf<typeof contract.createAffiliate>;

export const createAffiliate = (context: ActionsContext) =>
  handleAction(context, contract.createAffiliate, null, makeAffiliate(context.store, context.random));

export const updateAffiliate = (context: ActionsContext) =>
  handleAction(context, contract.updateAffiliate, 'affiliate', changeAffiliate(context.store));

/** Creates affiliates. If an affiliate with the `external_id` exists, applies the sent fields to it instead. */
const makeAffiliate = (store: Store, random: ActionsContext['random']): Action<NewAffiliate, Answer> => ({
  turns: ({ companyId, body }) =>
    body.external_id ? [externalName('affiliate', companyId, body.external_id)] : [],
  run: async ({ trx, now }, submissions) => {
    const named = submissions.flatMap(({ companyId, body }) =>
      body.external_id ? [{ company_id: companyId, external_id: body.external_id }] : [],
    );
    const rows = await store.affiliates.lockByExternalId(trx, named);
    const existing = new Map(
      rows.map((row) => [externalName('affiliate', row.company_id, row.external_id ?? ''), row]),
    );
    const rowOf = ({ companyId, body }: Submission<NewAffiliate>) =>
      body.external_id ? existing.get(externalName('affiliate', companyId, body.external_id)) : undefined;

    const made = submissions
      .filter((one) => !rowOf(one))
      .map((one) => ({ one, row: newRow(one, affiliateCode(random), now) }));
    const idAt = await store.affiliates.insert(
      trx,
      made.map(({ row }) => row),
    );
    const met = submissions.flatMap((one) => {
      const row = rowOf(one);
      return row?.role_id === affiliateRoleId
        ? [{ one, before: row, row: { ...applyFields(row, sentFields(one.body)), updated_utc: now } }]
        : [];
    });
    await store.affiliates.update(
      trx,
      met.filter(({ before, row }) => differs(before, row)).map(({ row }) => row),
    );
    const outcomes = new Map<Submission<NewAffiliate>, Outcome<Answer>>([
      ...made.map(
        ({ one, row }, at) =>
          [one, madeOutcome(row.company_id, () => ({ ...row, employee_id: idAt(at) }))] as const,
      ),
      ...met.map(({ one, row }) => [one, { result: answer(200, row) }] as const),
    ]);
    // The remaining external ids belong to employees who are not affiliates.
    return submissions.map(
      (one) => outcomes.get(one) ?? { result: externalIdTakenError('employee_id', rowOf(one)?.employee_id) },
    );
  },
  onTaken: async (key, { body: { affiliate_code } }) =>
    key === 'affiliate_code' && affiliate_code
      ? invalidField('affiliate_code', 'affiliate_code is already in use')
      : undefined,
});

const newRow = ({ companyId, body }: Submission<NewAffiliate>, code: string, now: Date) => ({
  company_id: companyId,
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
  created_utc: now,
  updated_utc: now,
});

/** An affiliate always has a code: null keeps the current one. */
const sentFields = ({ affiliate_code, commission_rate, ...rest }: NewAffiliate) => ({
  ...rest,
  ...(affiliate_code && { affiliate_code }),
  commission_rate: rateText(commission_rate),
});

/** MySQL's DECIMAL is read and written as text. */
const rateText = (rate: number | null | undefined): string | null | undefined =>
  rate?.toFixed(2) ?? (rate as null | undefined);

const answer = (status: number, row: AffiliateRow): Answer =>
  json(status, {
    employee_id: row.employee_id,
    affiliate_code: row.affiliate_code,
    is_approved: row.is_approved === 1,
    created_utc: row.created_utc,
  });

const madeOutcome = (companyId: number, inserted: () => AffiliateRow): Outcome<Answer> => ({
  result: () => answer(201, inserted()),
  events: [newEvent(companyId, 'affiliate.created', () => createdPayload(inserted()))],
});

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

/** Changes the sent fields of affiliates. Employees who are not affiliates are not found. */
const changeAffiliate = (store: Store): Action<AffiliateChanges, Answer> => ({
  turns: ({ companyId, recordId, body }) => [
    recordName('affiliate', companyId, recordId),
    ...(body.external_id ? [externalName('affiliate', companyId, body.external_id)] : []),
  ],
  run: async ({ trx, now }, submissions) => {
    const rows = await store.affiliates.lockById(
      trx,
      submissions.map(({ companyId, recordId }) => ({ company_id: companyId, employee_id: recordId })),
    );
    const affiliates = new Map(
      rows
        .filter((row) => row.role_id === affiliateRoleId)
        .map((row) => [recordName('affiliate', row.company_id, row.employee_id), row]),
    );
    const changed = submissions.map(({ companyId, recordId, body }) => {
      const row = affiliates.get(recordName('affiliate', companyId, recordId));
      if (!row) return notFound('affiliate');
      const problems = updateProblems(body, { ...row });
      if (problems.length > 0) return invalid(problems);
      const after = { ...applyFields(row, changedFields(body)), updated_utc: now };
      return differs(row, after) ? after : row;
    });
    await store.affiliates.update(
      trx,
      changed.flatMap((row) => (row instanceof Problem || row.updated_utc !== now ? [] : [row])),
    );
    return changed.map((row) => ({
      result:
        row instanceof Problem
          ? row
          : json(200, { success: true, updated_utc: row.updated_utc, employee_id: row.employee_id }),
    }));
  },
  onTaken: async (_, { companyId, body }, db) => {
    const holder = await store.affiliates.holderOf(db, companyId, body.external_id!).catch(() => undefined);
    return externalIdTakenError('employee_id', holder);
  },
});

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

/**
 * A code that can be read out on the phone: 8 of 31 characters, about 40 bits. The unique key catches the rare
 * collision within a company.
 * @param random secure random bytes; bytes that would favour a character are skipped.
 */
const affiliateCode = (random: (bytes: number) => Uint8Array): string => {
  const fair = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < length)
    for (const byte of random(length))
      if (byte < fair && code.length < length) code += alphabet[byte % alphabet.length];
  return code;
};
