import { expiryWithoutTool } from '@causeway/deliveries';
import { writeAudit } from '@causeway/identity';
import { bySystem } from '@causeway/proto';
import type { Kysely } from 'kysely';
import type { QueueKey } from '../delivery.ts';
import { holdOrDrop, isResetPending } from '../queue-rows.ts';
import { isQueue } from '../store.ts';
import type { Tables } from '../tables.ts';

/**
 * Holds a first part of the waiting deliveries; the dispatcher that claims the queue holds the rest.
 * @param url the URL that answered 410: the subscription may have another one by now.
 * @returns whether it was enabled until now.
 */
export const disable = async (
  db: Kysely<Tables>,
  { url, ...key }: QueueKey & { readonly url: string | undefined },
  reason: string,
  now: Date,
): Promise<boolean> => {
  if (url === undefined && (await isResetPending(db, key))) return false;
  const enabled = db
    .updateTable('subscriptions')
    .set({
      enabled: 0,
      disabled_reason: reason,
      disabled_utc: now,
      auto_disabled: 1,
      updated_utc: now,
      ...(url !== undefined && { expires_utc: expiryWithoutTool(now) }),
    })
    .where(isQueue(key))
    .where('enabled', '=', 1);
  const { numUpdatedRows } = await (url === undefined
    ? enabled
    : enabled.where('url', '=', url)
  ).executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  await holdOrDrop(db, key, 'held', now);
  await auditDisabled(db, key, reason, now);
  return true;
};

const auditDisabled = async (db: Kysely<Tables>, key: QueueKey, reason: string, at: Date): Promise<void> => {
  const { name, url } = await db
    .selectFrom('subscriptions')
    .select(['name', 'url'])
    .where(isQueue(key))
    .executeTakeFirstOrThrow();
  await writeAudit(db, {
    companyId: key.company_id,
    by: bySystem,
    action: 'subscription.disabled',
    target: { kind: 'subscription', id: key.subscription_id, name: name ?? url },
    before: { enabled: true },
    after: { enabled: false, reason },
    at,
  });
};
