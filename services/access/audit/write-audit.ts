import { type AuditEntry, auditRow } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { AccessTables } from '../schema.ts';

/** Adds an entry to the audit log. To be called in the transaction of the change. */
export const writeAudit = async (db: Kysely<AccessTables>, entry: AuditEntry): Promise<void> => {
  await db.insertInto('audit_log').values(auditRow(entry)).execute();
};
