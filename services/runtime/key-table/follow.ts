import {
  type CompanyEntry,
  type GatewayAnswer,
  type KeyEntry,
  type KeyTableChange,
  keyBucket,
  keyRevokedSubject,
  metaEntryName,
  type SignerEntry,
  signerEntryName,
} from '@causeway/proto';
import { jetstreamManager } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm, type KvWatchEntry } from '@nats-io/kv';
import type { QueuedIterator } from '@nats-io/nats-core';
import type { Msg } from '@nats-io/transport-node';
import type { Bus } from '../bus.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { isRequest } from '../requests.ts';
import { runtimeMetrics } from '../runtime-metrics.ts';

/** The API keys and company limits, in memory. `access` writes them; a KV watch keeps this copy up to date. */
export interface KeyTable {
  /** @param name of the entry, from `keyEntryName`. */
  key(name: string): KeyEntry | undefined;
  company(companyId: number): CompanyEntry | undefined;
  /** @param id the name of the key in the key ring of `access`. */
  signer(id: string): SignerEntry | undefined;
  /** Reads one entry from the bucket's leader, because this copy may be a moment behind. */
  fetch(name: string): Promise<void>;
  /**
   * Whether this copy is reliable. It is not before it was read completely, between a reconnect and the next complete
   * read (a revocation may have been missed), and after a minute without updates.
   */
  trusted(): boolean;
  /** Discards the copy and reads the whole table again. Resolves when the copy is reliable. */
  reload(reason: string): Promise<void>;
  close(): void;
}

const maxSilenceMs = 60_000;
const retryMs = 250;
/** Longer than a cluster usually takes to elect a leader. */
const switchServerAfterMs = 6_000;
const watchdogMs = 10_000;
/**
 * How long a revoked key is remembered. After that it is unknown, which is also a 401. `access` asks for no
 * confirmation of a revocation that the table has had for half of this time.
 */
const defaultKeepRevokedMs = 10 * 60_000;

