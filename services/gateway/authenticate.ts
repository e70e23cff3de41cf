import { hashKeyValue, type KeyEntry, keyEntryName } from '@causeway/proto';
import type { KeyTable } from '@causeway/runtime';

/** The caller, as far as the gateway can tell. */
export type Identity =
  | {
      readonly outcome: 'known';
      /** The key's hash, which proves to the services that the caller sent the key. */
      readonly proof: string;
      /** Of its entry. */
      readonly name: string;
      readonly key: KeyEntry;
    }
  | { readonly outcome: 'refused' }
  /** The key is unknown, but the copy of the key table may be out of date. */
  | { readonly outcome: 'undecided' };

const refused: Identity = { outcome: 'refused' };
const undecided: Identity = { outcome: 'undecided' };

/**
 * Authenticates a key from memory. A refusal costs two SHA-256 and one map lookup.
 * @param companyId as the key names it.
 * @param fresh false while the key table receives no updates: an unknown key may then be new.
 */
export const authenticate = (
  apiKey: string,
  companyId: number,
  table: KeyTable,
  fresh: boolean,
): Identity => {
  if (!table.trusted()) return undecided;
  const proof = hashKeyValue(apiKey);
  const name = keyEntryName(proof);
  const key = table.key(name);
  if (key === undefined) return fresh ? refused : undecided;
  return key.active && key.companyId === companyId ? { outcome: 'known', proof, name, key } : refused;
};

/** Whether a key is still known: it may have been revoked while its request was counted. */
export const stillValid = (identity: { readonly name: string }, table: KeyTable): boolean =>
  table.trusted() && table.key(identity.name)?.active === true;
