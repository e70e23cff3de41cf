import type { Kysely, Selectable } from 'kysely';
import { optionalClientColumns, perCount, type Tables } from '../tables.ts';
import { insertedId, insertRows, lockRows, updateRows } from './rows.ts';

/** Columns of a lead or client that its writes set, besides `created_utc` and `updated_utc`. */
export const clientFields = [
  'status_id',
  'first_name',
  'last_name',
  'email',
  ...optionalClientColumns,
] as const;
const clientColumns = ['company_id', 'client_id', ...clientFields, 'created_utc', 'updated_utc'] as const;
const affiliateFields = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'affiliate_code',
  'commission_rate',
  'affiliate_company_name',
  'is_active',
  'is_approved',
  'external_id',
] as const;
const affiliateColumns = [
  'company_id',
  'employee_id',
  'role_id',
  ...affiliateFields,
  'created_utc',
  'updated_utc',
] as const;
const noteFields = ['text', 'note_type', 'visibility'] as const;
const noteColumns = ['company_id', 'client_note_id', 'client_id', ...noteFields, 'created_utc'] as const;

/** All statements of the record actions. Use one store per database handle. */
export const createStore = () => ({
  clients: {
    insert: insertRows('clients', ['company_id', ...clientFields, 'created_utc', 'updated_utc']),
    lockById: lockRows('clients', clientColumns, ['company_id', 'client_id']),
    lockByExternalId: lockRows('clients', clientColumns, ['company_id', 'external_id']),
    /** The client that has an external id, without a lock. */
    holderOf: async (db: Kysely<Tables>, companyId: number, externalId: string) => {
      const holders = db.selectFrom('clients').select('client_id').where('company_id', '=', companyId);
      const row = await holders.where('external_id', '=', externalId).executeTakeFirst();
      return row?.client_id;
    },
    update: updateRows('clients', [...clientFields, 'updated_utc'], ['company_id', 'client_id']),
    /** Like `markForSearch`, for the clients that the latest `insert` creates. */
    markNewForSearch: markNewForSearch(),
    /** Like `markForSearch`, for many clients at once. */
    markForSearch: insertRows('client_search_pending', ['company_id', 'client_id']),
    insertStatusChanges: insertRows('client_status_history', [
      'company_id',
      'client_id',
      'from_status_id',
      'to_status_id',
      'changed_by_employee_id',
      'status_note',
      'changed_utc',
    ]),
  },
  affiliates: {
    insert: insertRows('employees', [
      'company_id',
      'role_id',
      ...affiliateFields,
      'created_utc',
      'updated_utc',
    ]),
    lockById: lockRows('employees', affiliateColumns, ['company_id', 'employee_id']),
    lockByExternalId: lockRows('employees', affiliateColumns, ['company_id', 'external_id']),
    /** The affiliate or other employee that has an external id, without a lock. */
    holderOf: async (db: Kysely<Tables>, companyId: number, externalId: string) => {
      const holders = db.selectFrom('employees').select('employee_id').where('company_id', '=', companyId);
      const row = await holders.where('external_id', '=', externalId).executeTakeFirst();
      return row?.employee_id;
    },
    update: updateRows(
      'employees',
      ['role_id', ...affiliateFields, 'updated_utc'],
      ['company_id', 'employee_id'],
    ),
  },
  notes: {
    insert: insertRows('client_notes', [
      'company_id',
      'client_id',
      ...noteFields,
      'external_id',
      'created_utc',
      'updated_utc',
    ]),
    lockByExternalId: lockRows(
      'client_notes',
      [...noteColumns, 'external_id'],
      ['company_id', 'external_id'],
    ),
    update: updateRows(
      'client_notes',
      ['client_id', ...noteFields, 'created_utc', 'updated_utc'],
      ['company_id', 'client_note_id'],
    ),
  },
});

const markNewForSearch = () => {
  const run = perCount<{ readonly company_id: number; readonly at: number }>(
    (rows) => rows.flatMap((row) => [row.company_id, row.at]),
    (db, rows) =>
      db
        .insertInto('client_search_pending')
        .values(rows.map(({ company_id, at }) => ({ company_id, client_id: insertedId(at) })))
        .compile(),
  );
  return async (trx: Kysely<Tables>, clients: readonly { readonly company_id: number }[]): Promise<void> => {
    if (clients.length > 0)
      await run.later(
        trx,
        clients.map(({ company_id }, at) => ({ company_id, at })),
      );
  };
};

export type Store = ReturnType<typeof createStore>;

export type ClientRow = Pick<Selectable<Tables['clients']>, (typeof clientColumns)[number]>;
export type NoteRow = Pick<Selectable<Tables['client_notes']>, (typeof noteColumns)[number] | 'external_id'>;
export type AffiliateRow = Pick<Selectable<Tables['employees']>, (typeof affiliateColumns)[number]>;
