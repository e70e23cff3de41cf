interface Hosts {
  mayTake(companyId: number, url: string): boolean;
  take(companyId: number, url: string): void;
  giveBack(companyId: number, url: string): void;
}

/** `limit` is over all ports of a host. */
export const createHosts = (limit: number): Hosts => {
  const inUse = new Map<string, Shares>();
  let hosts = new Map<string, string>();

  const hostOf = (url: string): string => {
    let host = hosts.get(url);
    if (host === undefined) {
      if (hosts.size >= maxKnown) hosts = new Map();
      // An invalid URL fails without a connection.
      host = URL.parse(url)?.hostname ?? '';
      hosts.set(url, host);
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

/**
 * Places that companies share by the "dynamic threshold" of switches that share a buffer (Choudhury and
 * Hahne, 1998). A company may take a place while it has fewer than are free. Alone it gets half of them; if n
 * companies want all they can get, each gets 1/(n + 1), and as much stays free for the next company.
 */
export interface Shares {
  mayTake(companyId: number): boolean;
  take(companyId: number, count?: number): void;
  giveBack(companyId: number, count?: number): void;
  held(companyId: number): number;
  taken(): number;
  free(): number;
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
    held: (companyId) => held.get(companyId) ?? 0,
    taken: () => taken,
    free: () => limit - taken,
    full: () => [...held].filter(([, count]) => count >= limit - taken).map(([companyId]) => companyId),
  };
};
