import { type ExportedKind, exportedRows, exportPage } from '@causeway/identity';
import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';

export const exportSubscriptions = ({ db }: WebhooksContext) =>
  handler(contract.exportSubscriptions, async ({ body: { company_id, after } }) =>
    json(200, await exportPage(kindsOf(db, company_id), after)),
  );

const kindsOf = (db: WebhooksContext['db'], companyId: number): readonly ExportedKind[] => [
  exportedRows(
    'subscription',
    db
      .selectFrom('subscriptions')
      .select(['subscription_id', 'name', 'description', 'url', 'event_types', 'conditions', 'enabled'])
      .select(['disabled_reason', 'managed_by', 'pace_limit', 'pace_seconds', 'paused_utc', 'header_names'])
      .select(['expires_utc', 'created_utc', 'updated_utc'])
      .where('company_id', '=', companyId),
    ['subscription_id'],
    (row) => ({ ...row, enabled: row.enabled === 1 }),
  ),
  exportedRows(
    'notice_channel',
    db
      .selectFrom('notice_channels')
      .select(['channel', 'kinds', 'updated_utc'])
      .where('company_id', '=', companyId),
    [],
  ),
];
