import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CompanyEntry,
  type GatewayAnswer,
  isRefusal,
  type KeyEntry,
  type KeyTableChange,
  keyBucket,
  keyRevokedSubject,
  metaEntryName,
  type SignerEntry,
  signerEntryName,
  type TableEntry,
} from '@causeway/proto';
import { type Bus, declareMetrics, eachTick, isRequest, type Log, type Metrics } from '@causeway/runtime';
import { jetstreamManager } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm, type KvWatchEntry } from '@nats-io/kv';
import type { QueuedIterator } from '@nats-io/nats-core';
import type { Msg } from '@nats-io/transport-node';
import { askForChanges, askUntilTold, digestTable, groupOf } from './key-table-digest.ts';

export const identityMetrics = declareMetrics({
  caller_refusals_total: { type: 'counter', help: 'Calls whose caller was not proven', labels: ['reason'] },
  key_table_entries: { type: 'gauge', help: 'Entries of the key table' },
});

/**
 * The API keys and company limits, in memory, kept up to date by announcements of `access` and a KV watch.
 * After a lost connection it asks `access` for missed changes: the bucket may be electing a leader.
 */
export interface KeyTable {
  /** Of an earlier secret, the key that it belongs to. */
  key(name: string): KeyEntry | undefined;
  company(companyId: number): CompanyEntry | undefined;
  signer(id: string): SignerEntry | undefined;
  /** Reads an entry from the bucket's leader, because this copy may be a moment behind. */
  fetch(name: string): Promise<void>;
  /**
   * False before the first complete read, between a reconnect and the next complete read (a revocation may
   * have been missed), and after a minute without updates.
   */
  trusted(): boolean;
  untilTrustedAgain(withinMs: number): Promise<boolean>;
  /** Resolves when the bucket is read; the copy is reliable once `access` has told what it missed. */
  reload(reason: string): Promise<void>;
  close(): void;
}

const maxSilenceMs = 60_000;
const retryMs = 250;
/** Longer than a cluster usually takes to elect a leader. */
const switchServerAfterMs = 6_000;
const watchdogMs = 10_000;
/** `access` may be connecting to another server, so the bucket is read, too, after this time. */
const accessAloneMs = 500;
/**
 * A forgotten key is unknown, which is also a 401. `access` asks for no confirmation of a revocation that the
 * table has had for half of this time.
 */
const defaultKeepRevokedMs = 10 * 60_000;

