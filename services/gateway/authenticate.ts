import { hashKeyValue, type KeyEntry, keyEntryName, parseKeyValue } from '@causeway/proto';
import type { KeyTable } from '@causeway/runtime';

/** Who is asking, as far as the gateway can tell. */
export type Identity =
  | {
      readonly outcome: 'known';
      /** The key's hash, which proves to the services that it was sent. */
      readonly proof: string;
      /** Of its entry. */
      readonly name: string;
      readonly key: KeyEntry;
    }
  | { readonly outcome: 'refused' }
  /** The copy of the key table cannot be relied on. */
  | { readonly outcome: 'undecided' };

const refused: Identity = { outcome: 'refused' };
const undecided: Identity = { outcome: 'undecided' };

/**
 * Authenticates from memory: what cannot be a key is refused without any look-up, and the cost of any
 * other refusal is two SHA-256 and one map look-up.
 * @param fresh false while the feed of the key table is cut off: then a key that is not known may be new.
 */
export const authenticate = (apiKey: string, prefix: string, table: KeyTable, fresh: boolean): Identity => {
  const parsed = parseKeyValue(apiKey, prefix);
  if (parsed === null) return refused;
  if (!table.trusted()) return undecided;
  const proof = hashKeyValue(apiKey);
  const name = keyEntryName(proof);
  const key = table.key(name);
  if (key === undefined) return fresh ? refused : undecided;
  return key.active && key.companyId === parsed.companyId ? { outcome: 'known', proof, name, key } : refused;
};

/** Whether a key that was known is so still: it may have been revoked while its request was counted. */
export const stillValid = (identity: { readonly name: string }, table: KeyTable): boolean =>
  table.trusted() && table.key(identity.name)?.active === true;
