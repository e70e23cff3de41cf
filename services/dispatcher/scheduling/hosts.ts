import { createShares, type Shares } from './shares.ts';

/** Counts attempts in flight by host and company. Companies share a host's limit as they share the slots. */
export interface Hosts {
  mayTake(companyId: number, url: string): boolean;
  take(companyId: number, url: string): void;
  giveBack(companyId: number, url: string): void;
}

/** @param limit attempts in flight to one host, over all its ports. */
export const createHosts = (limit: number): Hosts => {
  const inUse = new Map<string, Shares>();
  let known = new Map<string, string>();

  const hostOf = (url: string): string => {
    let host = known.get(url);
    if (host === undefined) {
      if (known.size >= maxKnown) known = new Map();
      // An invalid URL fails without a connection.
      host = URL.parse(url)?.hostname ?? '';
      known.set(url, host);
    }
    return host;
  };

  return {
    mayTake: (companyId, url) => inUse.get(hostOf(url))?.mayTake(companyId) ?? true,
    take: (companyId, url) => {
      const host = hostOf(url);
      let shares = inUse.get(host);
      if (!shares) {
        shares = createShares(limit);
        inUse.set(host, shares);
      }
      shares.take(companyId);
    },
    giveBack: (companyId, url) => {
      const host = hostOf(url);
      const shares = inUse.get(host);
      shares?.giveBack(companyId);
      if (shares?.taken() === 0) inUse.delete(host);
    },
  };
};

const maxKnown = 10_000;
