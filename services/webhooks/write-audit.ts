import { type AuditEntry, auditRow } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Adds an entry to the audit log. Call it in the transaction of the change. */
export const writeAudit = async (db: Kysely<Tables>, entry: AuditEntry): Promise<void> => {
  await db.insertInto('audit_log').values(auditRow(entry)).execute();
};
