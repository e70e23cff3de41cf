/**
 * A limited number of places that companies share. A company may take one while it has fewer than are free. Alone it
 * gets half of them; if n companies want all they can get, each gets 1/(n + 1), and as much stays free for the next
 * company. (The "dynamic threshold" by which switches share a buffer: Choudhury and Hahne, 1998.)
 */
export interface Shares {
  mayTake(companyId: number): boolean;
  take(companyId: number, count?: number): void;
  giveBack(companyId: number, count?: number): void;
  taken(): number;
  free(): number;
  /** Companies that may not take more now. */
  full(): readonly number[];
}

export const createShares = (limit: number): Shares => {
  const held = new Map<number, number>();
  let taken = 0;
  const add = (companyId: number, count: number): void => {
    taken += count;
    const left = (held.get(companyId) ?? 0) + count;
    if (left === 0) held.delete(companyId);
    else held.set(companyId, left);
  };
  return {
    mayTake: (companyId) => (held.get(companyId) ?? 0) < limit - taken,
    take: (companyId, count = 1) => add(companyId, count),
    giveBack: (companyId, count = 1) => add(companyId, -count),
    taken: () => taken,
    free: () => limit - taken,
    full: () => [...held].filter(([, count]) => count >= limit - taken).map(([companyId]) => companyId),
  };
};
