import { acrossTenants, deleteSome, type Metrics, type Repeated, repeat } from '@causeway/runtime';
import { sql } from 'kysely';
import type { Access } from './context.ts';
import { linkMails } from './notices/links.ts';
import { keptForMs } from './sessions/attempts.ts';
import { rollUpMinutes } from './usage/roll-up.ts';

const pauseMs = 10 * 60_000;
/** Few enough that their locks are held only briefly. */
const rowsAtOnce = 1000;
const dayMs = 86_400_000;

type CleanupContext = Pick<Access, 'db' | 'log' | 'now' | 'portal'>;

/** Several replicas may run it at once. */
export const startCleanup = (context: CleanupContext & { readonly metrics: Metrics }): Repeated =>
  repeat(async (stopping) => (await deleteExpired(context, stopping)) + (await rollUpMinutes(context)), {
    pauseMs,
    removes: { of: 'request_minutes and others', metrics: context.metrics },
    onError: (error) => context.log.warn({ error }, 'cleanup of expired rows failed'),
  });

export const deleteExpired = async (
  { db, now, portal }: CleanupContext,
  stopping?: AbortSignal,
): Promise<number> => {
  const everyones = acrossTenants(db, 'cleanup deletes rows of all companies by their age');
  const before = (ageMs: number): Date => new Date(now().getTime() - ageMs);
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
    {
      table: 'notices',
      key: ['company_id', 'notice_id'],
      where: sql<boolean>`created_utc < ${before(portal.retentionDays * dayMs)}`,
    },
    {
      table: 'link_mails',
      key: ['company_id', 'mailed_utc', 'address_hash'],
      where: sql<boolean>`mailed_utc < ${before(linkMails.perMs)}`,
    },
    {
      table: 'agent_calls',
      key: ['company_id', 'hour_utc', 'tool'],
      where: sql<boolean>`hour_utc < ${before(portal.retentionDays * dayMs)}`,
    },
  ] as const;
  for (const rows of expired)
    for (let deleted = rowsAtOnce; deleted === rowsAtOnce && !stopping?.aborted; )
      deleted = await deleteSome(db, everyones, { ...rows, limit: rowsAtOnce });
  return 0;
};
