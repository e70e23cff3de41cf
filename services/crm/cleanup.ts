import { acrossTenants, type Database, deleteSome, type Log, type Repeated, repeat } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Tables } from './tables.ts';

/** Deletes the expired rows of `idempotency_keys`, those of webhooks too. Replicas may do it at once. */
export const startCleanup = ({ db, log, now }: CleanupOptions): Repeated =>
  repeat(() => deleteExpired(db, now()), {
    pauseMs,
    onError: (error) => log.warn({ error }, 'cleanup of idempotency keys failed'),
  });

/** @returns 0 unless there may be more. */
export const deleteExpired = async (db: Database<Tables>, now: Date): Promise<number> => {
  const all = acrossTenants(db, 'cleanup deletes expired idempotency keys of all companies');
  const deleted = await deleteSome(db, all, {
    table: 'idempotency_keys',
    key: ['company_id', 'idempotency_key'],
    where: sql<boolean>`expires_utc < ${now}`,
    limit: rowsAtOnce,
  });
  return deleted < rowsAtOnce ? 0 : deleted;
};

const pauseMs = 10_000;
/** Few enough that their locks are held only briefly. */
const rowsAtOnce = 1_000;

interface CleanupOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  readonly now: () => Date;
}
