import type { Bucket } from '@causeway/proto';
import type { Counter } from './counter.ts';
import { slotOf } from './counts.ts';
import { windowEndSeconds, windowOf } from './window.ts';

/** What became of a request at the limiter. */
export interface Verdict {
  readonly admitted: boolean;
  readonly limit: number;
  /** Requests counted in the window, this one included. */
  readonly used: number;
  /** When the window ends, in epoch seconds. */
  readonly resetSeconds: number;
}

export interface Limiter {
  /**
   * Counts one request of a key in a bucket. Answers at once where the key is known to be over its limit:
   * counts only grow within a window, so that needs no asking.
   * @throws CountError where it could not be counted.
   */
  take(keyId: number, bucket: Bucket, limit: number): Verdict | Promise<Verdict>;
}

export const createLimiter = (counter: Counter, clock: () => number = Date.now): Limiter => {
  let currentWindow = 0;
  let usage = new Map<number, Usage>();

  return {
    take: (keyId, bucket, limit) => {
      const window = windowOf(clock());
      if (window !== currentWindow) {
        currentWindow = window;
        usage = new Map();
      }
      const resetSeconds = windowEndSeconds(window);
      const slot = slotOf(keyId, bucket);
      const known = usage.get(slot);
      if (known && known.position >= limit) {
        known.refused++;
        return { admitted: false, limit, used: known.position + known.refused, resetSeconds };
      }
      return counter.count(window, slot).then((position) => {
        if (window === currentWindow) {
          const seen = usage.get(slot);
          if (!seen) usage.set(slot, { position, refused: 0 });
          else if (position > seen.position) seen.position = position;
        }
        return { admitted: position <= limit, limit, used: position, resetSeconds };
      });
    },
  };
};

interface Usage {
  /** The highest position an answer has named: at least so many are counted. */
  position: number;
  /** Requests refused from memory, which are not counted anywhere else. */
  refused: number;
}
