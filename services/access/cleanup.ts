import { acrossTenants, type Database, deleteSome, type Log } from '@causeway/runtime';
import { sql } from 'kysely';
import type { PortalSettings } from './context.ts';
import type { AccessTables } from './schema.ts';
import { keptForMs } from './sessions/attempts.ts';

const everyMs = 10 * 60_000;
/** Few enough that their locks are held only briefly. */
const rowsAtOnce = 1000;
const dayMs = 86_400_000;

/**
 * Deletes expired rows: sessions, links and delays that have ended, and counts older than the overview shows. Nothing
 * depends on when that happens, so several replicas may do it at once.
 */
export const startCleanup = ({ db, log, now, portal }: CleanupOptions): Cleanup => {
  const everyones = acrossTenants(db, 'cleanup deletes rows of all companies by their age');
  const before = (ageMs: number): Date => new Date(now().getTime() - ageMs);
  let stopped = false;

  const sweep = async (): Promise<void> => {
    const expired = [
      {
        table: 'portal_sessions',
        key: ['company_id', 'session_id'],
        where: sql<boolean>`created_utc < ${before(portal.sessionTimeoutMs)}`,
      },
      {
        table: 'portal_password_resets',
        key: ['company_id', 'user_id'],
        where: sql<boolean>`expires_utc < ${now()}`,
      },
      {
        table: 'sign_in_delays',
        key: ['subject'],
        where: sql<boolean>`last_attempt_utc < ${before(keptForMs)}`,
      },
      {
        table: 'request_minutes',
        key: ['company_id', 'minute_utc', 'key_id', 'bucket'],
        where: sql<boolean>`minute_utc < ${before(portal.retentionDays * dayMs)}`,
      },
    ] as const;
    for (const rows of expired)
      for (let deleted = rowsAtOnce; deleted === rowsAtOnce && !stopped; )
        deleted = await deleteSome(db, everyones, { ...rows, limit: rowsAtOnce });
  };

  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(sweep).catch((error: unknown) => {
      log.warn({ error }, 'cleanup of expired rows failed');
    });
  }, everyMs);
  timer.unref();
  return {
    sweep,
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
};

export interface Cleanup {
  /** Runs one cleanup now. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

interface CleanupOptions {
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly now: () => Date;
  readonly portal: PortalSettings;
}
