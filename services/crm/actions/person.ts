import type { BodyOf, contract } from '@causeway/proto';
import type { ClientRow } from '../store/store.ts';

/** The fields of a lead or client that refer to other records. */
export type PersonReferences = Partial<
  Pick<BodyOf<(typeof contract)['createClient']>, 'employee_id' | 'affiliate_id' | 'status'>
>;

/** The optional fields of a new record, null until sent. */
export const blankPerson = {
  phone: null,
  city: null,
  state: null,
  zip: null,
  package_keyword: null,
  employee_id: null,
  affiliate_id: null,
  external_id: null,
} as const satisfies Partial<ClientRow>;

/** The row's own fields, overwritten by the sent ones. */
export const applyFields = <Row extends object>(row: Row, sent: object): Row => {
  const after = { ...row } as Record<string, unknown>;
  for (const [field, value] of Object.entries(sent))
    if (value !== undefined && field in after) after[field] = value;
  return after as Row;
};

/** Names for `Action.turns`. */
export const externalName = (kind: 'client' | 'affiliate' | 'note', companyId: number, externalId: string) =>
  `${kind}:${companyId}:external:${externalId}`;
export const recordName = (kind: 'client' | 'affiliate', companyId: number, id: number): string =>
  `${kind}:${companyId}:${id}`;

export const clientName = (row: ClientRow): string =>
  externalName('client', row.company_id, row.external_id ?? '');
