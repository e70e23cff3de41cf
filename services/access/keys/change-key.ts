import { bySystem, changes, conflict, contract, notFound } from '@causeway/proto';
import { acrossTenants, handler, json, type Repeated, repeat, transaction } from '@causeway/runtime';
import { audit, authorOf } from '../audit.ts';
import type { Access } from '../context.ts';
import { keyEntry, keyEntryColumns, keyName } from '../key-table/entries.ts';
import { requireRoleStill } from '../sessions/person.ts';
import { expiryOf } from './expiry.ts';
import { type KeyRow, keyColumns, portalKey, revokeEverywhere } from './keys.ts';

/** Under the lock of the row, so that two changes at once keep each other's fields. */
export const updateApiKey = (access: Access) =>
  handler(contract.updateApiKey, async (call) => {
    const { companyId, body } = call;
    const { db, table, now } = access;
    const { name, scopes, note } = body;
    const set = {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes: scopes.join(' ') }),
      ...(note !== undefined && { note }),
      ...(body.expiresUtc !== undefined && { expires_utc: expiryOf(body, now()) }),
    };
    const id = call.id('key');
    const row = await transaction(db, async (trx) => {
      await requireRoleStill(trx, companyId, call.user.id, 'developer');
      const find = () =>
        trx
          .selectFrom('api_keys')
          .select([...keyColumns, ...keyEntryColumns])
          .where('company_id', '=', companyId)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
      const before = await find();
      if (!before) throw notFound('key');
      if (before.is_active === 0) throw conflict('this key is revoked; create another one');
      await trx
        .updateTable('api_keys')
        .set((eb) => ({ ...set, version: eb('version', '+', 1) }))
        .where('company_id', '=', companyId)
        .where('id', '=', id)
        .execute();
      const after = (await find())!;
      const change = changes(settingsOf(before), settingsOf(after));
      if (Object.keys(change.after).length > 0)
        await audit(trx, authorOf(access, call), 'key.changed', ['key', id, before.name], change);
      return after;
    });
    await table.publish(keyName(row), keyEntry(row));
    return json(200, portalKey(row));
  });

const settingsOf = (row: KeyRow) => ({
  name: row.name,
  scopes: row.scopes.split(' '),
  note: row.note,
  expiresUtc: row.expires_utc?.toISOString() ?? null,
});

/** Revokes the keys that have expired, as a member would. Replicas may run it at once. */
export const startExpiry = (access: Access): Repeated =>
  repeat(() => revokeExpired(access), {
    pauseMs: expiryPauseMs,
    onError: (error) => access.log.warn({ error }, 'revoking expired keys failed'),
  });

/** Gateways refuse an expired key by themselves. */
const expiryPauseMs = 15_000;

const revokeExpired = async (access: Access): Promise<number> => {
  const rows = await acrossTenants(access.db, 'expired keys of all companies are looked for')
    .selectFrom('api_keys')
    .select(['company_id', 'id'])
    .where('expires_utc', '<=', access.now())
    .where('is_active', '=', 1)
    .limit(100)
    .execute();
  for (const { company_id: companyId, id } of rows)
    await revokeEverywhere(access, { companyId, id, by: bySystem });
  return rows.length;
};
