import { type ExportedKind, exportPage } from '@causeway/identity';
import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';

export const exportSubscriptions = ({ db }: WebhooksContext) =>
  handler(contract.exportSubscriptions, async ({ body: { company_id, after } }) =>
    json(200, await exportPage(kindsOf(db, company_id), after)),
  );

const kindsOf = (db: WebhooksContext['db'], companyId: number): readonly ExportedKind[] => [
  {
    type: 'subscription',
    read: async ([after = 0], limit) => {
      const rows = await db
        .selectFrom('subscriptions')
        .select(['subscription_id', 'name', 'description', 'url', 'event_types', 'conditions', 'enabled'])
        .select(['disabled_reason', 'managed_by', 'pace_limit', 'pace_seconds', 'paused_utc', 'header_names'])
        .select(['expires_utc', 'created_utc', 'updated_utc'])
        .where('company_id', '=', companyId)
        .where('subscription_id', '>', after)
        .orderBy('subscription_id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        key: [row.subscription_id],
        line: JSON.stringify({ type: 'subscription', ...row, enabled: row.enabled === 1 }),
      }));
    },
  },
  {
    type: 'notice_channel',
    read: async () => {
      const rows = await db
        .selectFrom('notice_channels')
        .select(['channel', 'kinds', 'updated_utc'])
        .where('company_id', '=', companyId)
        .execute();
      return rows.map((row) => ({ key: [0], line: JSON.stringify({ type: 'notice_channel', ...row }) }));
    },
  },
];
