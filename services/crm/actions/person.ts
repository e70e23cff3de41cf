import type { StatusReference } from '@causeway/proto/schemas';
import type { ClientRow } from '../store/store.ts';

/** What a body may say of a lead or client; undefined is not sent, null clears. */
export interface PersonFields {
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | null | undefined;
  readonly city?: string | null | undefined;
  readonly state?: string | null | undefined;
  readonly zip?: string | null | undefined;
  readonly package_keyword?: string | null | undefined;
  readonly employee_id?: number | null | undefined;
  readonly affiliate_id?: number | null | undefined;
  readonly external_id?: string | null | undefined;
  readonly status?: StatusReference | null | undefined;
}

/** The optional attributes of a record nobody has told of. */
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

/** The row's own fields with what was sent in their place. */
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
