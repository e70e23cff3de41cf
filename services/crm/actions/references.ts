import type { Detail } from '@causeway/proto';
import type { StatusReference } from '@causeway/proto/schemas';
import type { Kysely } from 'kysely';
import { affiliateRoleId, type Tables } from '../tables.ts';
import type { createStatusReader, Statuses, StatusRow } from './statuses.ts';

/** The company's rows that a body refers to, by the field that names them. */
export interface References {
  readonly people?: Readonly<Record<string, number | null | undefined>>;
  /** If several are given, they must agree. */
  readonly statuses?: Readonly<Record<string, StatusReference | null | undefined>>;
  readonly statusKind?: 'lead' | 'client';
}

export interface Referring {
  readonly companyId: number;
  readonly references: References;
}

/** The references of a group, looked up. */
export interface Known {
  readonly statuses: Statuses;
  /** Every error in the references; empty if there is none. */
  problems(referring: Referring): readonly Detail[];
}

/**
 * Looks up everything that a group refers to, in at most two round trips.
 * @param ahead the statuses, if they were read before the transaction.
 */
export const lookUp = async (
  db: Kysely<Tables>,
  reader: Pick<ReturnType<typeof createStatusReader>, 'read'>,
  group: readonly Referring[],
  ahead?: readonly StatusRow[],
): Promise<Known> => {
  const statuses = await reader.read(db, companiesOf(group), ahead);
  const roles = await readRoles(db, group);
  return {
    statuses,
    problems: ({ companyId, references }) => [
      ...peopleProblems(references, (id) => roles.get(`${companyId}:${id}`)),
      ...statusProblems(references, (reference) => statuses.find(companyId, reference)),
    ],
  };
};

export const companiesOf = (group: readonly Pick<Referring, 'companyId'>[]): readonly number[] => [
  ...new Set(group.map(({ companyId }) => companyId)),
];

const readRoles = async (
  db: Kysely<Tables>,
  group: readonly Referring[],
): Promise<ReadonlyMap<string, number>> => {
  const wanted = new Map<string, readonly [number, number]>();
  for (const { companyId, references } of group)
    for (const id of Object.values(references.people ?? {}))
      if (id) wanted.set(`${companyId}:${id}`, [companyId, id]);
  if (wanted.size === 0) return new Map();
  const rows = await db
    .selectFrom('employees')
    .select(['company_id', 'employee_id', 'role_id'])
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('company_id', 'employee_id'),
        'in',
        [...wanted.values()].map(([companyId, id]) => tuple(companyId, id)),
      ),
    )
    .where('is_active', '=', 1)
    .execute();
  return new Map(rows.map((row) => [`${row.company_id}:${row.employee_id}`, row.role_id]));
};

const peopleProblems = ({ people = {} }: References, roleOf: (id: number) => number | undefined): Detail[] =>
  Object.entries(people).flatMap(([field, id]) => {
    if (!id) return [];
    const role = roleOf(id);
    if (field === 'affiliate_id')
      return role === affiliateRoleId
        ? []
        : [{ field, message: `${field} must be an active affiliate of the company` }];
    return role === undefined
      ? [{ field, message: `${field} must be an active employee of the company` }]
      : [];
  });

const statusProblems = (
  { statuses = {}, statusKind }: References,
  find: Statuses['find'] extends (companyId: number, ...rest: infer Rest) => infer Found
    ? (...rest: Rest) => Found
    : never,
): Detail[] => {
  const problems: Detail[] = [];
  const found = new Set<number>();
  for (const [field, reference] of Object.entries(statuses)) {
    if (!reference) continue;
    const status = find(reference);
    if (!status) problems.push({ field, message: `${field} must be a valid status of the company` });
    else if (status.isLead !== (statusKind === 'lead'))
      problems.push({
        field,
        message: `${field} must ${statusKind === 'lead' ? 'be' : 'not be'} a lead status`,
      });
    else found.add(status.id);
  }
  const fields = Object.keys(statuses);
  if (found.size > 1) problems.push({ field: fields[1]!, message: `${fields.join(' and ')} must agree` });
  return problems;
};
