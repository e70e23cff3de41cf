import { raiseSubscriptionsVersion } from '@causeway/deliveries';
import { contract, type ReencryptAnswer } from '@causeway/proto';
import {
  acrossTenants,
  byShard,
  type Database,
  handler,
  json,
  type KeyRing,
  openSecret,
  sealedWith,
  sealSecret,
  type Trx,
  transaction,
} from '@causeway/runtime';
import type { WebhooksContext } from '../context.ts';
import { nobody } from '../cursors.ts';
import type { Tables } from '../tables.ts';

export const reencryptSecrets = ({ db, keyRing, log }: WebhooksContext) =>
  handler(contract.reencryptSecrets, async ({ body: { after = 0 }, requestId }) => {
    const stopMs = performance.now() + callMs;
    let done: Omit<ReencryptAnswer, 'key'> = { checked: 0, resealed: 0, unopened: 0, next: after };
    const add = (counts: Omit<ReencryptAnswer, 'key' | 'next'>, next: number | null): void => {
      done = {
        checked: done.checked + counts.checked,
        resealed: done.resealed + counts.resealed,
        unopened: done.unopened + counts.unopened,
        next,
      };
    };
    if (after === 0) {
      add(await reencryptKeys(db, keyRing), after);
      add(await reencryptChannels(db, keyRing), after);
    }
    while (done.next !== null && performance.now() < stopMs) {
      const { next, ...counts } = await reencryptBatch(db, keyRing, done.next);
      add(counts, next);
    }
    const answer: ReencryptAnswer = { key: keyRing.sealsWith, ...done };
    log.info({ requestId, ...answer }, 'secrets sealed again');
    return json(200, answer);
  });

/** Less than the 20 seconds that the command line waits. */
const callMs = 5_000;

type Counts = Pick<ReencryptAnswer, 'checked' | 'resealed' | 'unopened'>;

interface Sealed {
  readonly companyId: number;
  readonly bytes: Buffer;
  /** Writes the secret, sealed again, unless another has replaced it meanwhile. */
  readonly replace: (trx: Trx<Tables>, fresh: Buffer) => Promise<unknown>;
}

const sealedColumns = ['secret', 'previous_secret', 'headers'] as const;

/**
 * Skips secrets already sealed under the ring's first key, so a run can stop anywhere and start again.
 * @returns the counts, and where to continue; null if nothing is left.
 */
export const reencryptBatch = async (
  db: Database<Tables>,
  keyRing: KeyRing,
  after: number,
): Promise<Counts & { readonly next: number | null }> => {
  const rows = await acrossTenants(db, 'an operator reseals the signing secrets of all companies')
    .selectFrom('subscriptions')
    .select(['company_id', 'subscription_id', ...sealedColumns])
    .where('subscription_id', '>', after)
    .orderBy('subscription_id')
    .limit(batch)
    .execute();
  const secrets = rows.flatMap(({ company_id, subscription_id, ...sealed }) => {
    const inColumn = (column: (typeof sealedColumns)[number], bytes: Buffer): Sealed => ({
      companyId: company_id,
      bytes,
      replace: (trx, fresh) =>
        trx
          .updateTable('subscriptions')
          .set({ [column]: fresh })
          .where('company_id', '=', company_id)
          .where('subscription_id', '=', subscription_id)
          .where(column, '=', bytes)
          .execute(),
    });
    return sealedColumns.flatMap((column) => {
      const bytes = sealed[column];
      return bytes === null ? [] : [inColumn(column, bytes)];
    });
  });
  const counts = await reseal(db, keyRing, secrets);
  return { ...counts, next: rows.length < batch ? null : rows.at(-1)!.subscription_id };
};

/** The same for the service's own keys, which are few. */
export const reencryptKeys = async (db: Database<Tables>, keyRing: KeyRing): Promise<Counts> => {
  const rows = await db.selectFrom('sealed_keys').select(['name', 'sealed']).execute();
  const secrets = rows.map(
    ({ name, sealed }): Sealed => ({
      companyId: nobody,
      bytes: sealed,
      replace: (trx, fresh) =>
        trx
          .updateTable('sealed_keys')
          .set({ sealed: fresh })
          .where('name', '=', name)
          .where('sealed', '=', sealed)
          .execute(),
    }),
  );
  return reseal(db, keyRing, secrets);
};

/** The same for the secrets of notice channels, of which a company has at most one. */
const reencryptChannels = async (db: Database<Tables>, keyRing: KeyRing): Promise<Counts> => {
  const rows = await acrossTenants(db, 'an operator reseals the signing secrets of all companies')
    .selectFrom('notice_channels')
    .select(['company_id', 'channel', 'secret'])
    .where('secret', 'is not', null)
    .execute();
  const secrets = rows.map(
    ({ company_id, channel, secret }): Sealed => ({
      companyId: company_id,
      bytes: secret!,
      replace: (trx, fresh) =>
        trx
          .updateTable('notice_channels')
          .set({ secret: fresh })
          .where('company_id', '=', company_id)
          .where('channel', '=', channel)
          .where('secret', '=', secret)
          .execute(),
    }),
  );
  return reseal(db, keyRing, secrets);
};

const reseal = async (
  db: Database<Tables>,
  keyRing: KeyRing,
  secrets: readonly Sealed[],
): Promise<Counts> => {
  const old = secrets.filter(({ bytes }) => sealedWith(bytes) !== keyRing.sealsWith);
  const fresh = old.flatMap((one) => {
    const text = opened(keyRing, one);
    return text === undefined ? [] : [{ one, bytes: sealSecret(keyRing, one.companyId, text) }];
  });
  if (fresh.length > 0)
    await byShard(
      db,
      fresh,
      ({ one }) => one.companyId,
      (some, shard) =>
        transaction(shard, async (trx) => {
          for (const { one, bytes } of some) await one.replace(trx, bytes);
          // Dispatchers hold sealed secrets, and the old key is about to leave their ring.
          const companies = some.map(({ one }) => one.companyId).filter((id) => id !== nobody);
          await raiseSubscriptionsVersion(trx, companies);
        }),
    );
  return { checked: secrets.length, resealed: fresh.length, unopened: old.length - fresh.length };
};

const opened = (keyRing: KeyRing, { companyId, bytes }: Sealed): string | undefined => {
  try {
    return openSecret(keyRing, companyId, bytes);
  } catch {
    return undefined;
  }
};

/** Subscriptions in one transaction, which takes some tens of milliseconds. */
const batch = 200;
