import type { Access } from '../context.ts';
import { keyEntry, keyEntryColumns, keyName } from '../key-table/entries.ts';
import { operatorHandler } from '../operator-handler.ts';
import { deactivate } from './deactivate.ts';
import { companyOfKey } from './find-key.ts';
import { keyAnswer, keyColumns } from './key.ts';

/**
 * When this has been answered, no gateway accepts the key any more (decisions, "Identifiers, keys,
 * scopes"). Revoking it again changes nothing and makes the same promise.
 */
export const revokeKey = (access: Access) =>
  operatorHandler(access, 'revokeKey', async ({ id }) => {
    const { db, table } = access;
    const company_id = await companyOfKey(access, id);
    await deactivate(access, { company_id, id });
    const row = await db
      .selectFrom('api_keys')
      .select([...keyColumns, ...keyEntryColumns])
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await table.publish(keyName(row), keyEntry(row));
    return keyAnswer(row);
  });
