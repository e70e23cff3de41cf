import { notFound } from '@causeway/proto';
import type { Access } from '../context.ts';
import { keyEntry, keyEntryColumns, keyName } from '../key-table/entries.ts';
import { deactivate, type KeyEnd } from './deactivate.ts';
import { keyColumns } from './key.ts';

/**
 * Revokes a key; when this returns, no gateway accepts it any more (contract, "Identifiers, keys, scopes"). Revoking
 * it again changes nothing and gives the same guarantee. @throws Problem `not_found`
 */
export const endKey = async (access: Access, end: KeyEnd) => {
  const { db, table } = access;
  await deactivate(access, end);
  const row = await db
    .selectFrom('api_keys')
    .select([...keyColumns, ...keyEntryColumns])
    .where('company_id', '=', end.companyId)
    .where('id', '=', end.id)
    .executeTakeFirst();
  if (!row) throw notFound('key');
  await table.publish(keyName(row), keyEntry(row));
  return row;
};
