import { problem } from '@causeway/proto';

/** Limits on concurrent requests to the portal. Requests without a session have their own, and take no member's place. */
export interface Bounds {
  /** Operations without a session, by network. */
  readonly strangers: Bound;
  /** Session lookups, by network, because an attacker invents a new token for each request. */
  readonly arriving: Bound;
  /** Operations with a session, by token. */
  readonly members: Bound;
}

export interface Bound {
  /** @returns a function that releases the place. @throws Problem `too_many_requests`, or `service_unavailable` if full */
  enter(who: string): () => void;
}

export const createBounds = (): Bounds => ({
  // Enough for an office that signs in at nine.
  strangers: createBound(16, 200),
  arriving: createBound(64, 2000),
  // Enough for several tabs of a browser, which opens a handful of connections, and a slow service.
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
