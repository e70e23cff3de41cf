import { type AnswerTo, contract } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import { type SqlBool, sql } from 'kysely';
import type { Access } from '../context.ts';
import { searchFloor } from './search-floor.ts';

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
    const { limit, cursor, action, targetKind, targetId, userId, since, until, q = '' } = query;
    const [before] = cursor === undefined ? [] : await cursors.open(companyId, 'audit', cursor);
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
    const floor = words.length === 0 ? null : await searchFloor(db, companyId, before);
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
      nextCursor: last === undefined ? null : await cursors.seal(companyId, 'audit', last),
      hasMore: last !== undefined,
    });
  });

const searchedText = sql`CONCAT_WS(' ', actor_name, target_name, CONVERT(action USING utf8mb4), CONVERT(address USING utf8mb4))`;
