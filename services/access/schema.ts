import type { ClosedCompanyRow } from '@causeway/identity';
import type { AuditRow, Bucket, MemberEndingRow, NoticeChannel, NoticeKind, Role } from '@causeway/proto';
import type { IdempotencyTables } from '@causeway/runtime';
import type { Generated, Selectable } from 'kysely';

export interface AccessTables {
  audit_log: AuditRow & { audit_id: Generated<number> };
  companies: CompanyTable;
  api_keys: ApiKeyTable;
  portal_users: PortalUserTable;
  portal_recovery_codes: { company_id: number; user_id: number; code_hash: Buffer };
  portal_passkeys: PortalPasskeyTable;
  portal_sessions: PortalSessionTable;
  portal_invitations: PortalInvitationTable;
  portal_password_resets: PortalPasswordResetTable;
  sign_in_delays: SignInDelayTable;
  request_minutes: RequestMinuteTable;
  request_log: RequestLogTable;
  key_revocations: { company_id: number; key_id: number; revoked_utc: Date };
  member_endings: MemberEndingRow;
  notices: NoticeTable;
  notice_sends: NoticeSendTable;
  link_mails: { company_id: number; mailed_utc: Date; address_hash: Buffer };
  closed_companies: ClosedCompanyRow;
  /** Shared with `crm`, which empties it, and `webhooks`. */
  idempotency_keys: IdempotencyTables['idempotency_keys'];
  /** Written by `webhooks`. */
  notice_channels: { company_id: number; channel: NoticeChannel; kinds: string };
}

export type RowOf<
  Table extends keyof AccessTables,
  Columns extends readonly (keyof Selectable<AccessTables[Table]>)[],
> = Pick<Selectable<AccessTables[Table]>, Columns[number]>;

/** What a closed company leaves in this service's tables. */
export const emptiedTables = {
  deleted: [
    'portal_recovery_codes',
    'portal_passkeys',
    'portal_sessions',
    'portal_invitations',
    'portal_password_resets',
    'portal_users',
    'api_keys',
    'audit_log',
    'request_minutes',
    'key_revocations',
    'member_endings',
    'notices',
    'notice_sends',
    'link_mails',
  ],
  dropped: ['request_log'],
} as const;

/** `companies` is the list of tenants; `sign_in_delays` has digests of people who are not signed in. */
export const tenantTables: ReadonlySet<keyof AccessTables> = new Set([
  ...emptiedTables.deleted,
  ...emptiedTables.dropped,
  'closed_companies',
  'idempotency_keys',
  'notice_channels',
]);

interface LimitColumns {
  limit_read: number | null;
  limit_write: number | null;
  limit_admin: number | null;
  limit_lookup: number | null;
}

interface CompanyTable extends LimitColumns {
  company_id: Generated<number>;
  name: string;
  version: Generated<number>;
  created_utc: Date;
  closed_utc: Generated<Date | null>;
  temporary_limits: string | null;
  require_factor: Generated<number>;
}

interface ApiKeyTable extends LimitColumns {
  company_id: number;
  id: Generated<number>;
  name: string;
  key_hash: Buffer;
  prefix: string;
  last4: string;
  scopes: string;
  is_active: Generated<number>;
  version: Generated<number>;
  created_utc: Date;
  revoked_utc: Date | null;
  last_used_utc: Date | null;
  note: Generated<string | null>;
  expires_utc: Generated<Date | null>;
  networks: Generated<string | null>;
  previous_hash: Generated<Buffer | null>;
  previous_last4: Generated<string | null>;
  previous_until_utc: Generated<Date | null>;
  previous_active: Generated<number>;
  is_suspended: Generated<number>;
}

interface PortalUserTable {
  company_id: number;
  id: Generated<number>;
  email: string;
  name: Generated<string>;
  password_hash: string;
  role: Role;
  totp_secret: Generated<Buffer | null>;
  totp_enabled: Generated<number>;
  totp_step: Generated<number>;
  device_epoch: Generated<number>;
  passkeys: Generated<number>;
  last_sign_in_utc: Generated<Date | null>;
  notice_mail: Generated<string | null>;
  notices_read: Generated<Date | null>;
  created_utc: Date;
}

interface PortalPasskeyTable {
  company_id: number;
  passkey_id: number;
  user_id: number;
  name: string;
  credential_hash: Buffer;
  credential_id: Buffer;
  public_key: Buffer;
  sign_count: number;
  transports: string;
  created_utc: Date;
  last_used_utc: Generated<Date | null>;
}

interface PortalSessionTable {
  company_id: number;
  session_id: Generated<number>;
  user_id: number;
  token_hash: Buffer;
  created_utc: Date;
  last_used_utc: Date;
  address: string;
  user_agent: string;
  sign_in: Buffer | null;
  state: Generated<SessionState>;
  proved_utc: Generated<Date | null>;
}

/** `open`: the browser has its token. `ready`, `code`: the member can switch to it, the latter by a code. */
export type SessionState = 'open' | 'ready' | 'code';

interface PortalInvitationTable {
  company_id: number;
  invitation_id: Generated<number>;
  email: string;
  role: Role;
  token_hash: Buffer;
  invited_by: number;
  invited_by_name: string;
  created_utc: Date;
  expires_utc: Date;
}

interface PortalPasswordResetTable {
  company_id: number;
  user_id: number;
  token_hash: Buffer;
  created_utc: Date;
  expires_utc: Date;
  made_by: number | null;
}

interface SignInDelayTable {
  subject: Buffer;
  failures: number;
  last_attempt_utc: Date;
  next_attempt_utc: Date;
}

interface RequestLogTable {
  company_id: number;
  key_id: number;
  created_utc: Date;
  serial: number;
  operation: string;
  method: string;
  ids: string;
  status: number;
  duration_ms: number;
  request_id: string;
  address: string;
  is_previous: number;
  requests: number;
}

interface RequestMinuteTable {
  company_id: number;
  minute_utc: Date;
  key_id: number;
  bucket: Bucket;
  answered: number;
  limited: number;
  failed: number;
  peak: Generated<number>;
}

interface NoticeTable {
  company_id: number;
  notice_id: Generated<number>;
  kind: NoticeKind;
  cause: string;
  subject_id: number | null;
  subject_name: string;
  user_id: number | null;
  detail: string;
  created_utc: Date;
  due_utc: Date | null;
  planned_utc: Date | null;
  group_id: number | null;
}

interface NoticeSendTable {
  company_id: number;
  send_id: Generated<number>;
  channel: 'mail' | NoticeChannel;
  group_id: number | null;
  user_id: number | null;
  sealed: Buffer | null;
  attempts: Generated<number>;
  due_utc: Date;
  created_utc: Date;
}
