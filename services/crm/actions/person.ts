import { type BodyOf, type contract, invalid, notFound, type Problem } from '@causeway/proto';
import type { ClientRow } from '../store/store.ts';
import { optionalClientColumns } from '../tables.ts';

/** The fields of a lead or client that refer to other records. */
export type PersonReferences = Partial<
  Pick<BodyOf<(typeof contract)['createClient']>, 'employee_id' | 'affiliate_id' | 'status'>
>;

/** The optional fields of a new record, null until sent. */
export const blankPerson = Object.fromEntries(
  optionalClientColumns.map((column) => [column, null]),
) as Record<(typeof optionalClientColumns)[number], null>;

/** The row's own fields, overwritten by the sent ones. */
export const applyFields = <Row extends object>(row: Row, sent: object): Row => {
  const after = { ...row } as Record<string, unknown>;
  for (const [field, value] of Object.entries(sent))
    if (value !== undefined && field in after) after[field] = value;
  return after as Row;
};

/** Whether two versions of a row differ in a field, besides `updated_utc`. */
export const differs = <Row extends object>(before: Row, after: Row): boolean =>
  Object.keys(after).some(
    (field) => field !== 'updated_utc' && after[field as keyof Row] !== before[field as keyof Row],
  );

/** @param id the record of the company that has the external id, if it still has it. */
export const externalIdTakenError = (name: 'client_id' | 'employee_id', id: number | undefined): Problem => {
  const by = id === undefined ? '' : ` by ${name} ${id}`;
  const detail = { field: 'external_id', message: `external_id is already in use${by}` };
  return invalid([id === undefined ? detail : { ...detail, [`conflicting_${name}`]: id }]);
};

/** The 404 for a record of the other kind, which names the path that takes it. */
export const otherKindError = (kind: 'lead' | 'client', id: number, more = ''): Problem =>
  kind === 'lead'
    ? notFound(kind, `${id} is a client; use PATCH /integrations/clients/${id}${more}`)
    : notFound(
        kind,
        `${id} is a lead; use PATCH /integrations/leads/${id}, or convert it with PATCH /integrations/clients/${id}/status`,
      );

/** Names for `Action.turns`. */
export const externalName = (kind: 'client' | 'affiliate' | 'note', companyId: number, externalId: string) =>
  `${kind}:${companyId}:external:${externalId}`;
export const recordName = (kind: 'client' | 'affiliate', companyId: number, id: number): string =>
  `${kind}:${companyId}:${id}`;

export const clientName = (row: ClientRow): string =>
  externalName('client', row.company_id, row.external_id ?? '');
