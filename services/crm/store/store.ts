import { type Rows, statement } from '@causeway/runtime';
import { type Kysely, type Selectable, sql } from 'kysely';
import { affiliateRoleId, optionalClientColumns, type Tables } from '../tables.ts';
import { insertRows, lockRows, updateRows, type Waits } from './rows.ts';

/** Columns of a lead or client that its writes set, besides `created_utc` and `updated_utc`. */
const clientFields = [
  'status_id',
  'first_name',
  'last_name',
  'email',
  ...optionalClientColumns,
  'version',
  'origin',
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
  'version',
  'origin',
] as const;
const affiliateColumns = [
  'company_id',
  'employee_id',
  'role_id',
  ...affiliateFields,
  'created_utc',
  'updated_utc',
] as const;
const noteFields = ['text', 'note_type', 'visibility', 'version', 'origin'] as const;
const noteColumns = [
  'company_id',
  'client_note_id',
  'client_id',
  ...noteFields,
  'created_utc',
  'updated_utc',
  'external_id',
] as const;

export type ClientRow = Pick<Selectable<Tables['clients']>, (typeof clientColumns)[number]>;
export type NoteRow = Pick<Selectable<Tables['client_notes']>, (typeof noteColumns)[number]>;
export type AffiliateRow = Pick<Selectable<Tables['employees']>, (typeof affiliateColumns)[number]>;
type DedupeRow = Selectable<Tables['event_dedupe_keys']>;

/** The records that an action can lock, each by a unique key: the company and another column. */
export interface LockableRows {
  clientById: ClientRow;
  clientByExternalId: ClientRow;
  affiliateById: AffiliateRow;
  affiliateByExternalId: AffiliateRow;
  noteByExternalId: NoteRow;
  eventByDedupeKey: DedupeRow;
}

/** Their records are listed by `updated_utc`. */
const timedTables = ['clients', 'employees'] as const;
export type TimedTable = (typeof timedTables)[number];

const lockBy = <T extends Parameters<typeof lockRows>[0], C extends keyof Tables[T] & string>(
  table: T,
  columns: readonly C[],
  key: keyof Tables[T] & C,
  index?: string,
) => ({
  key,
  lock: lockRows(table, columns, ['company_id', key], { ...(index && { index }) }),
  timed: timedTables.find((timed) => timed === table),
});

interface NewestRow {
  readonly company_id: number;
  readonly newest_utc: Date;
}

/** The latest `updated_utc` of each company's people, or affiliates. Only the last entry of the index is read. */
export const newestOf: Readonly<Record<TimedTable, ReturnType<typeof statement<[Rows], NewestRow>>>> = {
  clients: statement<[Rows], NewestRow>(
    (companies) => sql`
      SELECT /*+ INDEX(clients updated) */ company_id, MAX(updated_utc) AS newest_utc FROM clients
      WHERE (company_id) IN (${companies}) GROUP BY company_id`,
  ),
  employees: statement<[Rows], NewestRow>(
    (companies) => sql`
      SELECT /*+ INDEX(employees updated) */ company_id, MAX(updated_utc) AS newest_utc FROM employees
      WHERE (company_id) IN (${companies}) AND role_id = ${sql.lit(affiliateRoleId)} GROUP BY company_id`,
  ),
};

export type LockableRow = { readonly company_id: number } & Readonly<Record<string, unknown>>;

export const lockable: Readonly<
  Record<
    keyof LockableRows,
    {
      readonly key: string;
      readonly timed: TimedTable | undefined;
      readonly lock: (
        trx: Kysely<Tables>,
        keys: readonly (readonly [companyId: number, value: string | number])[],
        waits: Waits,
        onRows: (rows: readonly LockableRow[]) => void,
        onAll: (rows: readonly LockableRow[]) => void,
      ) => Promise<void>;
    }
  >
> = {
  clientById: lockBy('clients', clientColumns, 'client_id'),
  clientByExternalId: lockBy('clients', clientColumns, 'external_id', 'external_id'),
  affiliateById: lockBy('employees', affiliateColumns, 'employee_id'),
  affiliateByExternalId: lockBy('employees', affiliateColumns, 'external_id', 'external_id'),
  noteByExternalId: lockBy('client_notes', noteColumns, 'external_id', 'external_id'),
  eventByDedupeKey: lockBy(
    'event_dedupe_keys',
    ['company_id', 'dedupe_key', 'event_id', 'created_utc'],
    'dedupe_key',
  ),
};

export const clients = {
  insert: insertRows('clients', clientColumns),
  update: updateRows('clients', [...clientFields, 'updated_utc'], ['company_id', 'client_id']),
  /** After the commit, every replica's search finds the clients. */
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
};

export const affiliates = {
  insert: insertRows('employees', affiliateColumns),
  update: updateRows(
    'employees',
    ['role_id', ...affiliateFields, 'updated_utc'],
    ['company_id', 'employee_id'],
  ),
};

export const notes = {
  insert: insertRows('client_notes', noteColumns),
  update: updateRows(
    'client_notes',
    ['client_id', ...noteFields, 'created_utc', 'updated_utc'],
    ['company_id', 'client_note_id'],
  ),
};

export type RecordHolder = readonly ['clients', 'client_id'] | readonly ['employees', 'employee_id'];

/** The ids of the records that have external ids, without a lock. */
export const holdersOf = async (
  db: Kysely<Tables>,
  [table, id]: RecordHolder,
  companyId: number,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await (db as unknown as Kysely<Record<string, Record<string, number | string>>>)
    .selectFrom(table)
    .select([id, 'external_id'])
    .where('company_id', '=', companyId)
    .where('external_id', 'in', externalIds)
    .execute();
  return new Map(rows.map((row) => [row.external_id as string, row[id] as number]));
};

/** The id of the record that has an external id; undefined if it cannot be read. */
export const holderOf = (
  db: Kysely<Tables>,
  holder: RecordHolder,
  companyId: number,
  externalId: string,
): Promise<number | undefined> =>
  holdersOf(db, holder, companyId, [externalId]).then(
    (ids) => ids.get(externalId),
    () => undefined,
  );

/** The same for an affiliate code, which is compared as its unique key does. */
export const codeHolderOf = async (
  db: Kysely<Tables>,
  companyId: number,
  code: string,
): Promise<number | undefined> => {
  const holder = await db
    .selectFrom('employees')
    .select('employee_id')
    .where('company_id', '=', companyId)
    .where('affiliate_code', '=', code)
    .executeTakeFirst()
    .catch(() => undefined);
  return holder?.employee_id;
};
