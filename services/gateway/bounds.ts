import { agentsAtOnce, batchesAtOnce, meAtOnce, problem, tooManyAtOnce } from '@causeway/proto';

/**
 * Limits how many requests run at once, and how often strangers send. Requests without a session have limits
 * of their own, and take no member's place.
 */
export interface Bounds {
  /** By network. */
  readonly strangers: AdmissionBound;
  /** By network, because an attacker invents a new token for each request. */
  readonly arriving: AdmissionBound;
  readonly members: AdmissionBound;
  /** Requests with a key that no limit counts, by company. */
  readonly uncounted: AdmissionBound;
  /** Batches, by company. */
  readonly batches: AdmissionBound;
  /** Requests of agents, by company. */
  readonly agents: AdmissionBound;
}

interface AdmissionBound {
  /** @returns a function that releases the place; undefined if none is free. */
  tryEnter(who: string): (() => void) | undefined;
  /** @returns a function that releases the place. @throws Problem `too_many_requests`, or `service_unavailable` if full */
  enter(who: string): () => void;
}

export const createBounds = (): Bounds => ({
  // Enough for an office that signs in at nine.
  strangers: createAdmissionBound(16, 1000, createPace(20, 100)),
  arriving: createAdmissionBound(64, 2000),
  // Enough for several tabs of a browser, which opens a handful of connections, and a slow service.
  members: createAdmissionBound(32, 2000),
  uncounted: createAdmissionBound(meAtOnce, 64, undefined, () => tooManyAtOnce('me', meAtOnce, 'company')),
  batches: createAdmissionBound(batchesAtOnce, 256, undefined, () =>
    tooManyAtOnce('batch', batchesAtOnce, 'company'),
  ),
  // A list of the tools costs a millisecond that no limit counts. So many in all are 128 companies with all their places.
  agents: createAdmissionBound(agentsAtOnce, 1024, createPace(20, 100), () =>
    tooManyAtOnce('agents', agentsAtOnce, 'company'),
  ),
});

/** Without `pace`, only the number at once is limited. */
export const createAdmissionBound = (
  maxEach: number,
  maxAll: number,
  pace?: Pace,
  refusal = () => problem('too_many_requests'),
): AdmissionBound => {
  const inside = new Map<string, number>();
  let all = 0;
  const isFull = (who: string): boolean => (inside.get(who) ?? 0) >= maxEach;
  const take = (who: string) => {
    inside.set(who, (inside.get(who) ?? 0) + 1);
    all++;
    return () => {
      all--;
      const left = inside.get(who)! - 1;
      if (left > 0) inside.set(who, left);
      else inside.delete(who);
    };
  };
  return {
    tryEnter: (who) => (isFull(who) || all >= maxAll ? undefined : take(who)),
    enter: (who) => {
      if (isFull(who)) throw refusal();
      if (all >= maxAll) throw problem('service_unavailable');
      if (pace?.admits(who) === false) throw refusal();
      return take(who);
    },
  };
};

interface Pace {
  admits(who: string): boolean;
}

/**
 * A request rate for each caller, with a burst (generic cell rate algorithm). Kept in memory, so that a
 * refusal costs no message; `access` does the exact counting.
 */
export const createPace = (perSecond: number, burst: number, nowMs = () => performance.now()): Pace => {
  const everyMs = 1000 / perSecond;
  const idleAtMs = new Map<string, number>();
  return {
    admits: (who) => {
      const now = nowMs();
      const idleAt = Math.max(idleAtMs.get(who) ?? 0, now);
      if (idleAt - now > everyMs * (burst - 1)) return false;
      // Keeps the latest callers at the end of the map.
      idleAtMs.delete(who);
      idleAtMs.set(who, idleAt + everyMs);
      if (idleAtMs.size > maxRemembered) idleAtMs.delete(idleAtMs.keys().next().value!);
      return true;
    },
  };
};

/** About 2 MB. */
const maxRemembered = 10_000;
