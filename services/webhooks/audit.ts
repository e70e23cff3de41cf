import type { SubscriptionRow } from '@causeway/deliveries';
import { writeAudit } from '@causeway/identity';
import type { AuditAction, AuditEntry } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { Editor } from './subscriptions/editor.ts';
import { auditedRules } from './subscriptions/rules.ts';
import type { Tables } from './tables.ts';

type Shown = Pick<SubscriptionRow, 'company_id' | 'subscription_id' | 'name' | 'url'>;

export const auditChange = (
  db: Kysely<Tables>,
  { by }: Pick<Editor, 'by'>,
  action: AuditAction,
  { company_id, subscription_id, name, url }: Shown,
  more: Pick<AuditEntry, 'at' | 'before' | 'after'>,
): Promise<number> =>
  writeAudit(db, {
    companyId: company_id,
    by,
    action,
    target: { kind: 'subscription', id: subscription_id, name: name ?? url },
    ...more,
  });

export const editable = (
  row: Pick<SubscriptionRow, 'name' | 'description' | 'url' | 'event_types' | 'enabled' | 'managed_by'> &
    Parameters<typeof auditedRules>[0],
) => ({
  url: row.url,
  eventTypes: row.event_types,
  enabled: row.enabled === 1,
  name: row.name,
  description: row.description,
  managedBy: row.managed_by,
  ...auditedRules(row),
});
