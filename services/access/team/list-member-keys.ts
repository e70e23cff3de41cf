import { contract, maskKey, notFound } from '@causeway/proto';
import { handler, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { activeKeysOf } from './member-keys.ts';

export const listMemberKeys = ({ db }: Access) =>
  handler(contract.listMemberKeys, async (call) => {
    const { companyId } = call;
    const memberId = call.id('member');
    const member = await db
      .selectFrom('portal_users')
      .select('id')
      .where('company_id', '=', companyId)
      .where('id', '=', memberId)
      .executeTakeFirst();
    if (!member) throw notFound('member');
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
