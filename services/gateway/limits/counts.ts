import type { Bucket } from '@causeway/proto';

/** Requests counted, by window (minutes since 1970) and slot (a key's bucket). */
export type Counts = Map<number, Map<number, number>>;

/** Increments as they are written: `{window: [slot, n, slot, n, …]}`. */
export type Deltas = Readonly<Record<string, readonly number[]>>;

export const createCounts = (): Counts => new Map();

/** Adds one. @returns how many are counted in the window now, this one included. */
export const bump = (counts: Counts, window: number, slot: number): number => {
  let slots = counts.get(window);
  if (!slots) {
    slots = new Map();
    counts.set(window, slots);
  }
  const position = (slots.get(slot) ?? 0) + 1;
  slots.set(slot, position);
  return position;
};

export const applyDeltas = (counts: Counts, entry: { counts: Deltas; snapshot?: true }): void => {
  if (entry.snapshot) counts.clear();
  for (const [window, pairs] of Object.entries(entry.counts)) {
    let slots = counts.get(Number(window));
    if (!slots) {
      slots = new Map();
      counts.set(Number(window), slots);
    }
    for (let at = 0; at < pairs.length; at += 2) {
      const slot = pairs[at]!;
      slots.set(slot, (slots.get(slot) ?? 0) + pairs[at + 1]!);
    }
  }
};

export const toDeltas = (counts: Counts): Deltas =>
  Object.fromEntries([...counts].map(([window, slots]) => [window, [...slots].flat()]));

export const slotCount = (counts: Counts): number => {
  let total = 0;
  for (const slots of counts.values()) total += slots.size;
  return total;
};

/** A key's buckets are neighbours: slot = key id × 4 + bucket. Slots are written in the log; never renumber. */
const slotsPerKey = 4;
const bucketSlot: Readonly<Record<Bucket, number>> = { read: 0, write: 1, admin: 2, lookup: 3 };

export const slotOf = (keyId: number, bucket: Bucket): number => keyId * slotsPerKey + bucketSlot[bucket];

/** All of a key's buckets are in one partition. */
export const partitionOf = (slot: number, partitions: number): number =>
  Math.floor(slot / slotsPerKey) % partitions;
