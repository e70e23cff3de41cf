import { expiryWithoutTool, raiseSubscriptionsVersion, type SubscriptionRow } from '@causeway/deliveries';
import { writeNotices } from '@causeway/identity';
import { type AuditSource, bySystem } from '@causeway/proto';
import { acrossTenants, eachAlone, type Repeated, repeat, type Trx, transaction } from '@causeway/runtime';
import type { UpdateObject } from 'kysely';
import { askDispatcher } from '../ask.ts';
import { auditChange } from '../audit.ts';
import type { WebhooksContext } from '../context.ts';
import type { Tables } from '../tables.ts';
import { noteChange } from './editor.ts';
import { removeSubscription } from './write.ts';

type EndsContext = Pick<WebhooksContext, 'bus' | 'db' | 'log' | 'now'>;

/**
 * Switches off the subscriptions of revoked keys, and removes those that have expired. Replicas may run it at once. Wake
 * it when a key was revoked.
 */
export const startEnds = (context: EndsContext): Repeated =>
  repeat(
    async () => {
      let ended = 0;
      await eachAlone([endWithKeys, removeExpired], async (end) => {
        ended += await end(context);
      });
      return ended;
    },
    { pauseMs, onError: (error) => context.log.warn({ error }, 'ending subscriptions failed') },
  );

const pauseMs = 10_000;
/** Longer than any request of the key that was under way when it was revoked. */
const keptMs = 10 * 60_000;

/** @returns how many subscriptions it switched off. */
export const endWithKeys = async (context: EndsContext): Promise<number> => {
  const rows = await acrossTenants(context.db, 'revoked keys of all companies are looked for')
    .selectFrom('key_revocations')
    .select(['company_id', 'key_id'])
    .execute();
  let ended = 0;
  await eachAlone(rows, async ({ company_id, key_id }) => {
    ended += await endWithKey(context, company_id, key_id);
  });
  return ended;
};

const endWithKey = (context: EndsContext, companyId: number, keyId: number): Promise<number> =>
  transaction(context.db, async (trx) => {
    const now = context.now();
    const rows = await trx
      .selectFrom('subscriptions')
      .selectAll()
      .where('company_id', '=', companyId)
      .where('key_id', '=', keyId)
      .forUpdate()
      .execute();
    for (const row of rows)
      await switchOff(context, trx, row, {
        ...{ by: bySystem, at: now, reason: revokedReason },
        more: { auto_disabled: 1, key_id: null, expires_utc: expiryWithoutTool(now) },
      });
    await trx
      .deleteFrom('key_revocations')
      .where('company_id', '=', companyId)
      .where('key_id', '=', keyId)
      .where('revoked_utc', '<', new Date(now.getTime() - keptMs))
      .execute();
    if (rows.length > 0) await raiseSubscriptionsVersion(trx, [companyId]);
    return rows.length;
  });

const revokedReason = 'the API key of its tool was revoked';

/** Call it with the row locked, and raise the version of the company's subscriptions after it. */
export const switchOff = async (
  context: Pick<WebhooksContext, 'bus' | 'log'>,
  trx: Trx<Tables>,
  { company_id, subscription_id, enabled, verification, ...shown }: SubscriptionRow,
  { by, at: now, reason, more, isTold = true }: SwitchingOff,
): Promise<void> => {
  const key = { company_id, subscription_id };
  await trx
    .updateTable('subscriptions')
    .set({
      enabled: 0,
      disabled_reason: reason,
      updated_utc: now,
      ...more,
      ...(enabled === 1 && { disabled_utc: now }),
      // An echo that is under way must not enable it.
      ...(verification === 'pending' && { verification: 'required' as const }),
    })
    .where('company_id', '=', company_id)
    .where('subscription_id', '=', subscription_id)
    .execute();
  if (enabled === 0) return;
  await noteChange(trx, key, 'disabled', now);
  await auditChange(
    trx,
    { by },
    'subscription.disabled',
    { ...key, ...shown },
    {
      before: { enabled: true },
      after: { enabled: false, reason },
      at: now,
    },
  );
  if (isTold)
    await writeNotices(trx, [
      {
        companyId: company_id,
        kind: 'subscription_disabled',
        cause: `subscription_disabled:${subscription_id}:${now.toISOString()}`,
        // Without its path and query, which may hold a secret of the receiver.
        subject: { id: subscription_id, name: shown.name ?? new URL(shown.url).host },
        detail: { reason },
        at: now,
      },
    ]);
  trx.onCommit(() => askDispatcher(context, { companyId: company_id, subscriptionId: subscription_id }));
};

interface SwitchingOff {
  readonly by: AuditSource;
  readonly at: Date;
  readonly reason: string;
  readonly more?: UpdateObject<Tables, 'subscriptions'>;
  /** Whether members get a notice. */
  readonly isTold?: boolean;
}

/** @returns how many it removed. @throws the first error, after all */
export const removeExpired = async (context: EndsContext): Promise<number> => {
  const { db, now } = context;
  const at = now();
  const rows = await acrossTenants(db, 'expired subscriptions of all companies are looked for')
    .selectFrom('subscriptions')
    .select(['company_id', 'subscription_id'])
    .where('expires_utc', '<=', at)
    .execute();
  await eachAlone(rows, (row) => remove(context, row, at));
  return rows.length;
};

const remove = (
  context: EndsContext,
  { company_id, subscription_id }: Pick<SubscriptionRow, 'company_id' | 'subscription_id'>,
  at: Date,
): Promise<void> =>
  transaction(context.db, async (trx) => {
    const row = await trx
      .selectFrom('subscriptions')
      .selectAll()
      .where('company_id', '=', company_id)
      .where('subscription_id', '=', subscription_id)
      .where('expires_utc', '<=', at)
      .forUpdate()
      .executeTakeFirst();
    if (row)
      await removeSubscription(context, trx, {
        row,
        editor: { by: bySystem },
        after: { reason: reasonOf(row) },
      });
  });

const reasonOf = ({ disabled_reason }: SubscriptionRow): string =>
  disabled_reason === null ? 'expired' : `no tool for 30 days: ${disabled_reason}`;
