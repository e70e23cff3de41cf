import { contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { sql } from 'kysely';
import type { WebhooksContext } from '../context.ts';

/** Test deliveries have no rows, so those sent from the portal are found in the audit log. */
export const getFirstDeliverySteps = ({ db }: WebhooksContext) =>
  handler(contract.getFirstDeliverySteps, async ({ companyId }) => {
    const [subscription, test, delivery] = await Promise.all([
      db
        .selectFrom('subscriptions')
        .select((eb) => eb.fn.min('created_utc').as('first'))
        .where('company_id', '=', companyId)
        .executeTakeFirst(),
      db
        .selectFrom('audit_log')
        .select('created_utc as first')
        .where('company_id', '=', companyId)
        .where('action', '=', 'subscription.tested')
        .where(sql<boolean>`JSON_EXTRACT(after_json, '$.success') = true`)
        .orderBy('audit_id')
        .limit(1)
        .executeTakeFirst(),
      db
        .selectFrom('delivery_minutes')
        .select('minute_utc as first')
        .where('company_id', '=', companyId)
        .where('succeeded', '>', 0)
        .orderBy('minute_utc')
        .limit(1)
        .executeTakeFirst(),
    ]);
    return json(200, {
      subscriptionCreatedUtc: iso(subscription?.first),
      testSucceededUtc: iso(test?.first),
      deliverySucceededUtc: iso(delivery?.first),
    });
  });

const iso = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;
