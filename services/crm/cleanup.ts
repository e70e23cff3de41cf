import { startEmptying } from '@causeway/identity';
import { dedupeWindowMs, deletionsKeptDays } from '@causeway/proto';
import {
  acrossTenants,
  type Database,
  deleteSome,
  type Log,
  type Metrics,
  type Repeated,
  repeat,
} from '@causeway/runtime';
import { sql } from 'kysely';
import { emptiedTables, type Tables } from './tables.ts';

/** Deletes expired keys, the idempotency keys of webhooks too, and forgets old erasures. Replicas may do it at once. */
export const startCleanup = ({ db, log, metrics, now }: CleanupOptions): Repeated =>
  repeat(async () => (await deleteExpired(db, now())) + (await forgetErasures(db, now())), {
    pauseMs,
    removes: { of: 'idempotency_keys, erasures', metrics },
    onError: (error) => log.warn({ error }, 'cleanup failed'),
  });

export const startEmptyingCrm = ({ db, log, now }: Omit<CleanupOptions, 'metrics'>): Repeated =>
  startEmptying({
    ...{ db, log, now, ...emptiedTables },
    onEmpty: async ({ company_id, crm_emptied_utc }) => {
      if (crm_emptied_utc) return;
      await db
        .updateTable('closed_companies')
        .set({ crm_emptied_utc: now() })
        .where('company_id', '=', company_id)
        .execute();
    },
  });

/** @returns 0 unless there may be more. */
export const deleteExpired = async (db: Database<Tables>, now: Date): Promise<number> => {
  const all = acrossTenants(db, 'cleanup deletes rows of all companies by their age');
  const oldest = new Date(now.getTime() - dedupeWindowMs);
  const expired = [
    { table: 'idempotency_keys', column: 'idempotency_key', where: sql<boolean>`expires_utc < ${now}` },
    { table: 'event_dedupe_keys', column: 'dedupe_key', where: sql<boolean>`created_utc < ${oldest}` },
  ] as const;
  let deleted = 0;
  for (const { table, column, where } of expired)
    deleted += await deleteSome(db, all, { table, key: ['company_id', column], where, limit: rowsAtOnce });
  return deleted < rowsAtOnce ? 0 : deleted;
};

/** With their tombstones in the changes feed. @returns 0 unless there may be more. */
const forgetErasures = async (db: Database<Tables>, now: Date): Promise<number> => {
  const before = new Date(now.getTime() - (deletionsKeptDays + 1) * 86_400_000);
  const old = await acrossTenants(db, 'erasures of all companies are forgotten')
    .selectFrom('erasures')
    .select(['company_id', 'client_id'])
    .where('erased_utc', '<', before)
    .limit(100)
    .execute();
  for (const companyId of new Set(old.map(({ company_id }) => company_id))) {
    await db
      .deleteFrom('record_changes')
      .where('company_id', '=', companyId)
      .where('is_deleted', '=', 1)
      .where('changed_utc', '<', before)
      .execute();
    await db
      .deleteFrom('erasures')
      .where('company_id', '=', companyId)
      .where('erased_utc', '<', before)
      .execute();
  }
  return old.length;
};

const pauseMs = 10_000;
/** Few enough that their locks are held only briefly. */
const rowsAtOnce = 1_000;

interface CleanupOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => Date;
}
