import { companyRows, type Database, type Log, type Rows, statement } from '@causeway/runtime';
import { sql } from 'kysely';
import { globalCompanyId, type Tables } from './tables.ts';

type Bodies = ReadonlyMap<number, Uint8Array>;

export interface LookupCache {
  /** Of one lookup. @param read must see every change that was committed before it is called. */
  keep(read: ReadBodies): (companyIds: readonly number[]) => Promise<Bodies>;
}

type ReadBodies = (companyIds: readonly number[]) => Promise<(companyId: number) => Uint8Array>;

interface Kept {
  readonly version: string;
  readonly body: Uint8Array;
  readonly readMs: number;
}

/**
 * Encoded answers, each with the version that its company had before it was read. Every batch asks MySQL for the versions, so no
 * answer is older than its request. Triggers change a version in the transaction that changes a list. Halves what a lookup costs
 * crm and MySQL (`lookups.md`, also for what holds if triggers are missing).
 */
export const createLookupCache = (options: CacheOptions): LookupCache => {
  const {
    db,
    log,
    maxBytes = 16 * 2 ** 20,
    checkAfterMs = 10_000,
    nowMs = () => performance.now(),
  } = options;
  let isReliable = db.shards === undefined;

  /** Empty if the triggers are missing. */
  const readVersions = async (companyIds: readonly number[]): Promise<(companyId: number) => string> => {
    const { rows } = await db.executeQuery(selectVersions(db, companyRows([globalCompanyId, ...companyIds])));
    const versions = new Map(rows.map(({ company_id, version }) => [company_id, version]));
    const shared = versions.get(globalCompanyId);
    return (companyId) => (shared === undefined ? '' : `${shared}/${versions.get(companyId) ?? 0}`);
  };

  /** The list may be newer than the version before it, never newer than a version after it. */
  const checkUnchanged = async (companyId: number, version: string): Promise<void> => {
    const versionOf = await readVersions([companyId]);
    if (!isReliable || versionOf(companyId) !== version) return;
    isReliable = false;
    log.error({ companyId }, 'a lookup has changed without its version: the triggers are missing');
  };

  const keep: LookupCache['keep'] = (read) => {
    const kept = new Map<number, Kept>();
    let keptBytes = 0;
    const drop = (companyId: number, { body }: Kept): void => {
      keptBytes -= body.byteLength + entryBytes;
      kept.delete(companyId);
    };
    const put = (companyId: number, entry: Kept): void => {
      const before = kept.get(companyId);
      if (before) drop(companyId, before);
      kept.set(companyId, entry);
      keptBytes += entry.body.byteLength + entryBytes;
      // An answer that is asked for is read again, and so becomes the newest.
      for (const [oldest, one] of kept) {
        if (keptBytes <= maxBytes) break;
        drop(oldest, one);
      }
    };

    return async (companyIds) => {
      const bodies = new Map<number, Uint8Array>();
      const versionOf = isReliable ? await readVersions(companyIds) : () => '';
      const readMs = nowMs();
      const due = companyIds.filter((companyId) => {
        const keptList = kept.get(companyId);
        if (!keptList || keptList.version !== versionOf(companyId) || readMs - keptList.readMs > checkAfterMs)
          return true;
        bodies.set(companyId, keptList.body);
        return false;
      });
      if (due.length === 0) return bodies;
      const bodyOf = await read(due);
      for (const companyId of due) {
        const body = bodyOf(companyId);
        bodies.set(companyId, body);
        const version = versionOf(companyId);
        if (version === '' || !isReliable) continue;
        const known = kept.get(companyId);
        if (known?.version === version && Buffer.compare(known.body, body) !== 0)
          await checkUnchanged(companyId, version);
        if (isReliable) put(companyId, { version, body, readMs });
      }
      return bodies;
    };
  };
  return { keep };
};

/** About what an entry takes beside its bytes. */
const entryBytes = 256;

const selectVersions = statement<[Rows], { readonly company_id: number; readonly version: string }>(
  (companies) => sql`SELECT company_id, version FROM lookup_versions WHERE (company_id) IN (${companies})`,
);

interface CacheOptions {
  readonly db: Database<Tables>;
  readonly log: Log;
  /** Of each lookup. */
  readonly maxBytes?: number;
  readonly checkAfterMs?: number;
  readonly nowMs?: () => number;
}
