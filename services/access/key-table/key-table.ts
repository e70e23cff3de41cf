import { ensureLimitStreams } from '@causeway/identity';
import {
  type GatewayAnswer,
  gatewayBucket,
  type KeyTableChange,
  keyRevokedSubject,
  Problem,
  type TableEntry,
} from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import {
  expireRevoked,
  openGatewayBucket,
  openKeyBucket,
  readEntry,
  refuses,
  type VersionedEntry,
  writeEntry,
} from './bucket.ts';
import { rowTotals, type TableSource } from './entries.ts';
import { createJournal, serveChanges } from './journal.ts';
import { reconcile } from './reconcile.ts';

/** The key table in NATS, which gateways decide by. It is derived from the database. */
export interface KeyTablePublisher {
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
 * Compares the table with the database every `checkIntervalMs` and whenever the connection to NATS is
 * restored, so a NATS that has lost its store is filled again. Several replicas may do this at once.
 */
export const startKeyTable = async (options: KeyTableOptions): Promise<KeyTablePublisher> => {
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
    if (startedMs - expiredAtMs >= expireEveryMs) {
      expiredAtMs = startedMs;
      const removed = await expireRevoked(bus.nc, bucket, options.now().getTime());
      if (removed > 0) log.info({ removed }, 'revoked keys expired from the key table');
    }
    const written = await reconcile(options, bucket);
    checkedFingerprint = fingerprint;
    ready = true;
    if (written > 0)
      log.info({ written, durationMs: Math.round(performance.now() - startedMs) }, 'key table repaired');
  };
  const check = (): Promise<void> => {
    running ??= checkNow().finally(() => {
      running = undefined;
    });
    return running;
  };
  /** A check that starts after the call. */
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

  /** @returns whether the entry refuses a key and has been shown long enough for every gateway to know. */
  const show = async (name: string, entry: VersionedEntry): Promise<boolean> => {
    const held = await readEntry(bucket, name);
    const written = await writeEntry(bucket, name, entry, held);
    return !written && refuses(held.text) && held.createdMs < options.now().getTime() - settledMs;
  };

  await checkAndGoOn();
  const journal = createJournal(options);
  const served = await serveChanges(bus, journal, log);
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
        throw publishError(cause);
      }
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await served.stop();
      await running?.catch(() => {});
    },
  };
};

const retryMs = 1000;
const expireEveryMs = 3_600_000;
/**
 * After this long, every gateway knows an entry: one that was partitioned for a minute trusts nothing. Gateways
 * forget a refusal after twice this time (`services/identity/key-table.ts`) and would not confirm it.
 */
const settledMs = 5 * 60_000;
const publishError = (cause: unknown): Problem =>
  new Problem({
    code: 'service_unavailable',
    publicMessage:
      'the change is saved but could not be shown to the gateways; it reaches them when NATS is back, or repeat it',
    cause,
  });

interface KeyTableOptions extends TableSource {
  readonly bus: Bus;
  readonly replicas: number;
  readonly limitLogServers?: readonly string[];
  readonly checkIntervalMs?: number;
}

/** Changes whenever an entry is written or the bucket is replaced. */
const bucketFingerprint = async (bucket: KV): Promise<string> => {
  const { created, state } = (await bucket.status()).streamInfo;
  return [created, state.last_seq, state.messages].join('/');
};

/** A gateway renews its entry every second and the entry lives for five: after that it is dead or partitioned. */
const maxWaitMs = 5000;
/** A gateway may have missed the broadcast while it reconnected, so the broadcast is repeated. */
const repeatMs = 250;

/**
 * Announces a change to every live gateway and waits until each has confirmed that version or a newer one.
 *
 * The live gateways are read from the bucket's leader after the write: a gateway that is not listed yet loads
 * its table after it registers, and so loads the change. A gateway that does not answer in time is dead or
 * partitioned from NATS: it accepts no requests, since it cannot count them, and reads the whole table before
 * it trusts it again.
 * @returns the instances that were live and did not answer.
 */
const announceToGateways = async (bus: Bus, change: KeyTableChange): Promise<readonly string[]> => {
  const { nc } = bus;
  const answered = new Set<string>();
  let wake: (() => void) | undefined;
  const inbox = bus.inbox();
  const subscription = nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      // Without any gateway, the server itself answers "no responders".
      if (error || message.data.length === 0) return;
      answered.add(message.json<GatewayAnswer>().instance);
      wake?.();
    },
  });
  try {
    const registry = await jetstreamManager(nc, { checkAPI: false });
    const deadlineMs = performance.now() + maxWaitMs;
    let live: readonly string[] | undefined;
    for (let round = 1; ; round++) {
      // Each round has its own reply subject, because a gateway may answer a message only once.
      nc.publish(keyRevokedSubject, JSON.stringify(change), { reply: `${inbox}.${round}` });
      live = live ? await stillLive(registry, live) : await liveGateways(registry);
      const isSilent = (instance: string) => !answered.has(instance);
      const roundEndsMs = Math.min(performance.now() + repeatMs, deadlineMs);
      while (live.some(isSilent) && performance.now() < roundEndsMs) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(1, roundEndsMs - performance.now()));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      live = live.filter(isSilent);
      if (live.length === 0 || performance.now() >= deadlineMs) return live;
    }
  } finally {
    subscription.unsubscribe();
  }
};

const streamOf = (bucket: string): string => `KV_${bucket}`;
const subjectPrefix = `$KV.${gatewayBucket}.`;

const liveGateways = async ({ streams }: JetStreamManager): Promise<readonly string[]> => {
  try {
    const { state } = await streams.info(streamOf(gatewayBucket), { subjects_filter: `${subjectPrefix}>` });
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subjectPrefix.length));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** The gateways whose entry has neither expired nor been deleted; a gateway deletes its entry when it leaves. */
const stillLive = async (
  { streams }: JetStreamManager,
  instances: readonly string[],
): Promise<readonly string[]> => {
  const entries = await Promise.all(
    instances.map((instance) =>
      streams
        .getMessage(streamOf(gatewayBucket), { last_by_subj: subjectPrefix + instance })
        .catch((error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        }),
    ),
  );
  return instances.filter((_, at) => entries[at] && !entries[at].header.has('KV-Operation'));
};

/** "Stream not found" and "no message found". */
const isMissing = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === 10059 || code === 10037;
};
