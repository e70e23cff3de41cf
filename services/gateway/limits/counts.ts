import type { Bucket } from '@causeway/proto';

/** By window (minutes since 1970) and slot (one counter of a key, a company or a member). */
export type Counts = Map<number, Slots>;
type Slots = Map<number, number>;

/**
 * `[window, slot, total, slot, total, …]` for each window. A total says how many were counted so far, so
 * reading one twice, or an old one late, changes nothing.
 */
export type Totals = readonly (readonly number[])[];

/**
 * Four numbers for the requests of one slot: slot, its limit, the number of requests (0 only reads the count),
 * company slot (0: none).
 */
export type Takes = readonly number[];
const takeLength = 4;

/**
 * Two numbers for each group of `Takes`: the first request's position in its slot and in the company slot (0:
 * none). The group's other requests have the positions that follow.
 */
export type Positions = readonly number[];
export const positionLength = 2;

export const createCounts = (): Counts => new Map();

const slotsOf = (counts: Counts, window: number): Slots => {
  let slots = counts.get(window);
  if (!slots) {
    slots = new Map();
    counts.set(window, slots);
  }
  return slots;
};

const add = (slots: Slots, changed: Slots, slot: number, requests: number): number => {
  const before = slots.get(slot) ?? 0;
  slots.set(slot, before + requests);
  changed.set(slot, before + requests);
  return before;
};

/**
 * Notes the new totals in `changed`. A request beyond the limit of its own slot does not count for its
 * company: a key that floods must not use up the ceiling of its company's other keys.
 */
export const countTakes = (counts: Counts, changed: Counts, window: number, takes: Takes): number[] => {
  const slots = slotsOf(counts, window);
  const changedSlots = slotsOf(changed, window);
  const positions: number[] = [];
  for (let at = 0; at < takes.length; at += takeLength) {
    const slot = takes[at]!;
    const limit = takes[at + 1]!;
    const requests = takes[at + 2]!;
    const companySlot = takes[at + 3]!;
    const before = requests > 0 ? add(slots, changedSlots, slot, requests) : (slots.get(slot) ?? 0);
    const within = Math.max(0, Math.min(requests, limit - before));
    let companyFirst = 0;
    if (companySlot !== 0 && within > 0) {
      companyFirst = add(slots, changedSlots, companySlot, within) + 1;
    }
    positions.push(before + 1, companyFirst);
  }
  return positions;
};

/** The larger of two totals is the later one, as counts only grow. */
export const mergeTotals = (counts: Counts, totals: Totals): void => {
  for (const [window, ...pairs] of totals) {
    const slots = slotsOf(counts, window!);
    for (let at = 0; at < pairs.length; at += 2) {
      const [slot, total] = [pairs[at]!, pairs[at + 1]!];
      if (total > (slots.get(slot) ?? 0)) slots.set(slot, total);
    }
  }
};

export const toTotals = (counts: Counts): Totals =>
  [...counts].map(([window, slots]) => [window, ...[...slots].flat()]);

export const slotCount = (counts: Counts): number => {
  let total = 0;
  for (const slots of counts.values()) total += slots.size;
  return total;
};

/*
 * Slots are written in the log; never renumber. Keys have the positive ones: key id × 4 + bucket. Companies and
 * members share the negative ones: −(company id × 8 + bucket), −(member id × 8 + 4).
 */
const bucketNumber: Readonly<Record<Bucket, number>> = { read: 0, write: 1, admin: 2, lookup: 3 };

export const keySlot = (keyId: number, bucket: Bucket): number => keyId * 4 + bucketNumber[bucket];
export const companySlot = (companyId: number, bucket: Bucket): number =>
  -(companyId * 8 + bucketNumber[bucket]);
export const memberSlot = (memberId: number): number => -(memberId * 8 + 4);