export const followKeyTable = ({
  bus,
  confirmsAs,
  log,
  metrics,
  keepRevokedMs = defaultKeepRevokedMs,
}: KeyTableOptions): KeyTable => {
  let entries = new Map<string, TableEntry>();
  let loaded = false;
  let generation = 0;
  let cutOffAtMs: number | undefined;
  let closed = false;
  let bucket: KV | undefined;
  const fetching = new Map<string, Promise<void>>();
  let watch: QueuedIterator<KvWatchEntry> | undefined;
  let reading: Promise<void> | undefined;
  let streamCreated: string | undefined;
  /** Broadcasts whose entry has not arrived yet, by the name of the entry. */
  const unanswered = new Map<string, { version: number; message: Msg }[]>();

  /**
   * When to forget a revoked key, by the name of its entry. Otherwise a tenant could fill the memory by creating and
   * revoking keys.
   */
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

  const apply = (table: Map<string, TableEntry>, update: KvEntry): void => {
    if (update.operation !== 'PUT') return; // Ignores expiries; a deleted bucket causes a reload.
    const entry = readEntry(update);
    if (!entry) {
      log.error({ name: update.key }, 'key table entry unreadable; previous one kept');
      return;
    }
    const known = table.get(update.key);
    if (known && known.version > entry.version) return;
    table.set(update.key, entry);
    if ('active' in entry && !entry.active) {
      const ageMs = Math.max(0, Date.now() - update.created.getTime());
      revoked.set(update.key, performance.now() + keepRevokedMs - ageMs);
    } else revoked.delete(update.key);
    const waiting = unanswered.get(update.key);
    if (!waiting) return;
    unanswered.delete(update.key);
    for (const { version, message } of waiting) if (entry.version >= version) answer(message);
  };

  /** Reads the whole bucket into a new map, swaps it in, then follows it. */
  const read = async (mine: number): Promise<void> => {
    const manager = await jetstreamManager(bus.nc, { checkAPI: false });
    streamCreated = (await manager.streams.info(`KV_${keyBucket}`)).created;
    const opened = await new Kvm(bus.nc).open(keyBucket);
    bucket = opened;
    const updates = await opened.watch();
    watch = updates;
    const fresh = new Map<string, TableEntry>();
    await new Promise<void>((resolve, reject) => {
      void (async () => {
        let live = false;
        for await (const update of updates) {
          if (mine !== generation) return;
          apply(fresh, update);
          // `meta` is written after everything else, so without it the table is still being built.
          if (!live && update.delta === 0 && fresh.has(metaEntryName)) {
            live = true;
            entries = fresh;
            forgetRevoked();
            resolve();
          }
        }
        if (mine !== generation || closed) return resolve();
        reject(new Error('the watch ended'));
        if (live) void reload('the watch ended');
      })().catch(reject);
      // An empty bucket sends no update; the next read finds it filled.
      setTimeout(() => reject(new Error('the key table is not complete yet')), 5000).unref();
    });
  };

  const reload = (reason: string): Promise<void> => {
    const mine = ++generation;
    loaded = false;
    watch?.stop();
    const startedMs = performance.now();
    reading = (async () => {
      for (;;) {
        try {
          await read(mine);
          if (mine === generation) {
            loaded = true;
            cutOffAtMs = undefined;
            log.info(
              { entries: entries.size, elapsedMs: Math.round(performance.now() - startedMs), reason },
              'key table read',
            );
          }
        } catch (error) {
          if (mine === generation && !closed) {
            log.warn({ reason: String(error) }, 'key table unreadable; retrying');
            // A server that is partitioned from its cluster is connected but has nothing to read. The reconnect
            // reloads.
            if (performance.now() - startedMs > switchServerAfterMs)
              bus.switchServer('the key table could not be read from it');
            await new Promise((resolve) => setTimeout(resolve, retryMs));
            if (mine === generation && !closed) continue;
          }
        }
        // A later reload has replaced this one; wait for that one.
        if (mine !== generation && !closed) await reading;
        return;
      }
    })();
    return reading;
  };

  const onChange = (error: Error | null, message: Msg): void => {
    if (error || !isRequest(message)) return;
    const { name, version } = message.json<KeyTableChange>();
    if ((entries.get(name)?.version ?? -1) >= version) {
      answer(message);
      return;
    }
    const waiting = unanswered.get(name) ?? [];
    // `access` repeats its messages, so losing one costs only a little time.
    if (waiting.length < 16 && unanswered.size < 1024)
      unanswered.set(name, [...waiting, { version, message }]);
  };
  const subscription =
    confirmsAs === undefined ? undefined : bus.nc.subscribe(keyRevokedSubject, { callback: onChange });

  bus.onDisconnect(() => {
    cutOffAtMs ??= performance.now();
  });
  // Not while another copy is being read, which would keep the keys that are forgotten here.
  const forgetting = setInterval(() => loaded && forgetRevoked(), Math.min(keepRevokedMs, watchdogMs));
  forgetting.unref();
  const watchdog = setInterval(async () => {
    if (!loaded || !bus.connected()) return;
    try {
      const manager = await jetstreamManager(bus.nc, { checkAPI: false });
      const { created } = await manager.streams.info(`KV_${keyBucket}`);
      if (created !== streamCreated) void reload('the bucket was created again');
    } catch (error) {
      log.warn({ reason: String(error) }, 'key table cannot be checked');
    }
  }, watchdogMs);
  watchdog.unref();
  metrics?.gauge(runtimeMetrics.key_table_entries, () => entries.size);

  return {
    key: (name) => entries.get(name) as KeyEntry | undefined,
    company: (companyId) => entries.get(`company.${companyId}`) as CompanyEntry | undefined,
    signer: (id) => entries.get(signerEntryName(id)) as SignerEntry | undefined,
    fetch: (name) => {
      const known = fetching.get(name);
      if (known) return known;
      const fetched = (async () => {
        const entry = await bucket?.get(name);
        if (entry) apply(entries, entry);
      })().finally(() => fetching.delete(name));
      fetching.set(name, fetched);
      return fetched;
    },
    trusted: () => loaded && (cutOffAtMs === undefined || performance.now() - cutOffAtMs < maxSilenceMs),
    reload,
    close: () => {
      closed = true;
      generation++;
      clearInterval(watchdog);
      clearInterval(forgetting);
      subscription?.unsubscribe();
      watch?.stop();
    },
  };
};

type TableEntry = (KeyEntry | CompanyEntry | SignerEntry) & { readonly version: number };

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
}
