import { type BodyOf, contract, invalidField } from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import { newEvent } from '../events/event-log.ts';
import type { AffiliateRow, Store } from '../store/store.ts';
import { affiliateRoleId } from '../tables.ts';
import type { Action, Outcome, Submission } from './action.ts';
import { affiliateCode } from './affiliate-code.ts';
import { handleAction } from './handle.ts';
import { applyFields, differs, externalIdTakenError, externalName } from './person.ts';

type Body = BodyOf<typeof contract.createAffiliate>;

export const createAffiliate = (context: ActionsContext) =>
  handleAction(context, contract.createAffiliate, null, makeAffiliate(context.store, context.random));

/** Creates affiliates. If an affiliate with the `external_id` exists, applies the sent fields to it instead. */
const makeAffiliate = (store: Store, random: ActionsContext['random']): Action<Body, Answer> => ({
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
    const rowOf = ({ companyId, body }: Submission<Body>) =>
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
    const outcomes = new Map<Submission<Body>, Outcome<Answer>>([
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

const newRow = ({ companyId, body }: Submission<Body>, code: string, now: Date) => ({
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
const sentFields = ({ affiliate_code, commission_rate, ...rest }: Body) => ({
  ...rest,
  ...(affiliate_code && { affiliate_code }),
  commission_rate: rateText(commission_rate),
});

/** MySQL's DECIMAL is read and written as text. */
export const rateText = (rate: number | null | undefined): string | null | undefined =>
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
