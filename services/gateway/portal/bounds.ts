import { problem } from '@causeway/proto';

/** Requests of the portal under way. Strangers have bounds of their own: they cannot take members' places. */
export interface Bounds {
  /** Of operations without a session, by network. */
  readonly strangers: Bound;
  /** While a token's session is looked up, by network: a made-up token is a new one each time. */
  readonly arriving: Bound;
  /** Of operations with a session, by token. */
  readonly members: Bound;
}

export interface Bound {
  /** @returns what gives the place back. @throws Problem `too_many_requests`, or `service_unavailable` when all are taken */
  enter(who: string): () => void;
}

export const createBounds = (): Bounds => ({
  // An office that signs in at nine fits.
  strangers: createBound(16, 200),
  arriving: createBound(64, 2000),
  // A browser opens a handful of connections; several tabs and a slow service fit.
  members: createBound(32, 2000),
});

const createBound = (maxEach: number, maxAll: number): Bound => {
  const inside = new Map<string, number>();
  let all = 0;
  return {
    enter: (who) => {
      const count = inside.get(who) ?? 0;
      if (count >= maxEach) throw problem('too_many_requests');
      if (all >= maxAll) throw problem('service_unavailable');
      inside.set(who, count + 1);
      all++;
      return () => {
        all--;
        const left = inside.get(who)! - 1;
        if (left > 0) inside.set(who, left);
        else inside.delete(who);
      };
    },
  };
};
