import { decodeDigests, digestGroups, groupDiffers, groupOf, toggleEntry } from '@causeway/identity';
import {
  isRefusal,
  type KeyChanges,
  type KeyChangesRequest,
  keyChangesSubject,
  keyEntryPrefix,
  type TableEntry,
} from '@causeway/proto';
import { type Bus, type Log, type ServedRequests, serveRequests } from '@causeway/runtime';
import type { VersionedEntry } from './bucket.ts';
import { type RowTotals, rowTotals, type TableSource, tableEntries } from './entries.ts';

/**
 * The key table in memory, for processes that lost NATS and cannot read the bucket while servers elect a new
 * leader. Before each answer, row counts and version sums are compared with the database: they show any
 * change of another replica, because versions only grow, and then the whole table is read again. Of 30,000 keys, the sums
 * take 0.1 s of CPU time and the table 0.9 s, so this replica's own changes are noted. A row that numbers all changes would
 * be in one transaction with each of them, which behind vtgate belongs to the shard of its company.
 */
interface Journal {
  note(name: string, entry: VersionedEntry): void;
  /** @throws if the database cannot be read. */
  changes(request: KeyChangesRequest): Promise<KeyChanges>;
}

/** How long every answer contains a refused key: longer than `access` repeats an announcement of an older version. */
const tellRefusedMs = 60_000;
/** An answer is at most this long and one group. NATS takes 4 MiB. */
const answerBytes = 512 * 1024;
const entryBytes = 300;

export const createJournal = (source: TableSource): Journal => {
  let table = emptyTable();
  let totals: RowTotals | undefined;
  const refusedMs = new Map<string, number>();
  let noted: Map<string, TableEntry> | undefined;
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const note = (name: string, entry: TableEntry): void => {
    noted?.set(name, entry);
    const formerEntry = put(table, name, entry);
    if (formerEntry === null) return;
    if (isRefusal(entry) && !(formerEntry && isRefusal(formerEntry))) refusedMs.set(name, performance.now());
    // After a rotation, entries are not rows one to one: the table is read again before the next answer.
    if (isRotated(entry, formerEntry)) totals = undefined;
    if (totals) totals = withRow(totals, name, formerEntry?.version, entry.version);
  };

  const read = async (found: RowTotals): Promise<void> => {
    const fresh = emptyTable();
    noted = new Map();
    for await (const page of tableEntries(source))
      for (const [name, entry] of page) put(fresh, name, entry as TableEntry);
    for (const [name, entry] of noted) put(fresh, name, entry);
    noted = undefined;
    const nowMs = performance.now();
    for (const [group, entries] of fresh.groups.entries())
      for (const [name, entry] of entries)
        if (isRefusal(entry)) {
          const known = table.groups[group]!.get(name);
          if (!known || !isRefusal(known)) refusedMs.set(name, nowMs);
        }
    table = fresh;
    totals = found;
  };
  const check = async (): Promise<void> => {
    const found = await rowTotals(source.db);
    if (!totals || Object.entries(found).some(([name, value]) => totals?.[name as keyof RowTotals] !== value))
      await read(found);
  };
  /** A check that started after the call; concurrent calls share one. */
  const checkNow = (): Promise<void> => {
    if (running) {
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined;
          return checkNow();
        });
      return next;
    }
    running = check().finally(() => {
      running = undefined;
    });
    return running;
  };

  return {
    note: (name, entry) => note(name, entry as TableEntry),
    changes: async ({ from, digests: encoded }) => {
      const digests = decodeDigests(encoded);
      if (!digests || !Number.isSafeInteger(from) || from < 0) throw new Error('the request cannot be read');
      await checkNow();
      const groups: number[] = [];
      const entries: [string, TableEntry][] = [];
      if (from === 0) {
        const sinceMs = performance.now() - tellRefusedMs;
        for (const [name, atMs] of refusedMs) {
          const entry = table.groups[groupOf(name)]!.get(name);
          if (atMs < sinceMs || !entry) refusedMs.delete(name);
          else if (isRefusal(entry)) entries.push([name, entry]);
        }
      }
      let group = from;
      for (; group < digestGroups && entries.length * entryBytes < answerBytes; group++) {
        if (!groupDiffers(digests, table.digests, group)) continue;
        groups.push(group);
        for (const [name, entry] of table.groups[group]!) if (!isRefusal(entry)) entries.push([name, entry]);
      }
      return { groups, entries, next: group < digestGroups ? group : null };
    },
  };
};

interface Table {
  readonly groups: readonly Map<string, TableEntry>[];
  readonly digests: Uint32Array;
}

const emptyTable = (): Table => ({
  groups: Array.from({ length: digestGroups }, () => new Map()),
  digests: new Uint32Array(2 * digestGroups),
});

/** @returns the entry that it replaces, or null if the table holds a version at least as new. */
const put = (table: Table, name: string, entry: TableEntry): TableEntry | undefined | null => {
  const group = table.groups[groupOf(name)]!;
  const presentEntry = group.get(name);
  if (presentEntry && presentEntry.version >= entry.version) return null;
  if (presentEntry) toggleEntry(table.digests, name, presentEntry);
  toggleEntry(table.digests, name, entry);
  group.set(name, entry);
  return presentEntry;
};

const isRotated = (entry: TableEntry, known: TableEntry | undefined): boolean =>
  'active' in entry && (entry.replacedBy !== undefined || (!known && entry.version > 1));

const withRow = (totals: RowTotals, name: string, before: number | undefined, version: number): RowTotals => {
  const [rows, versions] = name.startsWith(keyEntryPrefix)
    ? (['keys', 'keyVersions'] as const)
    : (['companies', 'companyVersions'] as const);
  return {
    ...totals,
    [rows]: totals[rows] + (before === undefined ? 1 : 0),
    [versions]: totals[versions] + version - (before ?? 0),
  };
};

export const serveChanges = (bus: Bus, journal: Journal, log: Log): Promise<ServedRequests> =>
  serveRequests(bus, keyChangesSubject, 'access', async (text) => {
    try {
      return JSON.stringify(await journal.changes(JSON.parse(text) as KeyChangesRequest));
    } catch (error) {
      log.warn({ error }, 'changes of the key table not answered');
      return 'null';
    }
  });
