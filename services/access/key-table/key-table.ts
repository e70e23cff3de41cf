import { type KeyTableChange, Problem, type TableEntry } from '@causeway/proto';
import { type Bus, ensureLimitStreams } from '@causeway/runtime';
import type { KV } from '@nats-io/kv';
import {
  expireRevoked,
  isRefusal,
  openGatewayBucket,
  openKeyBucket,
  readEntry,
  type VersionedEntry,
  writeEntry,
} from './bucket.ts';
import { rowTotals } from './entries.ts';
import { announceToGateways } from './gateways.ts';
import { createJournal, serveChanges } from './journal.ts';
import { reconcile, type TableSource } from './reconcile.ts';

/** The key table in NATS, which gateways decide by. It is derived from the database. */
export interface KeyTable {
  /**
   * Publishes a row that has just been committed. Returns when the entry is written and no live gateway holds an
   * older one. @throws Problem `service_unavailable` if that cannot be confirmed.
   */
  publish(name: string, entry: VersionedEntry): Promise<void>;
  /** False until the table has been complete for the first time. */
  ready(): boolean;
  stop(): Promise<void>;
}

/**
 * Builds the table and maintains it: every `checkIntervalMs`, and whenever the connection to NATS is restored, it is
 * compared with the database. So a NATS that has lost its store is filled again automatically. Several replicas may
 * do this at once.
 */
export const startKeyTable = async (options: KeyTableOptions): Promise<KeyTable> => {
  const { bus, log, replicas, limitLogServers = [], checkIntervalMs = 30_000 } = options;
  let bucket: KV;
  let ready = false;
  let checkedFingerprint = '';
  let expiredAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const checkNow = async (): Promise<void> => {
    const startedMs = performance.now();
    await openGatewayBucket(bus, replicas);
    bucket = await openKeyBucket(bus, replicas);
    // Both are read before the comparison: a change during it shows at the next check.
    const fingerprint = `${await bucketFingerprint(bucket)} ${Object.values(await rowTotals(options.db)).join('/')}`;
    if (fingerprint === checkedFingerprint) return;
    const nowMs = options.now().getTime();
    if (nowMs - expiredAtMs >= expireEveryMs) {
      expiredAtMs = nowMs;
      const removed = await expireRevoked(bus.nc, bucket, nowMs);
      if (removed > 0) log.info({ removed }, 'revoked keys expired from the key table');
    }
    const written = await reconcile(options, bucket);
    checkedFingerprint = fingerprint;
    ready = true;
    if (written > 0)
      log.info({ written, elapsedMs: Math.round(performance.now() - startedMs) }, 'key table repaired');
  };
  const check = (): Promise<void> => {
    running ??= checkNow().finally(() => {
      running = undefined;
    });
    return running;
  };
  /** A check that certainly started after the call. */
  const freshCheck = async (): Promise<void> => {
    await running?.catch(() => {});
    checkedFingerprint = '';
    await check();
  };

  const checkLater = (delayMs: number): void => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => void checkAndGoOn(), delayMs);
  };
  const checkAndGoOn = async (): Promise<void> => {
    try {
      if (bus.connected()) {
        await check();
        // Last, because the table does not need them.
        await ensureLimitStreams(bus.nc, limitLogServers);
      }
      checkLater(checkIntervalMs);
    } catch (error) {
      log.warn({ error }, 'key table check failed');
      checkLater(retryMs);
    }
  };

  /** Writes the entry. @returns whether it refuses a key and has been shown long enough for every gateway to know. */
  const show = async (name: string, entry: VersionedEntry): Promise<boolean> => {
    const held = await readEntry(bucket, name);
    const written = await writeEntry(bucket, name, entry, held);
    return !written && isRefusal(held.text) && held.createdMs < options.now().getTime() - settledMs;
  };

  await checkAndGoOn();
  const journal = createJournal(options);
  const stopAnswering = serveChanges(bus, journal, log);
  bus.onReconnect(() => checkLater(0));

  return {
    ready: () => ready,
    publish: async (name, entry) => {
      journal.note(name, entry);
      const change: KeyTableChange = { name, version: entry.version, entry: entry as TableEntry };
      try {
        const settled = await show(name, entry).catch(async (error: unknown) => {
          log.warn({ error, name }, 'key table entry not written, repairing the table');
          await freshCheck();
          return false;
        });
        if (settled) return;
        const silent = await announceToGateways(bus, change);
        if (silent.length > 0)
          log.warn(
            { name, version: entry.version, silent },
            'gateways dead or partitioned: change not confirmed',
          );
      } catch (cause) {
        throw isNotShown(cause);
      }
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await stopAnswering();
      await running?.catch(() => {});
    },
  };
};

const retryMs = 1000;
const expireEveryMs = 3_600_000;
/**
 * After this long, every gateway knows an entry: one that was partitioned for a minute trusts nothing. Gateways
 * forget a refusal after twice this time (`services/runtime/key-table/follow.ts`) and would not confirm it.
 */
const settledMs = 5 * 60_000;
const isNotShown = (cause: unknown): Problem =>
  new Problem({
    code: 'service_unavailable',
    publicMessage:
      'the change is saved but could not be shown to the gateways; it reaches them when NATS is back, or repeat it',
    cause,
  });

export interface KeyTableOptions extends TableSource {
  readonly bus: Bus;
  /** Copies of each bucket: 1 on a single NATS server, 3 in a cluster. */
  readonly replicas: number;
  readonly limitLogServers?: readonly string[];
  readonly checkIntervalMs?: number;
}

/** Changes whenever an entry is written or the bucket is replaced. */
const bucketFingerprint = async (bucket: KV): Promise<string> => {
  const { created, state } = (await bucket.status()).streamInfo;
  return [created, state.last_seq, state.messages].join('/');
};
