import { type BodyOf, type contract, invalid, notFound, type Problem } from '@causeway/proto';
import { optionalClientColumns } from '../tables.ts';
import { laterOf } from './action.ts';

export type PersonReferences = Partial<
  Pick<BodyOf<(typeof contract)['createClient']>, 'employee_id' | 'affiliate_id' | 'status'>
>;

export const blankPerson = Object.fromEntries(
  optionalClientColumns.map((column) => [column, null]),
) as Record<(typeof optionalClientColumns)[number], null>;

export const applyFields = <Row extends object>(row: Row, sent: object): Row => {
  const after = { ...row } as Record<string, unknown>;
  for (const [field, value] of Object.entries(sent))
    if (value !== undefined && field in after) after[field] = value;
  return after as Row;
};

/**
 * The row with the sent fields, the next version, who changed it, and a later `updated_utc`; the row itself if no field
 * differs.
 */
export const withChanges = <Row extends Versioned>(
  row: Row,
  sent: object,
  { origin }: { readonly origin: string },
  now: Date,
): Row => {
  const after = applyFields(row, sent);
  const differs = Object.keys(after).some((field) => after[field as keyof Row] !== row[field as keyof Row]);
  return differs
    ? {
        ...after,
        version: row.version + 1,
        origin,
        updated_utc: laterOf(now, row.updated_utc),
      }
    : row;
};

interface Versioned {
  readonly version: number;
  readonly origin: string;
  readonly updated_utc: Date;
}

/** @param id the record of the company that has the value, if it still has it. */
export const inUseError = (
  field: 'external_id' | 'affiliate_code',
  name: 'client_id' | 'employee_id',
  id: number | undefined,
): Problem => {
  const message = `${field} is already in use${id === undefined ? '' : ` by ${name} ${id}`}`;
  return invalid([
    { field, code: 'in_use', message, ...(id !== undefined && { [`conflicting_${name}`]: id }) },
  ]);
};

export const externalIdTakenError = (name: 'client_id' | 'employee_id', id: number | undefined): Problem =>
  inUseError('external_id', name, id);

/** The 404 for a record of the other kind, which names the path that takes it. */
export const otherKindError = (kind: 'lead' | 'client', id: number, more = ''): Problem =>
  kind === 'lead'
    ? notFound(kind, `${id} is a client; use PATCH /integrations/clients/${id}${more}`)
    : notFound(
        kind,
        `${id} is a lead; use PATCH /integrations/leads/${id}, or convert it with PATCH /integrations/clients/${id}/status`,
      );
