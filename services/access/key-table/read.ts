import type { KV } from '@nats-io/kv';

/** An entry as the bucket holds it. `text` is null where it has been deleted. */
export interface HeldEntry {
  readonly revision: number;
  readonly text: string | null;
}

/** Every entry of the bucket by name. A connection lost on the way leaves some out: see `reconcile`. */
export const readTable = async (bucket: KV): Promise<Map<string, HeldEntry>> => {
  const held = new Map<string, HeldEntry>();
  for await (const entry of await bucket.history({ key: '>' })) {
    const text = entry.operation === 'PUT' ? entry.string() : null;
    held.set(entry.key, { revision: entry.revision, text });
  }
  return held;
};
