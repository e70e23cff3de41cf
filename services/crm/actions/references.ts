import type { Detail, DetailCode } from '@causeway/proto';
import type { StatusReference } from '@causeway/proto/schemas';
import type { Trx } from '@causeway/runtime';
import type { Selectable } from 'kysely';
import { lockRows, type Waits } from '../store/rows.ts';
import { affiliateRoleId, type Tables } from '../tables.ts';
import { readStatuses, type Status, type Statuses, type StatusRow } from './statuses.ts';

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

export interface KnownReferences {
  readonly statuses: Statuses;
  problems(referring: Referring): readonly Detail[];
  /** Whether another transaction has locked a row that the call refers to, so that an insert would wait for it. */
  isBlocked(referring: Referring): boolean;
}

/**
 * Looked up with the transaction's next statement, and known once it has run.
 * @param ahead the statuses, if they were read before the transaction.
 */
export const lookUp = async (
  trx: Trx<Tables>,
  group: readonly Referring[],
  { ahead, waits = 'wait' }: { readonly ahead: readonly StatusRow[] | undefined; readonly waits?: Waits },
): Promise<KnownReferences> => {
  const defaulting = group.filter(({ references }) => references.statusKind === 'client');
  const statuses = await readStatuses(trx, companiesOf(group), companiesOf(defaulting), ahead);
  const { people, locked } = await readPeople(trx, group, waits);
  return {
    get statuses() {
      return statuses();
    },
    problems: ({ companyId, references }) => [
      ...peopleProblems(references, (id) => people.get(`${companyId}:${id}`)),
      ...statusProblems(references, companyId, statuses()),
    ],
    isBlocked: ({ companyId, references }) =>
      Object.values(references.people ?? {}).some((id) => locked.has(`${companyId}:${id}`)),
  };
};

export const companiesOf = (group: readonly Pick<Referring, 'companyId'>[]): readonly number[] => [
  ...new Set(group.map(({ companyId }) => companyId)),
];

type Person = Pick<Selectable<Tables['employees']>, 'role_id' | 'is_active'>;

const readPeople = async (trx: Trx<Tables>, group: readonly Referring[], waits: Waits) => {
  const wantedIds = new Map<string, readonly [number, number]>();
  for (const { companyId, references } of group)
    for (const id of Object.values(references.people ?? {}))
      if (id) wantedIds.set(`${companyId}:${id}`, [companyId, id]);
  const people = new Map<string, Person>();
  const locked = new Set<string>();
  const nameOf = (row: { readonly company_id: number; readonly employee_id: number }): string =>
    `${row.company_id}:${row.employee_id}`;
  if (wantedIds.size > 0)
    await lockPeople(
      trx,
      [...wantedIds.values()],
      waits,
      (rows) => {
        for (const row of rows) people.set(nameOf(row), row);
      },
      (rows) => {
        for (const row of rows) if (!people.has(nameOf(row))) locked.add(nameOf(row));
      },
    );
  return { people, locked };
};

/** As the check of a foreign key would, but before it, and without waiting where nothing may wait. */
const lockPeople = lockRows(
  'employees',
  ['company_id', 'employee_id', 'role_id', 'is_active'],
  ['company_id', 'employee_id'],
  { lock: 'FOR SHARE' },
);

const peopleProblems = (
  { people = {} }: References,
  personOf: (id: number) => Person | undefined,
): Detail[] =>
  Object.entries(people).flatMap(([field, id]) => {
    if (!id) return [];
    const person = personOf(id);
    const kind = field === 'affiliate_id' ? 'affiliate' : 'employee';
    const fault = (code: DetailCode, sentence: string): Detail[] => [
      { field, code, message: `${field} must be an active ${kind} of the company: ${sentence}` },
    ];
    if (!person) return fault('not_found', `there is no ${kind} ${id}`);
    if (kind === 'affiliate' && person.role_id !== affiliateRoleId)
      return fault('wrong_kind', `${id} is an employee, not an affiliate`);
    if (kind === 'employee' && person.role_id === affiliateRoleId)
      return fault('wrong_kind', `${id} is an affiliate, not an employee`);
    return person.is_active === 1 ? [] : fault('inactive', `${id} is inactive`);
  });

const statusProblems = (
  { statuses = {}, statusKind }: References,
  companyId: number,
  ofCompanies: Statuses,
): Detail[] => {
  const problems: Detail[] = [];
  const found = new Set<number>();
  const isLead = statusKind && statusKind === 'lead';
  for (const [field, reference] of Object.entries(statuses)) {
    if (!reference) continue;
    const status = ofCompanies.find(companyId, reference);
    if (!status) {
      const message = `${field} must be a valid status of the company: ${unknownStatus(reference, ofCompanies.similar(companyId, reference, isLead))}`;
      problems.push({ field, code: 'not_found', message });
    } else if (isLead !== undefined && status.isLead !== isLead)
      problems.push({
        field,
        code: 'wrong_kind',
        message: `${field} must ${isLead ? 'be' : 'not be'} a lead status`,
      });
    else found.add(status.id);
  }
  const fields = Object.keys(statuses);
  if (found.size > 1)
    problems.push({ field: fields[1]!, code: 'must_agree', message: `${fields.join(' and ')} must agree` });
  return problems;
};

const unknownStatus = (reference: StatusReference, similar: Status | undefined): string => {
  const none = 'id' in reference ? `none has the ID ${reference.id}` : `none is named "${reference.name}"`;
  const guess = similar ? `; did you mean "${similar.name}" (${similar.id})?` : ';';
  return `${none}${guess} GET /integrations/lookups/client-statuses lists them`;
};
