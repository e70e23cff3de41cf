import type { SubscriptionRow } from '@causeway/deliveries';
import { type AuditAction, type AuditEntry, auditRow } from '@causeway/proto';
import type { Trx } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { Editor } from './subscriptions/editor.ts';
import type { Tables } from './tables.ts';

type Shown = Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'name' | 'url'>;

export const auditChange = (
  trx: Trx<Tables>,
  { by }: Editor,
  action: AuditAction,
  { company_id, subscription_id, name, url }: Shown,
  more: Pick<AuditEntry, 'at' | 'before' | 'after'>,
): Promise<void> =>
  writeAudit(trx, {
    companyId: company_id,
    by,
    action,
    target: { kind: 'subscription', id: subscription_id, name: name ?? url },
    ...more,
  });

export const editable = (
  row: Pick<SubscriptionRow, 'name' | 'description' | 'url' | 'event_types' | 'enabled' | 'managed_by'>,
) => ({
  url: row.url,
  eventTypes: row.event_types,
  enabled: row.enabled === 1,
  name: row.name,
  description: row.description,
  managedBy: row.managed_by,
});

/** Adds an entry to the audit log. Call it in the transaction of the change. */
export const writeAudit = async (db: Kysely<Tables>, entry: AuditEntry): Promise<void> => {
  await db.insertInto('audit_log').values(auditRow(entry)).execute();
};
