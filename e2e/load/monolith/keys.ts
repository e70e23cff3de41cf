import { hash } from 'node:crypto';
import type { Pool, RowDataPacket } from 'mysql2/promise';

export interface Key {
  readonly id: number;
  readonly companyId: number;
  readonly scopes: readonly string[];
  /** Requests per minute, if the key or its company has a limit of its own. */
  readonly limitRead: number | null;
}

/** All API keys in memory by their SHA-256, so that no request waits for a look-up. */
export interface Keys {
  find(value: string): Key | undefined;
  /** Records a use; uses are written in one statement per minute. */
  used(key: Key): void;
  close(): Promise<void>;
}

const refreshMs = 30_000;
const writeUsesMs = 60_000;
const keyForm = /^crm_\d{1,15}_[0-9A-Za-z]{40}$/;

export const loadKeys = async (pool: Pool): Promise<Keys> => {
  let byHash = await readKeys(pool);
  let uses = new Set<number>();

  const writeUses = async (): Promise<void> => {
    const ids = [...uses];
    uses = new Set();
    if (ids.length > 0)
      await pool.query('UPDATE api_keys SET last_used_utc = UTC_TIMESTAMP(3) WHERE id IN (?)', [ids]);
  };
  const refresh = setInterval(async () => {
    byHash = await readKeys(pool);
  }, refreshMs);
  const write = setInterval(writeUses, writeUsesMs);
  return {
    find: (value) => (keyForm.test(value) ? byHash.get(hash('sha256', value, 'base64url')) : undefined),
    used: (key) => uses.add(key.id),
    close: async () => {
      clearInterval(refresh);
      clearInterval(write);
      await writeUses();
    },
  };
};

const readKeys = async (pool: Pool): Promise<ReadonlyMap<string, Key>> => {
  const [rows] = await pool.query<KeyRow[]>(
    `SELECT k.key_hash, k.id, k.company_id, k.scopes, COALESCE(k.limit_read, c.limit_read) AS limit_read
     FROM api_keys k JOIN companies c ON c.company_id = k.company_id
     WHERE k.is_active`,
  );
  return new Map(
    rows.map((row) => [
      row.key_hash.toString('base64url'),
      {
        id: row.id,
        companyId: row.company_id,
        scopes: row.scopes.split(' '),
        limitRead: row.limit_read,
      },
    ]),
  );
};

interface KeyRow extends RowDataPacket {
  readonly key_hash: Buffer;
  readonly id: number;
  readonly company_id: number;
  readonly scopes: string;
  readonly limit_read: number | null;
}
