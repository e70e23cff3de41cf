import {
  type CompanyEntry,
  companyEntryName,
  type KeyEntry,
  keyEntryPrefix,
  type SignerEntry,
} from '@causeway/proto';
import type { Database, Log } from '@causeway/runtime';
import type { AccessTables } from '../schema.ts';

/** The source of the key table. */
export interface TableSource {
  readonly db: Database<AccessTables>;
  readonly log: Log;
  readonly now: () => Date;
  /** The public keys with which services verify session proofs, by the names of the ring's keys. */
  readonly signers: ReadonlyMap<string, SignerEntry>;
}

export interface EntryText {
  readonly name: string;
  readonly text: string;
}

/**
 * Gives rows that are older than their entries a version above them, so that the database is authoritative again. The
 * newer entry decides one thing: a key that it shows as revoked stays revoked, even if the restored backup does not
 * know of that yet.
 */
export const liftRows = async ({ db, now }: TableSource, ahead: readonly EntryText[]): Promise<void> => {
  for (const { name, text } of ahead) {
    if (name.startsWith(keyEntryPrefix)) {
      const { id, companyId, version, active } = JSON.parse(text) as KeyEntry;
      await db
        .updateTable('api_keys')
        .set(({ fn, val }) => ({
          version: version + 1,
          ...(!active && { is_active: 0, revoked_utc: fn.coalesce('revoked_utc', val(now())) }),
        }))
        .where('company_id', '=', companyId)
        .where('id', '=', id)
        .where('version', '<', version)
        .execute();
    } else {
      const { version } = JSON.parse(text) as CompanyEntry;
      await db
        .updateTable('companies')
        .set({ version: version + 1 })
        .where('company_id', '=', Number(name.slice(companyEntryName(0).length - 1)))
        .where('version', '<', version)
        .execute();
    }
  }
};