export const followKeyTable = ({
  bus,
  confirmsAs,
  log,
  metrics,
  keepRevokedMs = defaultKeepRevokedMs,
  onRevoked,
}: KeyTableOptions): KeyTable => {
  let entries = new Map<string, TableEntry>();
  let loaded = false;
  /** Only a copy that was read can ask for changes. */
  let filled = false;
  let watching = false;
  let generation = 0;
  let cutOffAtMs: number | undefined;
  let closed = false;
  let bucket: KV | undefined;
  const fetching = new Map<string, Promise<void>>();
  const waiting = new Set<(again: boolean) => void>();
  let watch: QueuedIterator<KvWatchEntry> | undefined;
  let reading: Promise<void> | undefined;
  let streamCreated: string | undefined;

  /** When to forget a revoked key. Otherwise a tenant could fill the memory by creating and revoking keys. */
  const revoked = new Map<string, number>();
  const forgetRevoked = (): void => {
    const nowMs = performance.now();
    for (const [name, atMs] of revoked) {
      if (nowMs < atMs) continue;
      revoked.delete(name);
      entries.delete(name);
    }
  };

  const answer = (message: Msg): void => {
    if (confirmsAs === undefined) return;
    message.respond(JSON.stringify({ instance: confirmsAs } satisfies GatewayAnswer));
  };

  /** Keys that `access` does not know any more: an announcement that comes late must not admit them again. */
  const invalidated = new Set<string>();
  const put = (table: Map<string, TableEntry>, name: string, entry: TableEntry, ageMs = 0): void => {
    const held = table.get(name);
    if (held && (held.version > entry.version || (held.version === entry.version && invalidated.has(name))))
      return;
    table.set(name, entry);
    if (isRefusal(entry)) revoked.set(name, performance.now() + keepRevokedMs - ageMs);
    else revoked.delete(name);
  };
  const apply = (table: Map<string, TableEntry>, update: KvEntry): void => {
    if (update.operation !== 'PUT') return; // Ignores expiries; a deleted bucket causes a reload.
    const entry = readEntry(update);
    if (entry) put(table, update.key, entry, Math.max(0, Date.now() - update.created.getTime()));
    else log.error({ name: update.key }, 'key table entry unreadable; previous one kept');
  };

  /** What `access` tells must not be lost in a read that began earlier. */
  const recorders = new Set<Map<string, TableEntry>>();
  const learn = (name: string, entry: TableEntry): void => {
    if (!Number.isSafeInteger(entry.version)) return;
    put(entries, name, entry);
    for (const told of recorders) told.set(name, entry);
  };
  const invalidate = (name: string, entry: TableEntry): void => {
    if (!('active' in entry)) entries.delete(name);
    else if (!isRefusal(entry)) {
      const { replacedBy: _, ...rest } = entry;
      learn(name, { ...rest, active: false });
      invalidated.add(name);
    }
  };

  const catchUp = async (): Promise<void> => {
    const heard = new Map<string, TableEntry>();
    recorders.add(heard);
    try {
      const present = [...entries].filter(([name]) => name !== metaEntryName);
      await askForChanges(bus, digestTable(present), ({ groups, entries: changed }) => {
        const valid = new Set(changed.map(([name]) => name));
        const complete = new Set(groups);
        for (const [name, entry] of present)
          if (complete.has(groupOf(name)) && !valid.has(name) && !heard.has(name)) invalidate(name, entry);
        for (const [name, entry] of changed) learn(name, entry);
      });
    } finally {
      recorders.delete(heard);
    }
  };

  const read = async (mine: number): Promise<void> => {
    const manager = await jetstreamManager(bus.nc, { checkAPI: false });
    streamCreated = (await manager.streams.info(`KV_${keyBucket}`)).created;
    const opened = await new Kvm(bus.nc).open(keyBucket);
    bucket = opened;
    const updates = await opened.watch();
    watch = updates;
    const fresh = new Map<string, TableEntry>();
    const heard = new Map<string, TableEntry>();
    recorders.add(heard);
    await new Promise<void>((resolve, reject) => {
      const ended = (error?: Error): void => {
        if (mine !== generation || closed) resolve();
        else if (watching) void reload('the watch ended');
        else reject(error ?? new Error('the watch ended'));
      };
      void (async () => {
        for await (const update of updates) {
          if (mine !== generation) return resolve();
          apply(fresh, update);
          // `meta` is written after everything else, so without it the table is still being built.
          if (!watching && update.delta === 0 && fresh.has(metaEntryName)) {
            watching = true;
            recorders.delete(heard);
            invalidated.clear();
            for (const [name, entry] of heard) put(fresh, name, entry);
            // The bucket may be read from a server that lags behind, which must not admit a revoked key again.
            for (const [name, entry] of entries)
              if (isRefusal(entry) && entry.version > (fresh.get(name)?.version ?? entry.version))
                put(fresh, name, entry);
            entries = fresh;
            forgetRevoked();
            resolve();
          }
        }
      })().then(() => ended(), ended);
      // An empty bucket sends no update; the next read finds it filled.
      setTimeout(() => reject(new Error('the key table is not complete yet')), 5000).unref();
    }).finally(() => recorders.delete(heard));
  };

  const becomeTrusted = (reason: string, startedMs: number, from: string): void => {
    loaded = true;
    cutOffAtMs = undefined;
    const durationMs = Math.round(performance.now() - startedMs);
    log.info({ entries: entries.size, durationMs, reason, from }, 'key table read');
    for (const settle of waiting) settle(true);
  };

  const reload = (reason: string): Promise<void> => {
    const mine = ++generation;
    loaded = false;
    watching = false;
    watch?.stop();
    const startedMs = performance.now();
    const isWanted = (): boolean => mine === generation && !loaded && !closed;
    /** Continues while the bucket is read, which may hang until its servers have elected a leader. */
    const askAccess = (): Promise<void> =>
      askUntilTold(log, isWanted, async () => {
        await catchUp();
        if (isWanted()) becomeTrusted(reason, startedMs, 'access');
      });
    reading = (async () => {
      if (filled) await Promise.race([askAccess(), sleep(accessAloneMs)]);
      for (;;) {
        try {
          if (mine === generation) await read(mine);
          if (mine === generation) {
            filled = true;
            if (!loaded) becomeTrusted(reason, startedMs, 'bucket');
          }
        } catch (error) {
          if (mine === generation && !closed) {
            log.warn({ reason: String(error) }, 'key table unreadable; retrying');
            // A server that is partitioned from its cluster has nothing to read. The reconnect reloads.
            if (!loaded && performance.now() - startedMs > switchServerAfterMs)
              bus.switchServer('the key table could not be read from it');
            await sleep(retryMs);
            if (mine === generation && !closed) continue;
          }
        }
        // A later reload has replaced this read, so its result counts.
        if (mine !== generation && !closed) await reading;
        return;
      }
    })();
    return reading;
  };

  const onChange = (error: Error | null, message: Msg): void => {
    if (error || !isRequest(message)) return;
    const { name, version, entry } = message.json<KeyTableChange>();
    learn(name, entry);
    if (isRefusal(entry)) onRevoked?.();
    if ((entries.get(name)?.version ?? -1) >= version) answer(message);
  };
  const subscription = bus.nc.subscribe(keyRevokedSubject, { callback: onChange });

  bus.onDisconnect(() => {
    cutOffAtMs ??= performance.now();
  });
  // Not while another copy is being read, which would keep the keys that are forgotten here.
  const stopForgetting = eachTick(() => loaded && forgetRevoked(), Math.min(keepRevokedMs, watchdogMs));
  const check = async (): Promise<void> => {
    if (!loaded || !bus.connected()) return;
    try {
      if (!watching) return await catchUp();
      const manager = await jetstreamManager(bus.nc, { checkAPI: false });
      const { created } = await manager.streams.info(`KV_${keyBucket}`);
      if (created !== streamCreated) void reload('the bucket was created again');
    } catch (error) {
      log.warn({ reason: String(error) }, 'key table cannot be checked');
    }
  };
  const stopChecking = eachTick(() => void check(), watchdogMs);
  const trusted = (): boolean =>
    loaded && (cutOffAtMs === undefined || performance.now() - cutOffAtMs < maxSilenceMs);
  metrics?.gauge(identityMetrics.key_table_entries, () => entries.size);

  return {
    key: (name) => keyNamed(entries, name),
    company: (companyId) => entries.get(`company.${companyId}`) as CompanyEntry | undefined,
    signer: (id) => entries.get(signerEntryName(id)) as SignerEntry | undefined,
    fetch: (name) => {
      const underWay = fetching.get(name);
      if (underWay) return underWay;
      const fetched = (async () => {
        const entry = await bucket?.get(name);
        if (entry) apply(entries, entry);
      })().finally(() => fetching.delete(name));
      fetching.set(name, fetched);
      return fetched;
    },
    trusted,
    untilTrustedAgain: (withinMs) =>
      new Promise((resolve) => {
        const settle = (again: boolean): void => {
          clearTimeout(timer);
          waiting.delete(settle);
          resolve(again);
        };
        const timer = setTimeout(settle, withinMs, false);
        waiting.add(settle);
      }),
    reload,
    close: () => {
      closed = true;
      generation++;
      stopChecking();
      stopForgetting();
      subscription.unsubscribe();
      watch?.stop();
      for (const settle of waiting) settle(false);
    },
  };
};

const keyNamed = (entries: ReadonlyMap<string, TableEntry>, name: string): KeyEntry | undefined => {
  const entry = entries.get(name) as KeyEntry | undefined;
  const key = entry?.replacedBy && (entries.get(entry.replacedBy.name) as KeyEntry | undefined);
  const untilMs = entry?.replacedBy?.untilMs ?? 0;
  return key ? { ...key, expiresMs: Math.min(untilMs, key.expiresMs ?? untilMs), isPrevious: true } : entry;
};

/** A client that can make NATS answer a request can have the answer stored here: JSON, but not an entry. */
const readEntry = (update: KvEntry): TableEntry | undefined => {
  try {
    const entry = update.json<TableEntry>();
    return update.key === metaEntryName || Number.isSafeInteger(entry.version) ? entry : undefined;
  } catch {
    return undefined;
  }
};

export interface KeyTableOptions {
  readonly bus: Bus;
  /** The instance under which a gateway confirms revocations to `access`. */
  readonly confirmsAs?: string;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  readonly keepRevokedMs?: number;
  readonly onRevoked?: (() => void) | undefined;
}
