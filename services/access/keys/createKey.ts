import { createKeyValue, hashKeyValue, lastFour } from '@causeway/proto';
import { requireCompany } from '../companies/require-company.ts';
import type { Access } from '../context.ts';
import { keyEntry, keyName } from '../key-table/entries.ts';
import { operatorHandler } from '../operator-handler.ts';
import { deactivate } from './deactivate.ts';
import { keyAnswer } from './key.ts';

/** Answers once every gateway accepts the key, so that it works as soon as it is read. */
export const createKey = (access: Access) =>
  operatorHandler(access, 'createKey', async ({ company_id, name, scopes }) => {
    const { db, table, keyPrefix, random, now, log } = access;
    await requireCompany(access, company_id);

    const value = createKeyValue({ prefix: keyPrefix, companyId: company_id, random });
    const key = {
      company_id,
      name,
      key_hash: Buffer.from(hashKeyValue(value), 'base64url'),
      prefix: keyPrefix,
      last4: lastFour(value),
      scopes: scopes.join(' '),
      created_utc: now(),
    };
    const { insertId } = await db.insertInto('api_keys').values(key).executeTakeFirstOrThrow();
    const row = { ...key, ...newKey, id: Number(insertId) };
    try {
      await table.publish(keyName(row), keyEntry(row));
    } catch (error) {
      // Its value is lost with this answer: a key that nobody has must not stay good.
      await deactivate(access, row).catch((cause: unknown) =>
        log.error({ error: cause, keyId: row.id }, 'unused key stays'),
      );
      throw error;
    }
    return { ...keyAnswer(row), value };
  });

const newKey = {
  version: 1,
  is_active: 1,
  limit_read: null,
  limit_write: null,
  limit_admin: null,
  revoked_utc: null,
  last_used_utc: null,
} as const;
