import type { Generated } from 'kysely';

/** Tables of `migrations/`. */
export interface AccessTables {
  companies: CompanyTable;
  api_keys: KeyTable;
  portal_users: PortalUserTable;
}

/** Every query on these is bound to a company; `companies` is the list of the tenants itself. */
export const tenantTables: ReadonlySet<keyof AccessTables> = new Set(['api_keys', 'portal_users'] as const);

interface LimitColumns {
  limit_read: number | null;
  limit_write: number | null;
  limit_admin: number | null;
}

interface CompanyTable extends LimitColumns {
  company_id: Generated<number>;
  name: string;
  version: Generated<number>;
  created_utc: Date;
}

interface KeyTable extends LimitColumns {
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
}

interface PortalUserTable {
  company_id: number;
  id: Generated<number>;
  email: string;
  password_hash: string;
  role: 'owner';
  created_utc: Date;
}
