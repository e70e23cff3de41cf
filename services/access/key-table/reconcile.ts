import {
  type CompanyEntry,
  companyEntryName,
  isRefusal,
  type KeyEntry,
  keyEntryPrefix,
  type MetaEntry,
  metaEntryName,
  type SignerEntry,
  signerEntryPrefix,
} from '@causeway/proto';
import { transaction } from '@causeway/runtime';
import type { KV } from '@nats-io/kv';
import { updateCompany, updateKey } from '../rows.ts';
import { absent, type HeldEntry, readTable, type VersionedEntry, versionOf, writeEntry } from './bucket.ts';
import { type TableSource, tableEntries } from './entries.ts';

/** Enough to keep the server busy: 100,000 entries take some seconds; one at a time would take minutes. */
const maxWritesInFlight = 128;

const metaText = JSON.stringify({ ready: true } satisfies MetaEntry);

/**
 * Makes the key table match the database and marks it complete. The table is read before the database, so
 * everything in it had been committed before. Therefore
 * - an entry without a row belongs to a row that the database has lost: its key is refused from now on;
 * - an entry newer than its row means that the database went back in time, as after restoring a backup: the
 *   row is lifted above it.
 * Both are logged as errors because neither happens in normal operation. An entry that the read missed only
 * costs a needless write, since every write checks what it replaces.
 * @returns how many entries were written.
 */
export const reconcile = async (source: TableSource, bucket: KV): Promise<number> => {
  const { log } = source;
  const held = await readTable(bucket);
  const unknown = new Set(held.keys());
  unknown.delete(metaEntryName);
  let written = 0;
  const ahead: EntryText[] = [];
  for await (const page of tableEntries(source)) {
    const different = page.filter(([name, entry]) => {
      unknown.delete(name);
      const text = held.get(name)?.text ?? null;
      if (text === null) return true;
      if (versionOf(text) > entry.version && !name.startsWith(signerEntryPrefix)) ahead.push({ name, text });
      return text !== JSON.stringify(entry);
    });
    written += await writeAll(bucket, held, different);
  }
  written += await writeAll(bucket, held, [...unknown].flatMap(endedSigner));
  const lost = [...unknown].flatMap((name) => refused(name, held.get(name)?.text ?? null));
  if (lost.length > 0) log.error({ entries: lost.length }, 'keys in the key table but not in the database');
  written += await writeAll(bucket, held, lost);
  if (ahead.length > 0) {
    log.error({ entries: ahead.length }, 'key table newer than the database, lifting its rows');
    await liftRows(source, ahead);
    return written + (await reconcile(source, bucket));
  }
  if (held.get(metaEntryName)?.text !== metaText) await bucket.put(metaEntryName, metaText);
  return written;
};

const writeAll = async (
  bucket: KV,
  held: ReadonlyMap<string, HeldEntry>,
  entries: readonly (readonly [name: string, entry: VersionedEntry])[],
): Promise<number> => {
  let written = 0;
  const queue = entries.values();
  const worker = async () => {
    for (const [name, entry] of queue) {
      if (await writeEntry(bucket, name, entry, held.get(name) ?? absent)) written++;
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxWritesInFlight, entries.length) }, worker));
  return written;
};

/** The final entry of a signer whose key has left the ring; empty if it has ended already or is not a signer's. */
const endedSigner = (name: string): (readonly [string, SignerEntry])[] =>
  name.startsWith(signerEntryPrefix) ? [[name, { version: 1, publicKey: null }]] : [];

/** The entry of a key that the database does not know, refused; empty if it already is or is not a key's. */
const refused = (name: string, text: string | null): (readonly [string, KeyEntry])[] => {
  if (text === null || !name.startsWith(keyEntryPrefix) || versionOf(text) < 0) return [];
  const { replacedBy, ...entry } = JSON.parse(text) as KeyEntry;
  const end: KeyEntry = { ...entry, active: false };
  return isRefusal({ ...entry, ...(replacedBy && { replacedBy }) }) ? [] : [[name, end]];
};

interface EntryText {
  readonly name: string;
  readonly text: string;
}

/**
 * Makes the database authoritative again: lifts rows above their newer entries. A key that the entry shows as
 * revoked stays revoked, even if the restored backup does not know of that yet.
 */
const liftRows = async ({ db, now }: TableSource, ahead: readonly EntryText[]): Promise<void> => {
  for (const { name, text } of ahead) {
    if (name.startsWith(keyEntryPrefix)) {
      const entry = JSON.parse(text) as KeyEntry;
      const { id, companyId, version } = entry;
      const ended = isRefusal(entry);
      // Killed in between, it would leave the subscriptions of a revoked key on.
      await transaction(db, async (trx) => {
        const { numUpdatedRows } = await updateKey(trx, companyId, id)
          .set(({ fn, val }) => ({
            version: version + 1,
            ...(ended && { is_active: 0, revoked_utc: fn.coalesce('revoked_utc', val(now())) }),
          }))
          .where('version', '<', version)
          .executeTakeFirstOrThrow();
        if (ended && numUpdatedRows > 0n)
          await trx
            .insertInto('key_revocations')
            .values({ company_id: companyId, key_id: id, revoked_utc: now() })
            .ignore()
            .execute();
      });
    } else {
      const { version } = JSON.parse(text) as CompanyEntry;
      await updateCompany(db, Number(name.slice(companyEntryName(0).length - 1)))
        .set({ version: version + 1 })
        .where('version', '<', version)
        .execute();
    }
  }
};
