import { type AuditSource, createKeyValue, hashKeyValue, lastFour, type Scope } from '@causeway/proto';
import { type Trx, transaction } from '@causeway/runtime';
import { writeAudit } from '../audit/write-audit.ts';
import type { Access } from '../context.ts';
import { keyEntry, keyName } from '../key-table/entries.ts';
import type { AccessTables } from '../schema.ts';
import { deactivate } from './deactivate.ts';
import { requireRoomForKey } from './key-quota.ts';

export interface NewKey {
  readonly companyId: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly by: AuditSource;
  /** Checks, within the transaction, whether the key may still be created. */
  readonly check?: (trx: Trx<AccessTables>) => Promise<void>;
}

/**
 * Creates a key and returns once every gateway accepts it, so that it works as soon as it is shown.
 * @throws Problem `quota_exceeded`
 */
export const makeKey = async (access: Access, { companyId, name, scopes, by, check }: NewKey) => {
  const { db, table, keyPrefix, keyQuota, random, now, log } = access;
  const value = createKeyValue({ prefix: keyPrefix, companyId, random });
  const at = now();
  const key = {
    company_id: companyId,
    name,
    key_hash: Buffer.from(hashKeyValue(value), 'base64url'),
    prefix: keyPrefix,
    last4: lastFour(value),
    scopes: scopes.join(' '),
    created_utc: at,
  };
  const id = await transaction(db, async (trx) => {
    await check?.(trx);
    await requireRoomForKey(trx, companyId, keyQuota);
    const { insertId } = await trx.insertInto('api_keys').values(key).executeTakeFirstOrThrow();
    await writeAudit(trx, {
      companyId,
      by,
      action: 'key.created',
      target: { kind: 'key', id: Number(insertId), name },
      after: { name, scopes },
      at,
    });
    return Number(insertId);
  });
  const row = { ...key, ...untouched, id };
  try {
    await table.publish(keyName(row), keyEntry(row));
  } catch (error) {
    // The answer, and with it the key's value, is lost: revoke the key, so that no unknown key stays active.
    await deactivate(access, {
      companyId,
      id,
      by: { ...by, kind: 'system', id: null, name: 'system' },
    }).catch((cause: unknown) => log.error({ error: cause, keyId: id }, 'unused key not revoked'));
    throw error;
  }
  return { row, value };
};

const untouched = {
  version: 1,
  is_active: 1,
  limit_read: null,
  limit_write: null,
  limit_admin: null,
  limit_lookup: null,
  revoked_utc: null,
  last_used_utc: null,
} as const;
