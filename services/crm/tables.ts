import type { ClosedCompanyRow } from '@causeway/identity';
import type { AuditRow, EventType, RecordType } from '@causeway/proto';
import { personDetails } from '@causeway/proto/schemas';
import type { IdempotencyTables } from '@causeway/runtime';
import type { Generated, GeneratedAlways } from 'kysely';
import type { output } from 'zod';

export interface Tables extends IdempotencyTables {
  employees: Employees;
  statuses: Statuses;
  lookup_versions: LookupVersions;
  clients: Clients;
  client_search_pending: ClientSearchPending;
  client_search_tails: ClientSearchTails;
  client_search_entries: ClientSearchEntries;
  client_search_postings: ClientSearchPostings;
  client_notes: ClientNotes;
  client_status_history: ClientStatusHistory;
  company_settings: CompanySettings;
  events: Events;
  event_sequences: EventSequences;
  event_outbox: EventOutbox;
  event_dedupe_keys: EventDedupeKeys;
  record_changes: RecordChanges;
  change_sequences: ChangeSequences;
  erasures: Erasures;
  audit_log: AuditRow & { audit_id: Generated<number> };
  delivery_attempts: DeliveryAttempts;
  closed_companies: ClosedCompanyRow;
}

/** To be emptied when a company is closed: tables with foreign keys come before those that they refer to. */
export const emptiedTables = {
  deleted: [
    'client_search_pending',
    'client_search_tails',
    'client_search_entries',
    'client_search_postings',
    'client_notes',
    'client_status_history',
    'company_settings',
    'clients',
    'employees',
    'statuses',
    'lookup_versions',
    'event_sequences',
    'event_outbox',
    'event_dedupe_keys',
    'record_changes',
    'change_sequences',
    'erasures',
    'idempotency_keys',
  ],
  dropped: ['events'],
} as const;

/** Every table belongs to a company; in `statuses`, company 0 holds the global ones. */
export const tenantTables: ReadonlySet<keyof Tables> = new Set([
  ...emptiedTables.deleted,
  ...emptiedTables.dropped,
  'audit_log',
  'delivery_attempts',
  'closed_companies',
]);

/** Owns the statuses that all companies share (contract, "Lookups"). */
export const globalCompanyId = 0;

/** The role that makes an employee an affiliate (contract, "Lookups"). */
export const affiliateRoleId = 6;

interface Employees {
  company_id: number;
  employee_id: Generated<number>;
  role_id: number;
  first_name: string;
  last_name: string;
  full_name: GeneratedAlways<string>;
  email: string;
  phone: string | null;
  is_active: Generated<number>;
  is_approved: Generated<number>;
  affiliate_code: string | null;
  commission_rate: string | null;
  affiliate_company_name: string | null;
  external_id: string | null;
  created_utc: Generated<Date>;
  updated_utc: Generated<Date>;
  version: Generated<number>;
  origin: Generated<string>;
  listed_as: GeneratedAlways<'employee' | 'affiliate' | null>;
}

interface Statuses {
  company_id: number;
  status_id: Generated<number>;
  status_name: string;
  is_lead: GeneratedAlways<number>;
  is_valid: Generated<number>;
  is_active: Generated<number>;
  color_code: Generated<string>;
  is_listed: GeneratedAlways<number>;
}

interface LookupVersions {
  company_id: number;
  version: string;
}

/** Each detail of a person has a column of its name, null until it is sent. A column of type DATE is read as text. */
type PersonDetails = {
  readonly [Field in keyof typeof personDetails]: NonNullable<output<(typeof personDetails)[Field]>> | null;
};

export const optionalClientColumns = [
  'phone',
  ...(Object.keys(personDetails) as (keyof PersonDetails)[]),
  'package_keyword',
  'employee_id',
  'affiliate_id',
  'external_id',
] as const;

interface Clients extends PersonDetails {
  company_id: number;
  client_id: Generated<number>;
  status_id: number;
  first_name: string;
  last_name: string;
  email: string;
  phone: string | null;
  phone_reversed: GeneratedAlways<string | null>;
  phone_main_reversed: GeneratedAlways<string | null>;
  package_keyword: string | null;
  employee_id: number | null;
  affiliate_id: number | null;
  external_id: string | null;
  created_utc: Generated<Date>;
  updated_utc: Generated<Date>;
  version: Generated<number>;
  origin: Generated<string>;
}

interface ClientSearchPending {
  company_id: number;
  client_id: number;
  mark: Generated<number>;
}

interface ClientSearchTails {
  company_id: number;
  chunk: Generated<number>;
  entries: Generated<number>;
  texts: Buffer;
}

interface ClientSearchEntries {
  company_id: number;
  entry: number;
  client_id: number;
  folding: Generated<number>;
}

interface ClientSearchPostings {
  company_id: number;
  chunk: number;
  gram: Buffer;
  occurrences: Buffer;
}

interface ClientNotes {
  company_id: number;
  client_note_id: Generated<number>;
  client_id: number;
  text: string;
  note_type: string;
  visibility: string;
  external_id: string | null;
  created_utc: Date;
  updated_utc: Date;
  version: Generated<number>;
  origin: Generated<string>;
}

interface ClientStatusHistory {
  company_id: number;
  client_id: number;
  change_id: Generated<number>;
  from_status_id: number;
  to_status_id: number;
  changed_by_employee_id: number | null;
  status_note: string | null;
  changed_utc: Date;
}

interface CompanySettings {
  company_id: number;
  default_client_status_id: number | null;
}

interface Events {
  company_id: number;
  sequence: number;
  created_utc: Date;
  event_id: Generated<number>;
  type: EventType;
  payload: Buffer;
  origin: string | null;
  client_id: GeneratedAlways<number | null>;
}

interface EventSequences {
  company_id: number;
  last_sequence: number;
  subscriptions_version: Generated<number>;
}

interface EventOutbox {
  company_id: number;
  event_id: number;
  sequence: number;
  created_utc: Date;
  leased_until: Date;
}

interface EventDedupeKeys {
  company_id: number;
  dedupe_key: string;
  event_id: number;
  created_utc: Date;
}

interface RecordChanges {
  company_id: number;
  type: RecordType;
  record_id: number;
  sequence: number;
  version: number;
  origin: string;
  changed_utc: Date;
  is_deleted: number;
}

interface ChangeSequences {
  company_id: number;
  last_sequence: number;
}

interface Erasures {
  company_id: number;
  client_id: number;
  erased_utc: Date;
  passes: Generated<number>;
  due_utc: Date | null;
  version: number | null;
  origin: string | null;
}

/** What crm may change of them. */
interface DeliveryAttempts {
  company_id: number;
  event_id: number;
  created_utc: Date;
  response_body: Buffer | null;
  response_truncated: number;
}
