import { operatorContract, parseBody } from '@causeway/proto';
import { each, json } from '@causeway/runtime';
import type { Access } from '../context.ts';
import { keyEntry, keyEntryColumns, keyName } from '../key-table/entries.ts';
import { deactivate } from './deactivate.ts';
import { companyOfKey } from './find-key.ts';
import { keyAnswer, keyColumns } from './key.ts';

/**
 * When this has been answered, no gateway accepts the key any more (decisions, "Identifiers, keys,
 * scopes"). Revoking it again changes nothing and makes the same promise.
 */
export const revokeKey = (access: Access) =>
  each(async (call) => {
    const { db, table } = access;
    const { id } = parseBody(operatorContract.revokeKey, call.body);
    const company_id = await companyOfKey(access, id);
    await deactivate(access, { company_id, id });
    const row = await db
      .selectFrom('api_keys')
      .select([...keyColumns, ...keyEntryColumns])
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await table.publish(keyName(row), keyEntry(row));
    return json(200, keyAnswer(row));
  });
