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

/** Only these entries say who made a key, subscription, channel or link, which end with their member. */
const keptActions = [
  ...['key.created', 'key.rotated', 'subscription.created', 'subscription.changed'],
  ...['subscription.secret_rotated', 'notices.channel_changed', 'delivery.shared'],
];

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
  const older = (column: string, ageMs: number) => sql<boolean>`${sql.ref(column)} < ${before(ageMs)}`;
  const keptMs = portal.retentionDays * dayMs;
  const ended = sql<boolean>`created_utc < ${portal.auditDays && before(portal.auditDays * dayMs)}
    AND action NOT IN (${sql.join(keptActions)})`;
  const mails = ['company_id', 'mailed_utc', 'address_hash'];
  const minutes = ['company_id', 'minute_utc', 'key_id', 'bucket'];
  const sessions = ['company_id', 'session_id'];
  const expired = [
    { table: 'portal_sessions', key: sessions, where: older('created_utc', portal.sessionTimeoutMs) },
    { table: 'portal_password_resets', key: ['company_id', 'user_id'], where: older('expires_utc', 0) },
    { table: 'sign_in_delays', key: ['subject'], where: older('last_attempt_utc', keptForMs) },
    { table: 'request_minutes', key: minutes, where: older('minute_utc', keptMs) },
    { table: 'notices', key: ['company_id', 'notice_id'], where: older('created_utc', keptMs) },
    { table: 'link_mails', key: mails, where: older('mailed_utc', linkMails.perMs) },
    { table: 'audit_log', key: ['company_id', 'audit_id'], where: ended },
  ] as const;
  for (const rows of expired)
    for (let deleted = rowsAtOnce; deleted === rowsAtOnce && !stopping?.aborted; )
      deleted = await deleteSome(db, everyones, { ...rows, limit: rowsAtOnce });
  return 0;
};
