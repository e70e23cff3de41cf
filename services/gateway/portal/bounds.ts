import { problem } from '@causeway/proto';

/** Requests of the portal under way, by session or by address: it is not counted in the interface's buckets. */
export interface Bounds {
  /** @returns what gives the place back. @throws Problem `too_many_requests`, or `service_unavailable` when all are taken */
  enter(who: string): () => void;
}

/** A browser opens a handful of connections; several tabs and a slow service fit. */
const maxEach = 32;
const maxAll = 1000;

export const createBounds = (): Bounds => {
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
