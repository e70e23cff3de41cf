import { type BodyOf, contract, invalid, notFound, Problem, updateProblems } from '@causeway/proto';
import { type Answer, json } from '@causeway/runtime';
import type { ActionsContext } from '../context.ts';
import type { Store } from '../store/store.ts';
import { affiliateRoleId } from '../tables.ts';
import type { Action } from './action.ts';
import { rateText } from './create-affiliate.ts';
import { handleAction } from './handle.ts';
import { applyFields, differs, externalIdTakenError, externalName, recordName } from './person.ts';

type Body = BodyOf<typeof contract.updateAffiliate>;

export const updateAffiliate = (context: ActionsContext) =>
  handleAction(context, contract.updateAffiliate, 'affiliate', changeAffiliate(context.store));

/** Changes the sent fields of affiliates. Employees who are not affiliates are not found. */
const changeAffiliate = (store: Store): Action<Body, Answer> => ({
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
      const after = { ...applyFields(row, sentFields(body)), updated_utc: now };
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

const sentFields = ({ commission_rate, is_active, is_approved, ...rest }: Body) => ({
  ...rest,
  commission_rate: rateText(commission_rate),
  is_active: flag(is_active),
  is_approved: flag(is_approved),
});

const flag = (value: boolean | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);
