import type { KeyEntry } from '@causeway/proto';
import type { KV, KvEntry } from '@nats-io/kv';

/** An entry as the bucket holds it. */
export interface HeldEntry {
  /** 0 if the bucket has never had it. */
  readonly revision: number;
  /** Null if it is absent or was deleted. */
  readonly text: string | null;
  /** When the server stored it. */
  readonly createdMs: number;
}

export const absent: HeldEntry = { revision: 0, text: null, createdMs: 0 };

export const readEntry = async (bucket: KV, name: string): Promise<HeldEntry> => {
  const entry = await bucket.get(name);
  return entry ? heldEntry(entry) : absent;
};

/**
 * Every entry of the bucket, by name. If the connection is lost during the read, some are missing: see `reconcile`.
 */
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

/** Whether the entry is that of a refused key. */
export const isRefusal = (text: string | null): boolean => {
  try {
    return text !== null && (JSON.parse(text) as Partial<KeyEntry>).active === false;
  } catch {
    return false;
  }
};
