import { assertUnchanged } from '@causeway/identity';
import { changes, conflict, contract } from '@causeway/proto';
import { handler, json, type Trx, transaction } from '@causeway/runtime';
import type { Updateable } from 'kysely';
import { audit, authorOf } from '../audit.ts';
import type { Access } from '../context.ts';
import { publishKey } from '../key-table/entries.ts';
import { updateKey } from '../rows.ts';
import type { AccessTables } from '../schema.ts';
import { requireRoleStill } from '../sessions/person.ts';
import { expiryOf } from './expiry.ts';
import { type KeyRow, networksOf, portalKey, readKey, type StoredKey } from './key-answers.ts';
import type { previousEnd } from './keys.ts';

/** Under the lock of the row, so that two changes at once keep each other's fields. */
export const updateApiKey = (access: Access) =>
  handler(contract.updateApiKey, async (call) => {
    const { body } = call;
    const { db, table, now } = access;
    const { name, scopes, note, networks } = body;
    const set = {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes: scopes.join(' ') }),
      ...(note !== undefined && { note }),
      ...(networks !== undefined && { networks: networks.join(' ') || null }),
      ...(body.expiresUtc !== undefined && { expires_utc: expiryOf(body, now()) }),
    };
    const row = await transaction(db, async (trx) => {
      const before = await changeableKey(access, trx, call);
      assertUnchanged('key', settingsOf(before), body, body.basedOn);
      const after = await changeRow(trx, before, set);
      const change = changes(settingsOf(before), settingsOf(after));
      if (Object.keys(change.after).length > 0)
        await audit(trx, authorOf(access, call), 'key.changed', ['key', before.id, before.name], change);
      return after;
    });
    await publishKey(table, row);
    return json(200, portalKey(row));
  });

interface KeyCall {
  readonly companyId: number;
  readonly user: { readonly id: number };
  readonly id: (what: string) => number;
}

/** Locks the key. @throws Problem `not_found`, `conflict` */
export const changeableKey = async (
  { now }: Access,
  trx: Trx<AccessTables>,
  { companyId, user, id }: KeyCall,
): Promise<StoredKey> => {
  await requireRoleStill(trx, companyId, user.id, 'developer');
  const row = await readKey(trx, companyId, id('key'), true);
  if (row.is_active === 0) throw conflict('this key is revoked; create another one');
  // It may not have been revoked yet, and a later expiry would admit it again.
  if (row.expires_utc && row.expires_utc <= now()) throw conflict('this key has expired; create another one');
  return row;
};

export const changeRow = async (
  trx: Trx<AccessTables>,
  { company_id, id }: Pick<KeyRow, 'company_id' | 'id'>,
  set: Updateable<AccessTables['api_keys']> | ReturnType<typeof previousEnd>,
): Promise<StoredKey> => {
  await updateKey(trx, company_id, id)
    .set((eb) => ({ ...set, version: eb('version', '+', 1) }))
    .execute();
  return readKey(trx, company_id, id);
};

const settingsOf = (row: KeyRow) => ({
  name: row.name,
  scopes: row.scopes.split(' '),
  note: row.note,
  expiresUtc: row.expires_utc?.toISOString() ?? null,
  networks: networksOf(row),
});
