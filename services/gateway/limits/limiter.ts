import type { LimitName } from '@causeway/proto';
import type { Counter } from './counter.ts';

interface Limit {
  readonly name: LimitName;
  readonly slot: number;
  readonly limit: number;
}

export interface Limits {
  readonly own: Limit;
  /** Over all keys of the company; null: none. */
  readonly company: Limit | null;
}

export interface Verdict {
  readonly admitted: boolean;
  /** The limit that refused the request, else the request's own. */
  readonly name: LimitName;
  readonly limit: number;
  /** Requests counted against this limit in the window, including this request. */
  readonly used: number;
  readonly resetSeconds: number;
}

export interface Limiter {
  /** Counts one request, whether it is admitted or not. @throws CountError if it could not be counted. */
  take(limits: Limits): Promise<Verdict>;
  /** As far as this gateway has seen. The owner's count decides. */
  likelyRefused(limits: Limits): boolean;
}

export const createLimiter = (counter: Counter, clock: () => number = Date.now): Limiter => {
  let currentWindow = 0;
  let reached = new Set<number>();
  const enterWindow = (): number => {
    const window = windowOf(clock());
    if (window !== currentWindow) {
      currentWindow = window;
      reached = new Set();
    }
    return window;
  };

  const likelyRefused: Limiter['likelyRefused'] = ({ own, company }) => {
    enterWindow();
    return reached.has(own.slot) || (company !== null && reached.has(company.slot));
  };

  return {
    likelyRefused,
    take: async (limits) => {
      const { own, company } = limits;
      const window = enterWindow();
      const positions = await counter.count({
        window,
        slot: own.slot,
        limit: own.limit,
        companySlot: company?.slot ?? 0,
        deferrable: likelyRefused(limits),
      });
      const beyondOwn = positions.own > own.limit;
      const beyondCompany = !beyondOwn && company !== null && positions.company > company.limit;
      const { name, limit, slot } = beyondCompany ? company : own;
      const admitted = !beyondOwn && !beyondCompany;
      if (!admitted && window === currentWindow) reached.add(slot);
      const used = beyondCompany ? positions.company : positions.own;
      return { admitted, name, limit, used, resetSeconds: windowEndSeconds(window) };
    },
  };
};

/** Fixed windows, aligned to the UTC minute (contract, "Rate limits"). */
export const windowSeconds = 60;
export const windowName = '1m';

/** Minutes since 1970. */
export const windowOf = (timeMs: number): number => Math.floor(timeMs / (windowSeconds * 1000));

export const windowEndSeconds = (window: number): number => (window + 1) * windowSeconds;
