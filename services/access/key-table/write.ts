import type { KV } from '@nats-io/kv';
import { type HeldEntry, readEntry } from './read.ts';

/** An entry shows one version of its row; the newer version wins. */
export interface VersionedEntry {
  readonly version: number;
}

/** A conflict means that another writer came first, so each retry sees a newer entry than the last. */
const maxTries = 50;

/**
 * Puts an entry into the key table unless the table holds a newer version of it. Any number of writers may do so at
 * once: each write names the revision it replaces, and a writer that comes second reads again.
 * @param known what the table is believed to hold, which saves the first read.
 * @returns whether something was written.
 */
export const writeEntry = async (
  bucket: KV,
  name: string,
  entry: VersionedEntry,
  known?: HeldEntry,
): Promise<boolean> => {
  const text = JSON.stringify(entry);
  let held = known ?? (await readEntry(bucket, name));
  for (let tries = 1; ; tries++) {
    if (held.text !== null) {
      const version = versionOf(held.text);
      if (version > entry.version) return false;
      // One version has one content, unless somebody else wrote into the table: then ours wins.
      if (version === entry.version && held.text === text) return false;
    }
    try {
      await bucket.put(name, text, { previousSeq: held.revision });
      return true;
    } catch (error) {
      if (!isConflict(error) || tries === maxTries) throw error;
    }
    held = await readEntry(bucket, name);
  }
};

/** The version in an entry's text; −1 for what is not an entry, so that any row replaces it. */
export const versionOf = (text: string): number => {
  try {
    const { version } = JSON.parse(text) as Partial<VersionedEntry>;
    return typeof version === 'number' ? version : -1;
  } catch {
    return -1;
  }
};

/** "Wrong last sequence": a replicated bucket reports it with either code. */
const isConflict = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === 10071 || code === 10164;
};
