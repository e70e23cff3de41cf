import {
  gatewayBucket,
  gatewayBucketSettings,
  isRefusal,
  type KeyEntry,
  keyBucket,
  keyEntryPrefix,
} from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { jetstreamManager } from '@nats-io/jetstream';
import { type KV, type KvEntry, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';

/** On disk because it is large. Reads go to the leader: a follower may answer with a replaced entry. */
export const openKeyBucket = ({ nc }: Bus, replicas: number): Promise<KV> =>
  new Kvm(nc).create(keyBucket, { history: 1, replicas, allow_direct: false });

export const openGatewayBucket = ({ nc }: Bus, replicas: number): Promise<KV> =>
  new Kvm(nc).create(gatewayBucket, { ...gatewayBucketSettings, replicas });

export interface HeldEntry {
  /** 0 if the bucket has never had it. */
  readonly revision: number;
  /** Null if it is absent or was deleted. */
  readonly text: string | null;
  readonly createdMs: number;
}

export const absent: HeldEntry = { revision: 0, text: null, createdMs: 0 };

export const readEntry = async (bucket: KV, name: string): Promise<HeldEntry> => {
  const entry = await bucket.get(name);
  return entry ? heldEntry(entry) : absent;
};

/** Every entry by name. If the connection is lost during the read, some are missing: see `reconcile`. */
export const readTable = async (bucket: KV): Promise<Map<string, HeldEntry>> => {
  const held = new Map<string, HeldEntry>();
  for await (const entry of await bucket.history({ key: '>' })) {
    held.set(entry.key, heldEntry(entry));
  }
  return held;
};

const heldEntry = (entry: KvEntry): HeldEntry => ({
  revision: entry.revision,
  text: entry.operation === 'PUT' ? entry.string() : null,
  createdMs: entry.created.getTime(),
});

export const refuses = (text: string | null): boolean => text !== null && isRefusal(fieldsOf(text));

const fieldsOf = (text: string): Partial<KeyEntry> => {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
};

export interface VersionedEntry {
  readonly version: number;
}

/** A conflict means that another writer came first, so each retry sees a newer entry than the last. */
const maxTries = 50;

/**
 * Any number of writers may write at once: each write names the revision it replaces, and a later writer
 * reads again.
 * @param known what the table is believed to hold, which saves the first read.
 * @returns whether something was written; false if the table holds this version or a newer one.
 */
export const writeEntry = async (
  bucket: KV,
  name: string,
  entry: VersionedEntry,
  heldEntry?: HeldEntry,
): Promise<boolean> => {
  const text = JSON.stringify(entry);
  let held = heldEntry ?? (await readEntry(bucket, name));
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
  const { version } = fieldsOf(text);
  return typeof version === 'number' ? version : -1;
};

/** "Wrong last sequence": a replicated bucket reports it with either code. */
const isConflict = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === 10071 || code === 10164;
};

/**
 * How long the table shows a revoked key; later the key is unknown, also a 401. A database restored from a
 * backup learns from the table which keys have been revoked since (`reconcile.ts`).
 */
export const keepRevokedMs = 7 * 86_400_000;

/** Otherwise the table would grow with every key ever revoked. @returns how many were removed. */
export const expireRevoked = async (nc: NatsConnection, bucket: KV, nowMs: number): Promise<number> => {
  const { streams } = await jetstreamManager(nc, { checkAPI: false });
  let removed = 0;
  for (const [name, { text, revision, createdMs }] of await readTable(bucket)) {
    if (!name.startsWith(keyEntryPrefix) || createdMs > nowMs - keepRevokedMs || !refuses(text)) continue;
    // Up to this revision, so that a newer entry written meanwhile stays.
    await streams.purge(`KV_${keyBucket}`, { filter: `$KV.${keyBucket}.${name}`, seq: revision + 1 });
    removed++;
  }
  return removed;
};
