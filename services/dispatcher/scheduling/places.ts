import { createShares } from './shares.ts';

interface Places {
  /** Waits for a place, but not long. @returns whether there is one. */
  take(companyId: number): Promise<boolean>;
  giveBack(companyId: number): void;
  /** Places that the company has now. */
  held(companyId: number): number;
}

/** Places that companies share, and as many to wait in. */
export const createPlaces = (limit: number, maxWaitMs: number): Places => {
  const places = createShares(limit);
  const queue = createShares(limit);
  const waiting = new Set<WaitingCall>();
  const admit = (): void => {
    for (const one of waiting) if (places.mayTake(one.companyId)) one.end(true);
  };
  return {
    held: places.held,
    take: (companyId) => {
      const take = (): true => {
        places.take(companyId);
        return true;
      };
      if (places.mayTake(companyId)) return Promise.resolve(take());
      if (!queue.mayTake(companyId)) return Promise.resolve(false);
      queue.take(companyId);
      return new Promise((resolve) => {
        const call: WaitingCall = {
          companyId,
          end: (isAdmitted) => {
            clearTimeout(timer);
            waiting.delete(call);
            queue.giveBack(companyId);
            resolve(isAdmitted && take());
          },
        };
        const timer = setTimeout(() => call.end(false), maxWaitMs);
        waiting.add(call);
      });
    },
    giveBack: (companyId) => {
      places.giveBack(companyId);
      admit();
    },
  };
};

interface WaitingCall {
  readonly companyId: number;
  end(isAdmitted: boolean): void;
}
