import { hash } from 'node:crypto';
import { writeAudit, writeNotices } from '@causeway/identity';
import {
  type Actor,
  type ActorUser,
  type AnswerTo,
  type AuditEntry,
  type AuditSource,
  byMember,
  contract,
  isToldAt,
} from '@causeway/proto';
import { handler, json, type Trx, transaction } from '@causeway/runtime';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Access } from './context.ts';
import type { AccessTables } from './schema.ts';

type Entry = AnswerTo<'listAudit'>['entries'][number];

const entryColumns = [
  'audit_id',
  'created_utc',
  'actor_kind',
  'actor_id',
  'actor_name',
  'action',
  'target_kind',
  'target_id',
  'target_name',
  'before_json',
  'after_json',
  'address',
  'user_agent',
  'request_id',
] as const;

export const listAudit = ({ db, cursors }: Access) =>
  handler(contract.listAudit, async ({ companyId, query }) => {
    const { limit, cursor, action, targetKind, targetId, userId, since, until, signIns, q = '' } = query;
    const [before] = await cursors.open(companyId, 'audit', cursor);
    let found = db
      .selectFrom('audit_log')
      .select(entryColumns)
      .where('company_id', '=', companyId)
      .orderBy('audit_id', 'desc')
      .limit(limit + 1);
    if (before !== undefined) found = found.where('audit_id', '<', before);
    if (action) found = found.where('action', '=', action);
    if (targetKind) found = found.where('target_kind', '=', targetKind);
    if (targetId) found = found.where('target_id', '=', targetId);
    if (userId) found = found.where('actor_kind', '=', 'user').where('actor_id', '=', userId);
    if (since) found = found.where('created_utc', '>=', since);
    if (until) found = found.where('created_utc', '<', until);
    const words = q.split(/\s+/).filter(Boolean);
    if (signIns)
      found = found.where('action', 'not in', ['session.started', 'session.ended', 'identity.proved']);
    const floor = words.length === 0 && !signIns ? null : await searchFloor(db, companyId, before);
    if (floor !== null) found = found.where('audit_id', '>=', floor);
    for (const word of words) found = found.where(sql<SqlBool>`LOCATE(${word}, ${searchedText}) > 0`);
    const rows = await found.execute();
    const entries = rows.slice(0, limit).map(
      (row): Entry => ({
        id: row.audit_id,
        createdUtc: row.created_utc.toISOString(),
        actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
        action: row.action,
        target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
        before: row.before_json === null ? null : JSON.parse(row.before_json),
        after: row.after_json === null ? null : JSON.parse(row.after_json),
        address: row.address,
        userAgent: row.user_agent,
        requestId: row.request_id,
      }),
    );
    const last = rows.length > limit ? entries.at(-1)?.id : (floor ?? undefined);
    return json(200, {
      entries,
      ...(await cursors.pageEnd(companyId, 'audit', last === undefined ? undefined : [last])),
    });
  });

const searchedText = sql`CONCAT_WS(' ', actor_name, target_name, CONVERT(action USING utf8mb4), CONVERT(address USING utf8mb4), CONVERT(request_id USING utf8mb4))`;

/** Entries that one page reads where no index finds those that match, such as a part of a name. */
const searchedEntries = 20_000;

/** Null if the page reaches the oldest entry of all. */
const searchFloor = async (
  db: Kysely<AccessTables>,
  companyId: number,
  before: number | undefined,
): Promise<number | null> => {
  let looked = db
    .selectFrom('audit_log')
    .select('audit_id')
    .where('company_id', '=', companyId)
    .orderBy('audit_id', 'desc')
    .offset(searchedEntries)
    .limit(1);
  if (before !== undefined) looked = looked.where('audit_id', '<', before);
  const row = await looked.executeTakeFirst();
  return row ? row.audit_id + 1 : null;
};

export interface Author {
  readonly companyId: number;
  readonly by: AuditSource;
  readonly at: Date;
}

export const audit = async (
  trx: Trx<AccessTables>,
  author: Author,
  action: AuditEntry['action'],
  [kind, id, name]: readonly [AuditEntry['target']['kind'], number | null, string],
  change?: Pick<AuditEntry, 'before' | 'after'>,
): Promise<void> => {
  const auditId = await writeAudit(trx, { ...author, action, target: { kind, id, name }, ...change });
  if (!noticedActions.has(action)) return;
  const { companyId, by, at } = author;
  await writeNotices(trx, [
    {
      companyId,
      kind: 'access_changed',
      cause: `audit:${auditId}`,
      subject: { id, name },
      // Who joins knows it.
      userId: action === 'member.joined' ? null : id,
      detail: { action, by: by.name, before: change?.before?.role, after: change?.after?.role },
      at,
    },
  ]);
};

/**
 * Refused passwords, codes and addresses of today, by their count. Not awaited: the time of an answer does not tell whether there is
 * such a member.
 */
export const noteRefused = (
  { db, log }: Pick<Access, 'db' | 'log'>,
  author: Author,
  action: 'password.refused' | 'code.refused' | 'key.network_refused',
  target: readonly ['member' | 'key', number, string],
  times = 1,
): void => {
  const { companyId, at } = author;
  const day = at.toISOString().slice(0, 10);
  const subject = hash('sha256', [action, companyId, target[1], day].join('\n'), 'buffer');
  void transaction(db, async (trx) => {
    await trx
      .insertInto('sign_in_delays')
      .values({ subject, failures: times, last_attempt_utc: at, next_attempt_utc: at })
      .onDuplicateKeyUpdate((eb) => ({
        failures: eb('sign_in_delays.failures', '+', times),
        last_attempt_utc: at,
      }))
      .execute();
    const { failures: today } = await trx
      .selectFrom('sign_in_delays')
      .select('failures')
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow();
    if (isToldAt(today - times, today)) await audit(trx, author, action, target, { after: { today } });
  }).catch((error: unknown) => log.warn({ error, companyId, action }, 'a refusal was not counted'));
};

/** The members are told of these. */
const noticedActions: ReadonlySet<AuditEntry['action']> = new Set([
  'member.joined',
  'member.role_changed',
  'member.removed',
  'passkey.added',
  'passkey.removed',
  'totp.enabled',
  'totp.disabled',
  'totp.reset',
]);

/** What may be needed of a call of a member with a session. */
export interface MemberCall {
  readonly companyId: number;
  readonly user: ActorUser;
  readonly actor: Actor;
  readonly requestId: string;
  readonly deadlineMs: number;
}

export const authorOf = (
  { now }: Pick<Access, 'now'>,
  call: Pick<MemberCall, 'companyId' | 'actor' | 'requestId'>,
): Author => ({ companyId: call.companyId, by: byMember(call), at: now() });

/** A member who has no session yet. */
export const byPerson = (
  id: number,
  name: string,
  { address, userAgent }: Actor,
  requestId: string,
): AuditSource => ({ kind: 'user', id, name, address, userAgent, requestId });
