import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordType } from '@causeway/proto';
import { affiliate, note, person } from '@causeway/proto/schemas';
import type { Kysely } from 'kysely';
import { affiliateRoleId, globalCompanyId, type Tables } from './tables.ts';

/** A record as readers get it, whole; its times are dates until they are JSON. */
export interface ShownRecord {
  readonly version: number;
  readonly external_id: string | null;
}

export const names = <Shape extends object>(schema: {
  readonly shape: Shape;
}): readonly (keyof Shape & string)[] => Object.keys(schema.shape) as (keyof Shape & string)[];

const isTrue = (flag: number): boolean => flag === 1;

/** Every field has a column of its name, but for the name of the status. */
export const selectPeople = (
  db: Kysely<Tables>,
  companyId: number,
  fields: readonly (keyof typeof person.shape)[] = names(person),
) =>
  db
    .selectFrom('clients')
    .innerJoin('statuses', (join) =>
      join
        .onRef('statuses.status_id', '=', 'clients.status_id')
        .on('statuses.company_id', 'in', [globalCompanyId, companyId]),
    )
    .select(
      fields.map((field) =>
        field === 'status'
          ? ('status_name as status' as const)
          : field === 'status_id'
            ? ('clients.status_id' as const)
            : field,
      ),
    )
    .where('clients.company_id', '=', companyId);

export const showPerson = <Row extends { readonly is_lead: number }>(row: Row) =>
  ({ ...row, is_lead: isTrue(row.is_lead) }) as Omit<Row, 'is_lead'> & { readonly is_lead: boolean };

export const selectAffiliates = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('employees')
    .select(names(affiliate))
    .where('company_id', '=', companyId)
    .where('role_id', '=', affiliateRoleId);

export const showAffiliate = <
  Row extends {
    readonly commission_rate: string | null;
    readonly is_active: number;
    readonly is_approved: number;
  },
>(
  row: Row,
) => ({
  ...row,
  commission_rate: row.commission_rate === null ? null : Number(row.commission_rate),
  is_active: isTrue(row.is_active),
  is_approved: isTrue(row.is_approved),
});

/** Not those of an erased person, which are removed afterwards. */
export const selectNotes = (db: Kysely<Tables>, companyId: number) =>
  db
    .selectFrom('client_notes')
    .select(names(note))
    .where('company_id', '=', companyId)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('clients')
          .select('clients.client_id')
          .where('clients.company_id', '=', companyId)
          .whereRef('clients.client_id', '=', 'client_notes.client_id'),
      ),
    );

/** @returns the records of a type that exist, by id. */
export const readRecords: Readonly<Record<RecordType, ReadRecords>> = {
  person: async (db, companyId, ids) => {
    const rows = await selectPeople(db, companyId).where('client_id', 'in', ids).execute();
    return new Map(rows.map((row) => [row.client_id, showPerson(row)]));
  },
  affiliate: async (db, companyId, ids) => {
    const rows = await selectAffiliates(db, companyId).where('employee_id', 'in', ids).execute();
    return new Map(rows.map((row) => [row.employee_id, showAffiliate(row)]));
  },
  note: async (db, companyId, ids) => {
    const rows = await selectNotes(db, companyId).where('client_note_id', 'in', ids).execute();
    return new Map(rows.map((row) => [row.client_note_id, row]));
  },
};

type ReadRecords = (
  db: Kysely<Tables>,
  companyId: number,
  ids: readonly number[],
) => Promise<ReadonlyMap<number, ShownRecord>>;

interface PartOfPage<Place> {
  /** As JSON. */
  readonly entries: readonly string[];
  /** Where the next page continues. */
  readonly place: Place;
  readonly hasMore: boolean;
}

/** Reads on while there is nothing to show and more to read, for a limited time (contract, "Reading records"). */
export const untilFilled = async <Place, Part extends PartOfPage<Place>>(
  from: Place,
  read: (place: Place) => Promise<Part>,
  forMs = 300,
): Promise<Part> => {
  const endMs = performance.now() + forMs;
  for (let place = from; ; ) {
    const part = await read(place);
    if (part.entries.length > 0 || !part.hasMore || performance.now() > endMs) return part;
    // What is being erased, or changed at this moment, is not there sooner by asking for it at once.
    if (part.place === place) await sleep(pauseMs);
    place = part.place;
  }
};
const pauseMs = 20;

/** Rows that a page looks at for a filter without an index, so that what is rare is found in few requests. */
export const leastConsidered = 1_000;
/** In UTF-16 units. A page and its last entry stay below the 3 MiB of an answer, whatever its characters. */
export const maxPageLength = 900_000;
