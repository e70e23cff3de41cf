import type { AuditEntry, AuditRow } from '@causeway/proto';
import type { Generated, Kysely } from 'kysely';

interface AuditTables {
  audit_log: AuditRow & { audit_id: Generated<number> };
}

/** Call it in the transaction of the change. @returns the ID of the entry */
export const writeAudit = async <DB extends AuditTables>(
  db: Kysely<DB>,
  { companyId, by, action, target, before, after, at }: AuditEntry,
): Promise<number> => {
  const { insertId } = await (db as unknown as Kysely<AuditTables>)
    .insertInto('audit_log')
    .values({
      company_id: companyId,
      created_utc: at,
      actor_kind: by.kind,
      actor_id: by.id,
      actor_name: by.name,
      action,
      target_kind: target.kind,
      target_id: target.id === null ? null : String(target.id),
      target_name: target.name,
      before_json: before ? JSON.stringify(before) : null,
      after_json: after ? JSON.stringify(after) : null,
      address: by.address,
      user_agent: by.userAgent,
      request_id: by.requestId,
    })
    .executeTakeFirstOrThrow();
  return Number(insertId);
};
