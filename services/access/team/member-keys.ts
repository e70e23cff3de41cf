import { setTimeout as sleep } from 'node:timers/promises';
import { maskKey } from '@causeway/identity';
import {
  contract,
  endsWith,
  type MemberEnding,
  type NoticeChannel,
  notFound,
  type Role,
} from '@causeway/proto';
import { handler, json, type Trx } from '@causeway/runtime';
import { type Kysely, sql } from 'kysely';
import { type Author, audit } from '../audit.ts';
import type { Access } from '../context.ts';
import { keyColumns } from '../keys/key-answers.ts';
import { deactivateIn, revokeEverywhere } from '../keys/keys.ts';
import type { AccessTables } from '../schema.ts';
import { selectMember } from '../sessions/person.ts';

export const listMemberKeys = ({ db }: Access) =>
  handler(contract.listMemberKeys, async (call) => {
    const { companyId } = call;
    const memberId = call.id('member');
    if (!(await selectMember(db, companyId, memberId).select('id').executeTakeFirst()))
      throw notFound('member');
    const rows = await activeKeysOf(db, companyId, memberId);
    return json(200, {
      keys: rows.map((row) => ({
        id: row.id,
        name: row.name,
        masked: maskKey({ prefix: row.prefix, companyId: row.company_id, last4: row.last4 }),
        createdUtc: row.created_utc.toISOString(),
        lastUsedUtc: row.last_used_utc?.toISOString() ?? null,
      })),
    });
  });

/**
 * Ends what would let a removed or demoted member back in, in the transaction that takes their rights. The
 * gateways learn of the keys after the commit, or at the key table's next comparison if this process dies
 * before; `webhooks` finds what it has to end in a row.
 * @returns the keys that the member created or rotated, and so may know.
 */
export const endRights = async (
  trx: Trx<AccessTables>,
  author: Author,
  memberId: number,
  { role, keepKeys, keepSubscriptions, keepChannels }: LostRights,
): Promise<readonly number[]> => {
  const { companyId, by, at } = author;
  await endInvitations(trx, author, 'invited_by', memberId);
  await trx
    .deleteFrom('portal_password_resets')
    .where('company_id', '=', companyId)
    .where('made_by', '=', memberId)
    .execute();
  const keys = await activeKeysOf(trx, companyId, memberId);
  const revokedKeys = keys.map(({ id }) => id).filter((id) => !keepKeys.includes(id));
  for (const id of revokedKeys) await deactivateIn(trx, { ...author, id });
  const ends = endsWith(role);
  if (!Object.values(ends).includes(true)) return revokedKeys;
  const keep = { subscriptions: keepSubscriptions, channels: keepChannels };
  const ending = JSON.stringify({ ...ends, keep, by } satisfies MemberEnding);
  const row = { ending, ended_utc: at, due_utc: at, done_utc: null, switched_off: null };
  await trx
    .insertInto('member_endings')
    .values({ company_id: companyId, member_id: memberId, ...row })
    .onDuplicateKeyUpdate(row)
    .execute();
  return revokedKeys;
};

/** @returns how many were open. */
export const endInvitations = async (
  trx: Trx<AccessTables>,
  author: Author,
  column: 'invitation_id' | 'invited_by',
  id: number,
): Promise<number> => {
  const invitations = await trx
    .selectFrom('portal_invitations')
    .select(['invitation_id', 'email', 'role'])
    .where('company_id', '=', author.companyId)
    .where(column, '=', id)
    .forUpdate()
    .execute();
  for (const { invitation_id, email, role } of invitations) {
    await trx
      .deleteFrom('portal_invitations')
      .where('company_id', '=', author.companyId)
      .where('invitation_id', '=', invitation_id)
      .execute();
    const target = ['invitation', invitation_id, email] as const;
    await audit(trx, author, 'invitation.revoked', target, { before: { email, role } });
  }
  return invitations.length;
};

interface LostRights {
  /** The new one; null: removed. */
  readonly role: Role | null;
  readonly keepKeys: readonly number[];
  readonly keepSubscriptions: readonly number[];
  readonly keepChannels: readonly NoticeChannel[];
}

/**
 * Returns when every gateway refuses the keys and `webhooks` has ended the rest, which may come later if it is away: links are
 * dead from the commit.
 */
export const announceEnded = async (
  access: Access,
  { companyId, by }: Author,
  memberId: number,
  ids: readonly number[],
): Promise<void> => {
  await Promise.all([
    ...ids.map((id) => revokeEverywhere(access, { companyId, id, by })),
    untilEnded(access, companyId, memberId),
  ]);
};

const untilEnded = async ({ db }: Access, companyId: number, memberId: number): Promise<void> => {
  for (
    const stopMs = performance.now() + endedWithinMs;
    performance.now() < stopMs;
    await sleep(askEveryMs)
  ) {
    const row = await db
      .selectFrom('member_endings')
      .select('done_utc')
      .where('company_id', '=', companyId)
      .where('member_id', '=', memberId)
      .executeTakeFirst();
    if (!row || row.done_utc !== null) return;
  }
};

const endedWithinMs = 4000;
const askEveryMs = 100;

/** Newest first. Only the audit log records who created or rotated a key. */
const activeKeysOf = (db: Kysely<AccessTables>, companyId: number, memberId: number) =>
  db
    .selectFrom('api_keys')
    .select(keyColumns)
    .where('company_id', '=', companyId)
    .where('is_active', '=', 1)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('audit_log')
        .select(sql<number>`CAST(audit_log.target_id AS UNSIGNED)`.as('id'))
        .where('audit_log.company_id', '=', companyId)
        .where('audit_log.actor_kind', '=', 'user')
        .where('audit_log.actor_id', '=', memberId)
        .where('audit_log.action', 'in', ['key.created', 'key.rotated']),
    )
    .orderBy('id', 'desc')
    .execute();
