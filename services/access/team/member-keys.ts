import { type Kysely, sql } from 'kysely';
import { keyColumns } from '../keys/keys.ts';
import type { AccessTables } from '../schema.ts';

/**
 * The active keys that a member created, newest first. The audit log records who created a key, in the transaction
 * that creates it.
 */
export const activeKeysOf = (db: Kysely<AccessTables>, companyId: number, memberId: number) =>
  db
    .selectFrom('api_keys')
    .select(keyColumns)
    .where('company_id', '=', companyId)
    .where('is_active', '=', 1)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('audit_log')
        .select(sql<number>`CAST(audit_log.target_id AS UNSIGNED)`.as('id'))
        .where('audit_log.company_id', '=', companyId)
        .where('audit_log.actor_kind', '=', 'user')
        .where('audit_log.actor_id', '=', memberId)
        .where('audit_log.action', '=', 'key.created'),
    )
    .orderBy('id', 'desc')
    .execute();
